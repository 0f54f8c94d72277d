package text

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the segments or lines of a text. It is immutable and may be shared.
type Task struct {
	config           Text
	ids              task.Vocabularies
	training         []vocab.ID     // tokens of a continuous text
	rare             map[int]string // spelling of the unknown ones, by index
	lines            []task.Example // training examples if every line is a text
	validation, test []task.Example
	longest          int
	notes            []string
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// Open reads the file.
func (c Text) Open() (task.Task, error) {
	return c.OpenWith(task.Vocabularies{Tokenizer: c.Tokenizer})
}

// OpenWith is like Open, with the tokens of an earlier run.
func (c Text) OpenWith(v task.Vocabularies) (task.Task, error) {
	if v.Tokenizer != c.Tokenizer { // of another configuration
		v = task.Vocabularies{}
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.resolved()
	content, notes, err := read(c.Path)
	if err != nil {
		return nil, err
	}
	return c.open(content, v, notes...)
}

// open makes the task from the file's content, with given vocabularies unless they are zero.
func (c Text) open(content string, v task.Vocabularies, notes ...string) (task.Task, error) {
	if content == "" {
		return nil, fmt.Errorf("%s is empty: it must contain text", c.Path)
	}
	t := &Task{config: c, ids: v, notes: notes}
	var err error
	switch {
	case c.Tokenizer == vocab.Subwords:
		err = t.divideIntoSubwords(c.lines(content))
	case c.Lines:
		err = t.divideLines(c.lines(content))
	default:
		err = t.divideText(c.lines(content))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Path, err)
	}
	t.notes = append(t.notes, fmt.Sprintf("%s, a vocabulary of %d; %s for training, %d for validation, %d for testing",
		quantity.Regular(t.tokens(), "tokens"), t.ids.Target.Size(), quantity.Regular(t.count(), "examples"), len(t.validation), len(t.test)))
	t.notes = append(t.notes, task.FewNotes("segments or lines", len(t.validation), len(t.test))...)
	return t, nil
}

// A line is a line of the file, or the whole file.
type line struct {
	number int // from 1
	text   string
}

func (l line) content() string { return l.text }

func (c Text) lines(content string) (list []line) {
	if !c.Lines {
		return []line{{1, strings.TrimSuffix(content, "\r")}}
	}
	for i, text := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
		list = append(list, line{i + 1, strings.TrimSuffix(text, "\r")})
	}
	return list
}

// split tokenizes every line. Empty and overlong lines are left out, and counted in a note.
func (c Text) split(lines []line, cut func(string) ([]string, error)) (parts [][]string, notes []string, err error) {
	empty, long := 0, 0
	for _, l := range lines {
		tokens, err := cut(l.text)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("line %d: %w", l.number, err)
		case len(tokens) == 0:
			empty++
		case c.Lines && len(tokens) > c.Length:
			long++
		default:
			if at := slices.IndexFunc(tokens, vocab.Reserved); at >= 0 {
				return nil, nil, fmt.Errorf("line %d has the reserved token %s", l.number, tokens[at])
			}
			parts = append(parts, tokens)
		}
	}
	if len(parts) == 0 {
		return nil, nil, fmt.Errorf("no line is usable: %d empty, %d longer than task.length, %d tokens", empty, long, c.Length)
	}
	if empty+long > 0 && c.Lines {
		notes = append(notes, fmt.Sprintf("%s: lines skipped: %d (%d empty, %d longer than task.length, %d tokens: raise it)", c.Path, empty+long, empty, long, c.Length))
	}
	return parts, notes, nil
}

// encode returns the ids of tokens. A token that is not in the vocabulary becomes <unknown>, if the vocabulary has one.
func encode(v *vocab.Vocabulary, tokens []string) []vocab.ID {
	if v.HasUnknown() {
		ids, _ := v.EncodeLossy(tokens)
		return ids
	}
	ids, err := v.Encode(tokens)
	if err != nil {
		panic(err) // cannot happen: the vocabulary has all subwords
	}
	return ids
}

// build builds the vocabulary from the training part, unless it is given.
func (t *Task) build(training [][]string) error {
	if t.ids.Target != nil {
		return nil
	}
	v, err := vocab.Build(slices.Values(training), t.config.MinCount, vocab.WithUnknown())
	t.ids = task.Vocabularies{Tokenizer: t.config.Tokenizer, Target: v}
	return err
}

// cut splits a text into segments; the last one may be shorter.
func cut(tokens []string, length int) [][]string { return slices.Collect(slices.Chunk(tokens, length)) }

// examples encodes consecutive segments of a text, or lines; a line ends with End.
func (c Text) examples(v task.Vocabularies, parts [][]string) []task.Example {
	examples := make([]task.Example, len(parts))
	inside := false // a word that the next segment continues
	for i, part := range parts {
		e := task.Example{Target: encode(v.Target, part)}
		e.Origin, inside = originOf(v, part, e.Target, inside && !c.Lines)
		if c.Lines {
			e.Target = append(e.Target, vocab.End)
		}
		examples[i] = e
	}
	return examples
}

// tokens returns the number of training tokens.
func (t *Task) tokens() int {
	n := len(t.training)
	for _, e := range t.lines {
		n += len(e.Target)
	}
	return n
}

// count returns the number of examples of an epoch. Segments begin at another offset in every epoch, so there is one fewer than the
// text holds.
func (t *Task) count() int {
	if t.config.Lines {
		return len(t.lines)
	}
	return max(1, len(t.training)/t.config.Length-1)
}

// Name returns the file's path.
func (t *Task) Name() string { return t.config.String() }

// Vocabularies returns no source vocabulary: a language model has no source.
func (t *Task) Vocabularies() task.Vocabularies { return t.ids }

// Notes describes the sizes of the parts and what was skipped.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns 0 and the length of the longest segment, or of the longest line with End.
func (t *Task) MaxLengths() (source, target int) { return 0, t.longest }

// Training iterates over the segments or lines, in a new order in each epoch; segments begin at another offset in each epoch.
func (t *Task) Training(seedValue uint64, i int64) task.Example {
	n := int64(t.count())
	order := seed.NewPermutation(seedValue, "text/epoch", i/n, int(n))
	at := order.At(int(i % n))
	if t.config.Lines {
		return clone(t.lines[at])
	}
	spare := min(t.config.Length, len(t.training)-int(n)*t.config.Length+1)
	start := seed.Rand(seedValue, "text/offset", i/n).IntN(max(spare, 1)) + at*t.config.Length
	end := min(start+t.config.Length, len(t.training))
	return task.Example{Target: slices.Clone(t.training[start:end]), Origin: segment{t, start, end}}
}

// segment is the Origin of a segment of the training text.
type segment struct {
	of         *Task
	start, end int
}

// Text returns the text of the segment; there is no source.
func (s segment) Text() (source, target string) {
	if s.of.ids.Subwords != nil {
		return "", s.of.ids.Subwords.Text(s.of.training[s.start:s.end])
	}
	tokens := s.of.ids.Target.Decode(s.of.training[s.start:s.end])
	for i := range tokens {
		if spelling, ok := s.of.rare[s.start+i]; ok {
			tokens[i] = spelling
		}
	}
	return "", s.of.ids.Tokenizer.Join(tokens)
}

// rareTokens returns the tokens that are not in the vocabulary by their index.
func rareTokens(v *vocab.Vocabulary, tokens []string, ids []vocab.ID) map[int]string {
	rare := map[int]string{}
	unknown, has := v.Unknown()
	for i, id := range ids {
		if has && id == unknown {
			rare[i] = tokens[i]
		}
	}
	return rare
}

// HeldOut returns the segments or lines of the test or validation part in the order of the file; with a Count below their number, that
// many of them, selected by the seed.
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

func clone(e task.Example) task.Example {
	return task.Example{Target: slices.Clone(e.Target), Origin: e.Origin}
}

// Digests returns the digests of the segments or lines.
func (t *Task) Digests() task.Digests {
	training := task.DigestExamples(t.lines)
	if !t.config.Lines {
		training = task.DigestExamples([]task.Example{{Target: t.training}})
	}
	return task.Digests{Training: training, Validation: task.DigestExamples(t.validation), Test: task.DigestExamples(t.test)}
}
