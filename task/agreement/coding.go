package agreement

import (
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A form determines what a model sees of a row. The zero value is that of a language model that reads up to the verb.
type form struct {
	classes bool // classification: the source is the preamble
	whole   bool // the language model reads the whole sentence and its End
	ranked  bool // compare the probabilities of whole sentences, not of the verbs
	forms   bool // compare the verb's forms by the probabilities of their tags and by the lexicon
}

// A coding converts rows to ids.
type coding struct {
	form
	v task.Vocabularies
}

// example encodes a row, which becomes the example's origin.
func (c coding) example(r row) task.Example {
	words := r.words()
	switch {
	case c.classes:
		source, _ := c.v.Source.EncodeLossy(words[:r.verb])
		class, _ := c.v.Target.ID(tagOfVerb(r.plural))
		return task.Example{Source: source, Target: []vocab.ID{class}, Origin: r}
	case c.whole:
		target, _ := c.v.Target.EncodeLossy(words)
		return task.Example{Target: append(target, vocab.End), Origin: r}
	}
	target, _ := c.v.Target.EncodeLossy(append(words[:r.verb], tagOfVerb(r.plural)))
	return task.Example{Target: target, Origin: r}
}

// examples encodes rows.
func (c coding) examples(rows []row) []task.Example {
	examples := make([]task.Example, len(rows))
	for i, r := range rows {
		examples[i] = c.example(r)
	}
	return examples
}

// file returns a function that reads the examples of a file. It notes what was skipped and how many words are unknown.
func (c coding) file(read func(path string) (rows []row, leftOut string, err error)) func(string) ([]task.Example, []string, error) {
	return func(path string) ([]task.Example, []string, error) {
		rows, leftOut, err := read(path)
		if err != nil {
			return nil, nil, err
		}
		var notes []string
		for _, line := range []string{leftOut, c.unknown(rows)} {
			if line != "" {
				notes = append(notes, path+": "+line)
			}
		}
		return c.examples(rows), notes, nil
	}
}

// alternatives returns the token that a language model should predict at the verb, and the other one: the forms of the verb if it reads whole
// sentences, and their tags otherwise.
func (c coding) alternatives(r row) (right, wrong string) {
	if c.whole {
		return r.words()[r.verb], r.other
	}
	return tagOfVerb(r.plural), tagOfVerb(!r.plural)
}

// inputVocabulary returns the vocabulary of the words that the model reads.
func (c coding) inputVocabulary() *vocab.Vocabulary {
	if c.classes {
		return c.v.Source
	}
	return c.v.Target
}

// numberRow makes a row from a preamble and a tag.
func numberRow(words []string) row {
	r := row{text: strings.Join(words, " "), verb: len(words) - 1, other: plural, attractors: unlabelled}
	if words[r.verb] == plural {
		r.plural, r.other = true, singular
	}
	return r
}
