package agreement

import (
	"fmt"
	"strings"

	"universal-transformer/internal/quantity"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Task holds the rows of one definition. It is immutable and may be shared.
type Task struct {
	division
	coding
	name     string
	longest  [2]int // lengths of the longest source and target
	extended float64
	phrases  [][]string // inserted into extended rows
}

var (
	_ task.Task     = (*Task)(nil)
	_ task.Digester = (*Task)(nil)
)

// open reads and encodes the files of a definition.
func open(c task.Definition, f form, minCount int, share float64, read func() (division, error)) (task.Task, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d, err := read()
	if err != nil {
		return nil, task.OfDataSet("linzen", err)
	}
	if len(d.training) == 0 || len(d.validation) == 0 || len(d.test) == 0 {
		return nil, fmt.Errorf("%s: %s for training, %d for validation, %d for testing: there must be some of each",
			c, quantity.Regular(len(d.training), "rows"), len(d.validation), len(d.test))
	}
	t := &Task{division: d, name: c.String(), coding: coding{form: f}}
	if t.v, err = d.vocabularies(f, minCount); err != nil {
		return nil, err
	}
	for _, rows := range [][]row{d.training, d.validation} {
		for _, r := range rows {
			e := t.example(r)
			t.longest = [2]int{max(t.longest[0], len(e.Source)), max(t.longest[1], len(e.Target))}
		}
	}
	if share > 0 {
		if t.extended, t.phrases = share, phrases(t.training); len(t.phrases) == 0 {
			return nil, fmt.Errorf("%s: extended is %v, but no training row ends in a prepositional phrase", c, share)
		}
		t.notes = append(t.notes, fmt.Sprintf("%g of the training rows have prepositional phrases of others inserted before the verb", share))
	}
	t.notes = append(t.notes, t.counts(), "the test: "+t.unknown(t.test))
	return t, nil
}

// vocabularies returns the known words, and the two classes.
func (d division) vocabularies(f form, minCount int) (v task.Vocabularies, err error) {
	v.Tokenizer = vocab.Whitespace
	known := d.known
	if known == nil {
		if known, err = frequentWords(f, d.training, minCount, 0); err != nil {
			return v, err
		}
	}
	built, err := vocab.New(known, vocab.WithUnknown())
	if err != nil || !f.classes {
		v.Target = built
		return v, err
	}
	v.Source = built
	v.Target, err = vocab.New([]string{singular, plural})
	return v, err
}

// frequentWords returns the words that a model reads in rows and that occur at least minCount times, most frequent first, and not more than
// limit of them if it is positive.
func frequentWords(f form, rows []row, minCount, limit int) ([]string, error) {
	v, err := vocab.Build(func(yield func([]string) bool) {
		for _, r := range rows {
			words := r.words()
			if f.classes {
				words = words[:r.verb]
			}
			if !yield(words) {
				return
			}
		}
	}, minCount)
	if err != nil {
		return nil, err
	}
	words := v.Tokens()
	if limit > 0 {
		words = words[:min(limit, len(words))]
	}
	return words, nil
}

// counts describes the number of rows, and how many test rows have each number of attractors.
func (t *Task) counts() string {
	var with []string
	for k := 0; k <= maxAttractors; k++ {
		n := 0
		for _, r := range t.test {
			if r.attractors == k {
				n++
			}
		}
		if n > 0 {
			with = append(with, fmt.Sprintf("%d with %d", n, k))
		}
	}
	return fmt.Sprintf("%s for training, %d for validation, %d for testing; of these by attractors: %s",
		quantity.Regular(len(t.training), "rows"), len(t.validation), len(t.test), strings.Join(with, ", "))
}

// unknown describes how many words of the rows are not in the vocabulary.
func (c coding) unknown(rows []row) string {
	all, unknown := 0, 0
	for _, r := range rows {
		words := r.words()
		if !c.whole {
			words = words[:r.verb]
		}
		_, n := c.inputVocabulary().EncodeLossy(words)
		all, unknown = all+len(words), unknown+n
	}
	return fmt.Sprintf("%d of %d words are <unknown>: the vocabulary does not have them", unknown, all)
}

// Name describes the rows and their form.
func (t *Task) Name() string { return t.name }

// Vocabularies returns the words of the training part and <unknown>.
func (t *Task) Vocabularies() task.Vocabularies { return t.v }

// Notes describes the training data, what was skipped, and how many words of the test are unknown.
func (t *Task) Notes() []string { return t.notes }

// MaxLengths returns the longest source and target of training and validation.
func (t *Task) MaxLengths() (source, target int) { return t.longest[0], t.longest[1] }

// Training iterates over the rows, in a new order in each epoch.
func (t *Task) Training(seedValue uint64, i int64) task.Example {
	n := int64(len(t.training))
	order := seed.NewPermutation(seedValue, "agreement/epoch", i/n, len(t.training))
	r := t.training[order.At(int(i%n))]
	if t.extended > 0 {
		if rng := seed.Rand(seedValue, "agreement/extended", i); rng.Float64() < t.extended {
			r = extended(r, t.phrases, t.longestPreamble(), rng)
		}
	}
	return t.example(r)
}

// longestPreamble returns the number of words of the longest preamble in training and validation.
func (t *Task) longestPreamble() int {
	if t.classes {
		return t.longest[0]
	}
	return t.longest[1] - 1
}

// HeldOut returns the test rows, fewest attractors first, or the validation rows; with a Count below their number, that many of them,
// selected by the seed.
func (t *Task) HeldOut(seedValue uint64, s task.Selection) ([]task.Example, error) {
	if err := s.ValidateOfFile(); err != nil {
		return nil, err
	}
	rows := t.test
	if s.Validation {
		rows = t.validation
	}
	if s.Count == 0 {
		return t.examples(rows), nil
	}
	order := seed.NewPermutation(seedValue, "agreement/held-out", 0, len(rows))
	picked := make([]row, min(s.Count, len(rows)))
	for i := range picked {
		picked[i] = rows[order.At(i)]
	}
	return t.examples(picked), nil
}

// ByAttractors groups the test rows by their number of attractors; rows with an unknown number are not included.
func (t *Task) ByAttractors() (groups []task.Case) {
	for k := 0; k <= maxAttractors; k++ {
		var rows []row
		for _, r := range t.test {
			if r.attractors == k {
				rows = append(rows, r)
			}
		}
		if len(rows) > 0 {
			groups = append(groups, task.Case{Name: fmt.Sprintf("%d attractors", k), Examples: t.examples(rows)})
		}
	}
	return groups
}

// Digests returns the digests of the rows.
func (t *Task) Digests() task.Digests {
	return task.Digests{Training: digest(t.training), Validation: digest(t.validation), Test: digest(t.test)}
}

func digest(rows []row) string {
	d := task.NewDigest()
	for _, r := range rows {
		d.Texts(r.text, r.other)
		d.Number(r.verb)
		d.Number(r.attractors)
		if r.plural {
			d.Number(1)
		}
	}
	return d.String()
}
