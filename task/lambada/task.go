package lambada

import (
	"fmt"

	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the passages and the training text of one definition. It is immutable and may be shared.
//
// Examples of [Reading] have a source "context <question> last sentence <blank>". Out-of-vocabulary words are read as markers, <word-1>
// and so on, equal words as equal markers, so that names can be answers: with a small training text, fewer than two thirds of LAMBADA's
// answers are in the vocabulary. In training, markers are numbered randomly, so that all have the same meaning; otherwise they are
// numbered in order of occurrence.
type Task struct {
	corpus *corpus
	coding coding
	name   string
	sets   sets
	notes  []string

	held    func() []task.Example      // validation examples if the version has no development set
	example func(passage) task.Example // encodes a held-out passage
	train   func(seedValue uint64, i int64) task.Example
	longest [2]int    // lengths of the longest source and target
	learned []passage // of the development set, trained on
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// Open reads passages and books.
func (c Language) Open() (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Length == 0 {
		c.Length = defaultLength
	}
	t, err := c.Data.open(c.String())
	if err != nil {
		return nil, err
	}
	t.coding = coding{task.Vocabularies{Tokenizer: vocab.Whitespace, Target: t.corpus.known}}
	if c.InSubwords {
		if t.corpus, err = t.corpus.intoSubwords(c.Choice); err != nil {
			return nil, err
		}
		t.coding.Vocabularies = task.OfPieces(t.corpus.pieces)
		t.coding.Source = nil
	}
	t.example = t.coding.text
	p := pieces{t.corpus, c.Length, len(t.corpus.ids)}
	if len(t.sets.development) == 0 {
		p.learned -= p.learned / 50
	}
	if len(t.sets.development) == 0 && p.learned == len(p.ids) {
		return nil, fmt.Errorf("%d tokens are too few to hold a fiftieth of them out for validation: add books", len(p.ids))
	}
	if p.count() < 2 {
		return nil, fmt.Errorf("%d tokens are too few for segments of length %d: add books or lower task.length", len(t.corpus.ids), c.Length)
	}
	t.train = func(seedValue uint64, i int64) task.Example { return p.training(seedValue, i) }
	t.held = p.held
	t.longest = [2]int{0, c.Length}
	t.describe(fmt.Sprintf("%d segments of up to %d tokens", p.count(), c.Length))
	return t, nil
}

// Open reads passages and books.
func (c Reading) Open() (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	t, err := c.Data.open(c.String())
	if err != nil {
		return nil, err
	}
	v, err := readingVocabulary(t.corpus.known.Tokens())
	if err != nil {
		return nil, err
	}
	t.coding = coding{task.Vocabularies{Tokenizer: vocab.Whitespace, Source: v, Target: v}}
	t.example = t.coding.question
	var annotated []passage
	if c.Annotated > 0 {
		if annotated = t.sets.annotated(); len(annotated) == 0 {
			return nil, fmt.Errorf("annotated is %v, but the development set has no passage whose answer occurs in its context", c.Annotated)
		}
	}
	t.learned = annotated
	q := newQuestions(t, c, annotated)
	switch held := len(q.held); {
	case len(q.list) == 0 && held > 0:
		return nil, fmt.Errorf("the books have only %d passages whose answer occurs in its context, and all are held out for validation: add books", held)
	case len(q.list) == 0:
		return nil, fmt.Errorf("the books have no passage whose answer occurs in its context: add books")
	}
	t.train, t.held = q.training, q.examples
	t.longest = [2]int{longestContext + longestSentence + 2, 1}
	what := "content words of a sentence that occur in the context; the sentence ends there"
	if c.LastOnly {
		what = "last words of sentences"
	}
	t.describe(fmt.Sprintf("%d passages; answers: %s", len(q.list), what))
	if c.Annotated > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d passages of the development set are trained on, as %v of the examples; %d are not", len(annotated), c.Annotated, len(t.sets.development)))
		t.extendLengths(annotated)
	}
	return t, nil
}

// open reads the data of both tasks.
func (d Data) open(name string) (t *Task, err error) {
	t = &Task{name: name}
	if t.sets, err = d.readSets(); err != nil {
		return nil, task.OfDataSet("lambada", err)
	}
	files, kept, err := d.prose()
	if err != nil {
		return nil, err
	}
	if t.corpus, err = d.readCorpus(files, t.sets); err != nil {
		return nil, err
	}
	if kept != "" {
		if len(t.sets.control) > 0 {
			t.notes = append(t.notes, fmt.Sprintf("the control set of %s is not used: kept_out replaces it", Control))
		}
		if t.sets.control, err = controlFrom(kept); err != nil {
			return nil, err
		}
		t.notes = append(t.notes, fmt.Sprintf("control: own, unselected passages of %s, which is not trained on", d.KeptOut))
	}
	return t, nil
}

// describe writes the notes.
func (t *Task) describe(training string) {
	t.notes = append(t.notes, fmt.Sprintf("training text: %d books, %d tokens, a vocabulary of %d words; %s",
		len(t.corpus.books)-1, len(t.corpus.ids), len(t.corpus.known.Tokens()), training))
	for _, s := range t.named() {
		if len(s.Passages) > 0 {
			t.notes = append(t.notes, s.Name+": "+t.coding.coverage(s.Passages))
		}
	}
	if n := shared(t.sets.development, t.sets.test); n > 0 {
		t.notes = append(t.notes, fmt.Sprintf("%d lines of the development set are also in the test set", n))
	}
	t.extendLengths(t.sets.development)
	t.extendLengths(t.sets.control)
}

// extendLengths raises the maximum source and target lengths to those of passages.
func (t *Task) extendLengths(passages []passage) {
	for _, p := range passages {
		e := t.example(p)
		t.longest = [2]int{max(t.longest[0], len(e.Source)), max(t.longest[1], len(e.Target))}
	}
}

// shared counts the passages of one set that occur in another.
func shared(of, in []passage) (n int) {
	there := texts(in)
	for _, p := range of {
		if there[p.text()] {
			n++
		}
	}
	return n
}

// texts returns the set of the passages' texts.
func texts(passages []passage) map[string]bool {
	there := map[string]bool{}
	for _, p := range passages {
		there[p.text()] = true
	}
	return there
}

// A set is a list of passages and its name.
type set struct {
	Name     string
	Passages []passage
}

func (t *Task) named() []set {
	return []set{{"control", t.sets.control}, {"development", t.sets.development}, {"test", t.sets.test}}
}

// Cases returns all available passages: control, development, test.
func (t *Task) Cases() (cases []task.Case) {
	for _, s := range t.named() {
		if len(s.Passages) > 0 {
			cases = append(cases, task.Case{Name: s.Name, Examples: t.examples(s.Passages)})
		}
	}
	return cases
}

// ByOccurrence groups the test passages by how often the answer occurs in the sentences before the last.
func (t *Task) ByOccurrence() (groups []task.Case) {
	names := []string{"answer not in the context", "answer once in the context", "answer twice or more"}
	passages := make([][]passage, len(names))
	for _, p := range t.sets.test {
		n := min(p.occurrences(), 2)
		passages[n] = append(passages[n], p)
	}
	for i, name := range names {
		if len(passages[i]) > 0 {
			groups = append(groups, task.Case{Name: name, Examples: t.examples(passages[i])})
		}
	}
	return groups
}

func (t *Task) examples(passages []passage) []task.Example {
	examples := make([]task.Example, len(passages))
	for i, p := range passages {
		examples[i] = t.example(p)
	}
	return examples
}

// Name names the version and the task.
func (t *Task) Name() string { return t.name }

// Vocabularies returns the words of the training text and <unknown>; for Reading also the markers, and the words as classes.
func (t *Task) Vocabularies() task.Vocabularies { return t.coding.Vocabularies }

// Notes describes the training data, and how many of the words to predict are in the vocabulary.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns the longest source and target of training and validation.
func (t *Task) MaxLengths() (source, target int) { return t.longest[0], t.longest[1] }

// Training iterates over the training text, in a new order in each epoch.
func (t *Task) Training(seedValue uint64, i int64) task.Example { return t.train(seedValue, i) }

// HeldOut returns the test set, or the development set for validation; if the version has none, a fiftieth of the training text. With a
// Count below their number, it returns that many, selected by the seed.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	var examples []task.Example
	switch {
	case !s.Validation:
		examples = t.examples(t.sets.test)
	case len(t.sets.development) > 0:
		examples = t.examples(t.sets.development)
	default:
		examples = t.held()
	}
	if s.Count == 0 {
		return examples, nil
	}
	order := seed.NewPermutation(seedValue, "lambada/held-out", 0, len(examples))
	picked := make([]task.Example, min(s.Count, len(examples)))
	for i := range picked {
		picked[i] = examples[order.At(i)]
	}
	return picked, nil
}
