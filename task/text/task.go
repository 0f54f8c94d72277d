package text

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/textfile"
	"universal-transformer/task"
	"universal-transformer/vocab"
)

// A Task is the pieces or lines of a text. It does not change, so it may be shared.
type Task struct {
	config           Text
	ids              task.Vocabularies
	training         []vocab.ID     // of a text that goes on
	lines            []task.Example // to train on, where every line is a text
	validation, test []task.Example
	longest          int
	notes            []string
}

var _ task.Task = (*Task)(nil)

// Open reads the file.
func (c Text) Open() (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.resolved()
	content, err := textfile.Read(c.Path, largestFile)
	if err != nil {
		return nil, err
	}
	return c.open(string(content))
}

// open makes the task of what the file holds.
func (c Text) open(content string) (task.Task, error) {
	parts, notes, err := c.split(content)
	if err != nil {
		return nil, err
	}
	t := &Task{config: c, notes: notes}
	if c.Lines {
		err = t.divideLines(parts)
	} else {
		err = t.divideText(parts[0])
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	t.notes = append(t.notes, fmt.Sprintf("%d tokens of a vocabulary of %d; %d examples to train with, %d to validate, %d for the test",
		t.tokens(), t.ids.Target.Size(), t.count(), len(t.validation), len(t.test)))
	return t, nil
}

// largestFile is more than a laptop can train on; what is larger was not meant.
const largestFile = 4 << 30

// split gives the tokens of what the file holds: those of every line, or all of them as one part.
func (c Text) split(content string) (parts [][]string, notes []string, err error) {
	texts := []string{content}
	if c.Lines {
		texts = strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	}
	empty, long := 0, 0
	for i, text := range texts {
		tokens, err := c.Tokenizer.Split(strings.TrimSuffix(text, "\r"))
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: line %d: %w", c.Path, i+1, err)
		case len(tokens) == 0:
			empty++
		case c.Lines && len(tokens) > c.Length:
			long++
		default:
			if at := slices.IndexFunc(tokens, vocab.Reserved); at >= 0 {
				return nil, nil, fmt.Errorf("%s: line %d has the reserved token %s", c.Path, i+1, tokens[at])
			}
			parts = append(parts, tokens)
		}
	}
	if content == "" {
		return nil, nil, fmt.Errorf("%s is empty: there is nothing to learn from", c.Path)
	}
	if len(parts) == 0 {
		return nil, nil, fmt.Errorf("%s has no text that can be used: of its lines %d are empty and %d longer than length %d", c.Path, empty, long, c.Length)
	}
	if empty+long > 0 && c.Lines {
		notes = append(notes, fmt.Sprintf("%s: %d lines are left out: %d empty, %d longer than length %d", c.Path, empty+long, empty, long, c.Length))
	}
	return parts, notes, nil
}

// divideText holds out the end of a text that goes on.
func (t *Task) divideText(tokens []string) error {
	held := int(t.config.HeldOut * float64(len(tokens)))
	training, validation, test := tokens[:len(tokens)-held], tokens[len(tokens)-held:len(tokens)-held/2], tokens[len(tokens)-held/2:]
	if len(training) < t.config.Length || len(validation) < 2 || len(test) < 2 {
		return fmt.Errorf("%d tokens are too few for pieces of %d with %v held out: add text, or set length lower", len(tokens), t.config.Length, t.config.HeldOut)
	}
	if err := t.build([][]string{training}); err != nil {
		return err
	}
	t.training, _ = t.ids.Target.EncodeLossy(training)
	t.longest = t.config.Length
	t.validation = t.config.examples(t.ids.Target, cut(validation, t.config.Length))
	t.test = t.config.examples(t.ids.Target, cut(test, t.config.Length))
	return nil
}

// divideLines holds lines out by their number, the same in every run.
func (t *Task) divideLines(lines [][]string) error {
	var training, validation, test [][]string
	order := seed.NewPermutation(0, "text/held-out", 0, len(lines))
	held := int(t.config.HeldOut * float64(len(lines)))
	for i, line := range lines {
		switch at := order.At(i); {
		case at < held/2:
			validation = append(validation, line)
		case at < held:
			test = append(test, line)
		default:
			training = append(training, line)
		}
	}
	if len(training) == 0 || len(validation) == 0 || len(test) == 0 {
		return fmt.Errorf("%d lines are too few with %v held out: add lines, or set held_out higher", len(lines), t.config.HeldOut)
	}
	if err := t.build(training); err != nil {
		return err
	}
	t.lines, t.validation, t.test = t.config.examples(t.ids.Target, training), t.config.examples(t.ids.Target, validation), t.config.examples(t.ids.Target, test)
	for _, e := range t.lines {
		t.longest = max(t.longest, len(e.Target))
	}
	return nil
}

// build makes the vocabulary of the training part.
func (t *Task) build(training [][]string) error {
	v, err := vocab.Build(slices.Values(training), t.config.MinCount, vocab.WithUnknown())
	t.ids = task.Vocabularies{Tokenizer: t.config.Tokenizer, Target: v}
	return err
}

// cut makes pieces of a text; the last one may be shorter.
func cut(tokens []string, length int) [][]string { return slices.Collect(slices.Chunk(tokens, length)) }

// examples makes ids of pieces or lines; lines end.
func (c Text) examples(v *vocab.Vocabulary, parts [][]string) []task.Example {
	examples := make([]task.Example, len(parts))
	for i, part := range parts {
		examples[i].Target, _ = v.EncodeLossy(part)
		if c.Lines {
			examples[i].Target = append(examples[i].Target, vocab.End)
		}
	}
	return examples
}

// tokens is how many there are to train with.
func (t *Task) tokens() int {
	n := len(t.training)
	for _, e := range t.lines {
		n += len(e.Target)
	}
	return n
}

// count is how many examples an epoch has. Pieces begin at another place in every epoch, so there is one less than fit.
func (t *Task) count() int {
	if t.config.Lines {
		return len(t.lines)
	}
	return max(1, len(t.training)/t.config.Length-1)
}

// Name is the file's path.
func (t *Task) Name() string { return t.config.String() }

// Vocabularies has no source: a language model reads what it writes.
func (t *Task) Vocabularies() task.Vocabularies { return t.ids }

// Notes says what was left out, and how much is left.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths is 0 and the longest piece, or the longest line and its End.
func (t *Task) MaxLengths() (source, target int) { return 0, t.longest }

// Training goes through the pieces or lines again and again, every time in another order; the pieces of an epoch begin where others
// of another epoch do not.
func (t *Task) Training(seedValue uint64, i int64) task.Example {
	n := int64(t.count())
	order := seed.NewPermutation(seedValue, "text/epoch", i/n, int(n))
	at := order.At(int(i % n))
	if t.config.Lines {
		return clone(t.lines[at])
	}
	spare := min(t.config.Length, len(t.training)-int(n)*t.config.Length+1)
	start := seed.Rand(seedValue, "text/offset", i/n).IntN(max(spare, 1)) + at*t.config.Length
	return task.Example{Target: slices.Clone(t.training[start:min(start+t.config.Length, len(t.training))])}
}

// HeldOut is the pieces or lines of the test, or those to validate with, in the order of the file; with a Count below their number,
// that many of them, picked by the seed.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	part := t.test
	if s.Validation {
		part = t.validation
	}
	examples := make([]task.Example, len(part))
	for i, e := range part {
		examples[i] = clone(e)
	}
	if s.Count == 0 {
		return examples, nil
	}
	order := seed.NewPermutation(seedValue, "text/picked", 0, len(part))
	picked := make([]task.Example, min(s.Count, len(part)))
	for i := range picked {
		picked[i] = examples[order.At(i)]
	}
	return picked, nil
}

func clone(e task.Example) task.Example { return task.Example{Target: slices.Clone(e.Target)} }
