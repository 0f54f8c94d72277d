package agreement

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Forms ranks the two forms of a verb, as the paper's table 2 does, with a model that never reads a verb. It is trained like [Classes] to
// predict the number of a verb from the words before it. The test set consists of sentences with both forms, those of [Pairs]. A form's score
// is the probability of its number times the relative frequency of the form among verbs of that number, from a [lexicon] of the training rows:
//
//	score(form) = P(tag of form | words) * (count(form) + 1) / rows(tag of form)
//
// The files of Path have tags in place of rare words. Words of the sentences that are rare in training are therefore read as the tag that
// their ending suggests.
type Forms struct {
	Number
	Pairs string `json:"pairs" file:"any"` // NAME.text, one sentence per line, each ending in <eos>; NAME.gold in the same folder lists the verbs
}

var rankedForms = form{classes: true, forms: true}

// Kind returns task.Classification.
func (Forms) Kind() task.Kind { return task.Classification }

// String describes the task and its regime.
func (c Forms) String() string {
	return fmt.Sprintf("agreement, ranking of verb forms by their number, %s", c.Regime)
}

// Validate returns an error that names the first missing or invalid field.
func (c Forms) Validate() error {
	if !strings.HasSuffix(c.Pairs, textFile) {
		return fmt.Errorf("pairs is %q: name a file of sentences that ends in %s, with a file that ends in %s in the same folder", c.Pairs, textFile, goldFile)
	}
	return c.Number.Validate()
}

// Open reads the files.
func (c Forms) Open() (task.Task, error) { return open(c, rankedForms, c.MinCount, c.Extended, c.read) }

// Measure compares the scores of the two forms.
func (c Forms) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{rankedForms, v}, Notes: []string{c.Regime.note()}}
}

// Reader reads preambles; files are those of [Pairs] and of [Number].
func (c Forms) Reader(v task.Vocabularies) task.Reader {
	return classReader{task.LineReader{Vocabularies: v, Name: task.Source, FileOf: coding{rankedForms, v}.file(func(path string) ([]row, string, error) {
		return c.readFile(path, nil)
	})}}
}

func (c Forms) read() (division, error) { return c.readKnowing(nil) }

// readKnowing returns the training and validation rows of [Number], and the pairs as test rows. The known words are not rare.
func (c Forms) readKnowing(known []string) (d division, err error) {
	if d, _, err = c.divide(); err != nil {
		return d, err
	}
	pairs, leftOut, err := readPairs(c.Pairs)
	if err != nil {
		return d, err
	}
	tagged := newLexicon(d.training, c.MinCount, nil).rows(pairs) // training has tags in place of rare words
	d.addTest(newLexicon(d.training, c.MinCount, known).rows(pairs), tagged)
	if leftOut != "" {
		d.notes = append(d.notes, leftOut)
	}
	d.notes = append(d.notes, c.Regime.note())
	return d, nil
}

// readFile reads pairs, or the rows of a numpred file. The lexicon is that of the training rows. The known words are not rare.
func (c Forms) readFile(path string, known []string) (rows []row, leftOut string, err error) {
	if isNumpred(path) {
		return numpredFile(path)
	}
	if rows, leftOut, err = readPairs(path); err != nil {
		return nil, "", err
	}
	d, _, err := c.divide()
	if err != nil {
		return nil, "", fmt.Errorf("the lexicon is counted in the training rows: %w", err)
	}
	return newLexicon(d.training, c.MinCount, known).rows(rows), leftOut, nil
}

// isNumpred reports whether a file begins with a tag and a tab.
func isNumpred(path string) bool {
	ok, _ := readFile(path, func(_ string, r io.Reader) (bool, error) {
		start := make([]byte, len(singular)+1)
		_, err := io.ReadFull(r, start)
		return err == nil && (string(start) == singular+"\t" || string(start) == plural+"\t"), nil
	})
	return ok
}

// rankForms scores the forms of every verb by the probabilities of their tags and by the lexicon, as [Forms] says. number tells which answers
// the tags alone get right. Rows without a lexicon have no forms; their tags are compared.
func (m *Measure) rankForms(ctx context.Context, model task.Model, examples []task.Example, rows []*row) (result task.Measurement, number []bool, err error) {
	predict := m.rank
	if m.classes {
		predict = m.classify
	}
	result, odds, err := predict(ctx, model, examples, rows)
	if err != nil {
		return result, nil, err
	}
	for i, r := range rows {
		answer := &result.Answers[i]
		number = append(number, answer.Correct)
		if r == nil || r.lexicon == nil {
			continue
		}
		verb := r.words()[r.verb]
		answer.Correct = odds[i]+r.lexicon.logFrequency(verb, r.plural) > r.lexicon.logFrequency(r.other, !r.plural)
		if answer.Text = verb; !answer.Correct {
			answer.Text = r.other
		}
	}
	return result, number, nil
}

// classify is like rank for classifiers: it predicts the classes of all examples, including those without a row.
func (m *Measure) classify(ctx context.Context, model task.Model, examples []task.Example, _ []*row) (result task.Measurement, odds []float64, err error) {
	classified, err := model.Classify(ctx, examples)
	if err != nil {
		return result, nil, err
	}
	result.Method = task.Classes
	for i, c := range classified {
		result.Answers = append(result.Answers, task.Answer{Tokens: []vocab.ID{c.Class}, Correct: c.Class == examples[i].Target[0]})
		odds = append(odds, c.LogProb-math.Log1p(-math.Exp(c.LogProb))) // of two classes
	}
	return result, odds, nil
}
