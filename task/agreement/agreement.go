// Package agreement is subject-verb agreement (Linzen, Dupoux and Goldberg, "Assessing the Ability of LSTMs to Learn Syntax-Sensitive
// Dependencies", 2016), section 3.2 of the paper: predicting the number of a verb from its subject, which may be far away.
//
//	the keys to the old cabinet -> VBP, plural: "cabinet", the only noun between, is an attractor
//
// There are six tasks. [Number] and [Classes] read the files that contain the words before a verb, its preamble, and its tag, VBZ or
// VBP, but not the verb: as a language model that continues with the tag, and as a classifier. [Verbs] reads the authors' own table of
// whole sentences and ranks the two forms of a verb: the paper's measure. [Pairs] ranks whole sentences with both forms. [Forms] and
// [TextForms] rank the two forms in these sentences by the predicted number of the verb, with a classifier and with a language model.
//
// Accuracies are reported by the number of attractors: nouns between subject and verb that have the other number. Each accuracy comes
// with three reference values: the balanced accuracy (mean over singular and plural verbs), the accuracy of always answering plural,
// which at four attractors is close to that of the best models, and that of answering the number of the last word. See [Measure].
package agreement

import (
	"errors"
	"fmt"
	"path/filepath"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// The tags of verbs.
const (
	singular = "VBZ"
	plural   = "VBP"
)

// A Regime determines which rows of the numpred files are used for training.
type Regime string

// The regimes.
const (
	Natural  Regime = "natural"  // nine tenths of numpred.val, with the natural distribution of attractors
	Enriched Regime = "enriched" // also four fifths of numpred.test.1; not comparable with the paper's table 2
	Full     Regime = "full"     // numpred.train, which must be available; numpred.val is for validation
)

// Validate returns an error for an unknown regime.
func (r Regime) Validate() error {
	if r != Natural && r != Enriched && r != Full {
		return fmt.Errorf("regime is %q: it must be one of %s, %s, %s", string(r), Natural, Enriched, Full)
	}
	return nil
}

// note returns a remark on results in a regime.
func (r Regime) note() string {
	switch r {
	case Full:
		return "full: trained on the published training part"
	case Enriched:
		return "enriched: most training rows have an attractor, unlike natural sentences: not comparable with table 2"
	}
	return "natural: trained on about a tenth of the paper's training rows"
}

// Number is next-token number prediction: a language model reads a preamble and predicts the tag of the verb. Training includes the
// words of the preamble. The task does not rank verb forms, because the files contain no verbs.
type Number struct {
	Path     string `json:"path" file:"any"` // the folder with numpred.val, numpred.test.1 ... numpred.test.5 and, optionally, numpred.test.0
	Regime   Regime `json:"regime"`          // "natural", "enriched" or "full"
	MinCount int    `json:"min_count"`       // training words that occur less often become <unknown>; 0 means 1
	// Extended is the share of training rows that are extended: one to four prepositional phrases from other rows are inserted before
	// the verb. This gives more attractors than the data contain, without changing the verb.
	Extended float64 `json:"extended,omitzero"`
}

// Classes is like [Number] with two classes: a model reads the whole preamble and answers VBZ or VBP.
type Classes Number

// Kind returns task.LanguageModeling.
func (Number) Kind() task.Kind { return task.LanguageModeling }

// Kind returns task.Classification.
func (Classes) Kind() task.Kind { return task.Classification }

// Validate returns an error that names the first missing or invalid field.
func (c Number) Validate() error {
	if c.Path == "" {
		return errors.New("path is empty: name the folder with numpred.val and numpred.test.1 to numpred.test.5")
	}
	if c.MinCount < 0 {
		return fmt.Errorf("min_count is %d: it must be at least 1, or 0 for 1", c.MinCount)
	}
	if !(c.Extended >= 0 && c.Extended <= 1) {
		return fmt.Errorf("extended is %v: it must be a share, from 0 to 1", c.Extended)
	}
	return c.Regime.Validate()
}

// Validate returns an error that names the first missing or invalid field.
func (c Classes) Validate() error { return Number(c).Validate() }

// String describes the task and its regime.
func (c Number) String() string {
	return fmt.Sprintf("agreement, next-token number prediction, %s", c.Regime)
}

// String describes the task and its regime.
func (c Classes) String() string { return fmt.Sprintf("agreement, two classes, %s", c.Regime) }

// Open reads the files.
func (c Number) Open() (task.Task, error) {
	return open(c, form{}, c.MinCount, c.Extended, c.read)
}

// Open reads the files.
func (c Classes) Open() (task.Task, error) {
	return open(c, form{classes: true}, c.MinCount, c.Extended, Number(c).read)
}

// Measure compares the probabilities of the two tags after a preamble.
func (c Number) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{form{}, v}, Notes: []string{c.Regime.note()}}
}

// Measure compares classes.
func (c Classes) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{form{classes: true}, v}, Notes: []string{c.Regime.note()}}
}

// Reader reads preambles, and texts to score; files are numpred files. The rows of a file named numpred.test.K have K attractors.
func (Number) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, Open: true, FileOf: coding{form{}, v}.file(numpredFile)}
}

// Reader reads preambles; files are those of [Number].
func (Classes) Reader(v task.Vocabularies) task.Reader {
	return classReader{task.LineReader{Vocabularies: v, Name: task.Source, FileOf: coding{form{classes: true}, v}.file(numpredFile)}}
}

// classReader is a LineReader whose targets are classes.
type classReader struct{ task.LineReader }

// Target returns the class of a tag.
func (r classReader) Target(tag string) ([]vocab.ID, error) {
	return r.Vocabularies.Target.Encode([]string{tag})
}

// read returns the rows of all parts. Rows of the test files whose preamble may occur in training are skipped.
func (c Number) read() (d division, err error) {
	d, test, err := c.divide()
	if err != nil {
		return d, err
	}
	d.addTest(test)
	d.notes = append(d.notes, c.Regime.note())
	return d, nil
}

// divide returns the rows of training and validation, and apart from them those of the test files. It splits them by a hash of the preamble, so
// that all rows with the same preamble are in one part.
func (c Number) divide() (d division, test []row, err error) {
	rows, err := readNumpred(filepath.Join(c.Path, "numpred.val"))
	if err != nil {
		return d, nil, err
	}
	known := preambles(rows)
	if c.Regime == Full {
		d.validation = rows
		if d.training, err = readNumpred(filepath.Join(c.Path, "numpred.train")); err != nil {
			return d, nil, err
		}
		rows = nil
	}
	for _, r := range rows {
		if r.bucket(10) == 0 {
			d.validation = append(d.validation, r)
		} else {
			d.training = append(d.training, r)
		}
	}
	for attractors := 0; attractors <= maxAttractors; attractors++ {
		path := filepath.Join(c.Path, fmt.Sprintf("numpred.test.%d", attractors))
		rows, err := readNumpred(path)
		if attractors == 0 && missing(err) {
			continue
		}
		if err != nil {
			return d, nil, err
		}
		for _, r := range rows {
			switch part := r.bucket(10); {
			case known[r.preamble()] || c.Regime != Enriched || attractors != 1 || part == 9:
				test = append(test, r)
			case part == 0:
				d.validation = append(d.validation, r)
			default:
				d.training = append(d.training, r)
			}
		}
	}
	return d, test, nil
}
