package babi

import (
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Coding converts questions to ids and classes back to words. A sentence has TokensPerPosition ids.
type Coding task.Vocabularies

// Example encodes a question: every fact, and then the question itself, as TokensPerPosition ids each. Excess words are cut off.
func (c Coding) Example(q Question) task.Example {
	e := task.Example{Source: make([]vocab.ID, (len(q.Facts)+1)*c.TokensPerPosition)}
	for i, fact := range q.Facts {
		c.place(e.Source[i*c.TokensPerPosition:(i+1)*c.TokensPerPosition], fact)
	}
	c.place(e.Source[len(q.Facts)*c.TokensPerPosition:], q.Text)
	answer, _ := c.Target.EncodeLossy([]string{q.Answer})
	e.Target, e.Origin = answer, Origin{q}
	return e
}

// place writes the ids of a sentence to the beginning of row.
func (c Coding) place(row []vocab.ID, sentence string) {
	at := 0
	for word := range strings.SplitSeq(sentence, " ") {
		if at == len(row) {
			return
		}
		id, ok := c.Source.ID(word)
		if !ok {
			id, _ = c.Source.Unknown()
		}
		row[at] = id
		at++
	}
}

// Examples encodes questions.
func (c Coding) Examples(questions []Question) []task.Example {
	examples := make([]task.Example, len(questions))
	for i, q := range questions {
		examples[i] = c.Example(q)
	}
	return examples
}

// Unknown lists the words of a question that are not in the vocabulary, and reports whether a sentence is longer than any in training.
func (c Coding) Unknown(q Question) (words []string, long bool) {
	for _, sentence := range append(q.Facts[:len(q.Facts):len(q.Facts)], q.Text) {
		split := strings.Fields(sentence)
		long = long || len(split) > c.TokensPerPosition
		for _, w := range split {
			if _, ok := c.Source.ID(w); !ok {
				words = append(words, w)
			}
		}
	}
	return words, long
}
