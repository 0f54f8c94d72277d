package agreement

import (
	"errors"
	"fmt"
	"slices"

	"universal-transformer/task"
)

// TextForms ranks the two forms of a verb like [Forms], with a language model, which may start from one of another text. It is trained like
// [Number] on the words before a verb, followed by its tag. The probability of a tag is relative to the other tag:
//
//	P(tag | words) = p(tag | words) / (p(VBZ | words) + p(VBP | words))
//
// With Text, words that a language model of this text knows are in the vocabulary, and they stay words in the sentences. It is that of [Pairs]
// with the same Text, Pairs, MinCount and Vocabulary. The test has sentences of the test of Forms only.
type TextForms struct {
	Forms
	Text       string `json:"text,omitzero" file:"any"` // a file with one tokenized sentence per line, or a folder of books, .txt files, whose words are known; empty: only those of training
	Vocabulary int    `json:"vocabulary,omitzero"`      // number of most frequent words of the text that are known; 0 means all
}

var rankedTags = form{forms: true}

// Kind returns task.LanguageModeling.
func (TextForms) Kind() task.Kind { return task.LanguageModeling }

// String describes the task and its regime.
func (c TextForms) String() string {
	return fmt.Sprintf("agreement, ranking of verb forms by a language model, %s", c.Regime)
}

// Validate returns an error that names the first missing or invalid field.
func (c TextForms) Validate() error {
	switch {
	case c.Vocabulary < 0:
		return fmt.Errorf("vocabulary is %d: it must be positive, or 0 for all words", c.Vocabulary)
	case c.Vocabulary > 0 && c.Text == "":
		return errors.New("text is empty: name the text whose most frequent words make the vocabulary, or set vocabulary to 0")
	}
	return c.Forms.Validate()
}

// Open reads the files.
func (c TextForms) Open() (task.Task, error) {
	return open(c, rankedTags, c.MinCount, c.Extended, c.read)
}

// Measure compares the scores of the two forms.
func (c TextForms) Measure(v task.Vocabularies) task.Measure {
	return &Measure{coding: coding{rankedTags, v}, Notes: []string{c.Regime.note()}}
}

// Reader reads preambles, and texts to score; files are those of [Forms].
func (c TextForms) Reader(v task.Vocabularies) task.Reader {
	return task.LineReader{Vocabularies: v, Name: task.Prompt, Open: true, FileOf: coding{rankedTags, v}.file(func(path string) ([]row, string, error) {
		return c.readFile(path, v.Target.Tokens())
	})}
}

// read returns the rows of [Forms]. The words of the text follow those of training in the vocabulary.
func (c TextForms) read() (d division, err error) {
	if c.Text == "" {
		return c.Forms.read()
	}
	text, err := Pairs{Path: c.Pairs, Text: c.Text, MinCount: c.MinCount, Vocabulary: c.Vocabulary}.read()
	if err != nil {
		return d, err
	}
	if d, err = c.readKnowing(text.known); err != nil {
		return d, err
	}
	if d.known, err = frequentWords(rankedTags, d.training, c.MinCount, 0); err != nil {
		return d, err
	}
	own := map[string]bool{}
	for _, w := range d.known {
		own[w] = true
	}
	d.known = append(d.known, slices.DeleteFunc(text.known, func(w string) bool { return own[w] })...)
	return d, nil
}
