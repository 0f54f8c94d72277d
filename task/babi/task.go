package babi

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the questions of one task, or of all tasks. It is immutable and may be shared.
type Task struct {
	config                     Babi
	coding                     Coding
	training, validation, test []Question
	epoch                      []int             // indices of training, each as often as an epoch visits the question
	renamings                  map[int]renaming  // by task; empty without Rename
	rewordings                 map[int]rewording // by task; empty without Reword
	maximum                    int               // positions of the longest source
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// Task reads the questions of one configuration, ignoring its Path.
func (d *Distribution) Task(c Babi) (*Task, error) {
	c.Path = d.path
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t := &Task{config: c, renamings: map[int]renaming{}, rewordings: map[int]rewording{}}
	for _, n := range c.tasks() {
		if err := t.read(d, n); err != nil {
			return nil, err
		}
	}
	return t, t.encode()
}

// Missing returns an error that names the first missing file that a configuration needs, or nil. It reads no files.
func (d *Distribution) Missing(c Babi) error {
	for _, n := range c.tasks() {
		for _, part := range []string{"train", "valid", "test"} {
			if _, has := parts(c.Set)[part]; !has || part != "test" && c.StandIn != "" && c.standsFor() == n {
				continue
			}
			if !d.Has(c.Set, n, part) {
				return d.missing(file{c.Set, n, part})
			}
		}
	}
	return nil
}

// OpenTask opens the distribution and reads the questions of one configuration.
func OpenTask(c Babi) (*Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := Open(c.Path)
	if err != nil {
		return nil, err
	}
	return d.Task(c)
}

// read adds the questions of task n. If the distribution has no validation split, a tenth of the stories is used for validation, the
// same in every run. No story is in both parts.
func (t *Task) read(d *Distribution, n int) error {
	training, err := t.trainingFile(d, n)
	if err != nil {
		return err
	}
	test, err := d.Questions(t.config.Set, n, "test")
	if err != nil {
		return err
	}
	var validation []Question
	if _, divided := parts(t.config.Set)["valid"]; divided && t.config.standsFor() != n {
		if validation, err = d.Questions(t.config.Set, n, "valid"); err != nil {
			return err
		}
	} else if training, validation, err = divide(training, n); err != nil {
		return err
	}
	if t.config.Rename {
		t.renamings[n] = renaming{phrasesOf(namesOf(n)).usedIn(training)}
	}
	if t.config.Reword {
		t.rewordings[n] = rewording{phrasesOf(synonyms).usedIn(training)}
	}
	for i := range training {
		t.epoch = append(t.epoch, slices.Repeat([]int{len(t.training) + i}, max(1, t.config.Visits[n]))...)
	}
	t.training, t.validation, t.test = append(t.training, training...), append(t.validation, validation...), append(t.test, test...)
	return nil
}

func (t *Task) trainingFile(d *Distribution, n int) ([]Question, error) {
	if t.config.standsFor() == n {
		return number(n)(parseFile(t.config.StandIn))
	}
	return d.Questions(t.config.Set, n, "train")
}

// divide holds out a tenth of the stories, at least one.
func divide(questions []Question, n int) (training, validation []Question, err error) {
	stories := questions[len(questions)-1].Story + 1
	if stories < 2 {
		return nil, nil, fmt.Errorf("task %d has %d training story: at least 2 are needed, one of them for choosing a checkpoint", n, stories)
	}
	order := seed.NewPermutation(0, "babi/validation", int64(n), stories)
	held := make([]bool, stories)
	for i := range max(1, stories/10) {
		held[order.At(i)] = true
	}
	for _, q := range questions {
		if held[q.Story] {
			validation = append(validation, q)
		} else {
			training = append(training, q)
		}
	}
	if len(training) == 0 || len(validation) == 0 {
		return nil, nil, fmt.Errorf("task %d: its stories have too few questions to hold some out", n)
	}
	return training, validation, nil
}

// encode builds the vocabularies from the training data. It finds the longest sentence of all parts, test included, which determines
// the shape.
func (t *Task) encode() error {
	sentences, answers := map[string]bool{}, map[string]bool{}
	for _, q := range slices.Concat(t.training, t.validation) {
		for _, answer := range t.renamings[q.Task].answers(q.Answer) {
			answers[answer] = true
		}
		sentences[q.Text] = true
		for _, fact := range q.Facts {
			sentences[fact] = true
		}
	}
	once := func(set map[string]bool, split func(string) []string) func(func([]string) bool) {
		return func(yield func([]string) bool) {
			for s := range set {
				if !yield(split(s)) {
					return
				}
			}
		}
	}
	t.coding.Tokenizer = vocab.Whitespace
	var err error
	if t.coding.Source, err = vocab.Build(once(sentences, strings.Fields), 1, vocab.WithUnknown()); err != nil {
		return err
	}
	if t.coding.Target, err = vocab.Build(once(answers, func(s string) []string { return []string{s} }), 1, vocab.WithUnknown()); err != nil {
		return err
	}
	for _, q := range slices.Concat(t.training, t.validation, t.test) {
		kept := recent(q)
		t.maximum = max(t.maximum, len(kept.Facts)+1)
		for _, s := range append(slices.Clip(q.Facts), q.Text) {
			length := strings.Count(s, " ") + 1 + t.renamings[q.Task].growth(s) + t.rewordings[q.Task].growth(s)
			t.coding.TokensPerPosition = max(t.coding.TokensPerPosition, length)
		}
	}
	return nil
}

// recent drops the oldest facts, and adjusts Supports. Supporting facts that are dropped are removed from it.
func recent(q Question) Question {
	drop := len(q.Facts) - maxFacts(q.Task)
	if drop <= 0 {
		return q
	}
	q.Facts = q.Facts[drop:]
	supports := make([]int, 0, len(q.Supports))
	for _, s := range q.Supports {
		if s >= drop {
			supports = append(supports, s-drop)
		}
	}
	q.Supports = supports
	return q
}

// Name identifies the configuration.
func (t *Task) Name() string { return t.config.String() }

// Vocabularies returns the words and the answers of the training data (a list of answers is one entry), and <unknown>. With Rename, the
// answers include those that training stories get. Any other test answer is <unknown>, and always counts as wrong.
func (t *Task) Vocabularies() task.Vocabularies { return task.Vocabularies(t.coding) }

// Notes returns nil.
func (t *Task) Notes() []string { return nil }

// Coding returns the conversion of questions to ids.
func (t *Task) Coding() Coding { return t.coding }

// Training iterates over the training questions, in a new order in each epoch, renamed and reworded if the configuration says so.
func (t *Task) Training(seedValue uint64, i int64) task.Example {
	n := int64(len(t.epoch))
	order := seed.NewPermutation(seedValue, "babi/epoch", i/n, len(t.epoch))
	q := recent(t.training[t.epoch[order.At(int(i%n))]])
	if r, ok := t.rewordings[q.Task]; ok {
		q = r.apply(q, seed.Rand(seedValue, "babi/rewording", i))
	}
	if r, ok := t.renamings[q.Task]; ok && t.renames(seedValue, i) {
		q = r.apply(q, r.draw(seed.Rand(seedValue, "babi/renaming", i)))
	}
	return t.coding.Example(q)
}

// renames draws whether visit i exchanges names.
func (t *Task) renames(seedValue uint64, i int64) bool {
	share := t.config.RenameShare
	return share == 0 || seed.Rand(seedValue, "babi/whether to rename", i).Float64() < share
}

// HeldOut returns the test or the validation questions in the order of the files; with a Count below their number, that many, selected by
// the seed.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	questions := t.Test()
	if s.Validation {
		questions = t.Validation()
	}
	examples := t.coding.Examples(questions)
	if s.Count == 0 {
		return examples, nil
	}
	order := seed.NewPermutation(seedValue, "babi/held-out", 0, len(examples))
	picked := make([]task.Example, min(s.Count, len(examples)))
	for i := range picked {
		picked[i] = examples[order.At(i)]
	}
	return picked, nil
}

// Validation returns the validation questions, with the facts that models see.
func (t *Task) Validation() []Question { return each(t.validation) }

// Test returns the test questions, with the facts that models see, in the order of tasks.
func (t *Task) Test() []Question { return each(t.test) }

func each(questions []Question) []Question {
	kept := make([]Question, len(questions))
	for i, q := range questions {
		kept[i] = recent(q)
	}
	return kept
}

// TrainedOn returns the number of training questions.
func (t *Task) TrainedOn() int { return len(t.training) }

// MaxLengths returns the number of ids of the longest source, and 1, for a class.
func (t *Task) MaxLengths() (source, target int) { return t.maximum * t.coding.TokensPerPosition, 1 }

// Digests returns the digests of the questions with their facts.
func (t *Task) Digests() task.Digests {
	return task.Digests{Training: digest(t.training), Validation: digest(t.validation), Test: digest(t.test)}
}

func digest(questions []Question) string {
	d := task.NewDigest()
	for _, q := range questions {
		d.Texts(q.Facts...)
		d.Texts(q.Text, q.Answer)
	}
	return d.String()
}
