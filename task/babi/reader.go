package babi

import (
	"fmt"
	"slices"
	"strings"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// reader reads stories for a trained model.
type reader struct {
	coding Coding
	task   int // 0: all
}

// Read reads a story and its question as [Story] does, and keeps only the facts that would be kept in training.
func (r reader) Read(text string) (in task.Input, err error) {
	q, err := Story(text)
	if err != nil {
		return in, err
	}
	q.Task = r.task
	if r.task == 0 { // a model of all tasks was trained on the longest stories of any task
		q.Task = longestStories
	}
	q = recent(q)
	unknown, long := r.coding.Unknown(q)
	if long {
		return in, fmt.Errorf("a sentence has more than %d words, punctuation included, which is the model's maximum: make it shorter", r.coding.TokensPerPosition)
	}
	in = task.Input{Source: r.coding.Example(q).Source, Labels: append(slices.Clone(q.Facts), q.Text), Unknown: unknown}
	if answer := printedAnswer(q); answer != "" {
		in.Answer, _ = r.Target(answer) // none if the training data do not have its words
	}
	return in, err
}

// printedAnswer returns the answer to a story that the paper prints, "" for other stories.
func printedAnswer(q Question) string {
	for _, s := range Stories {
		if p, err := Story(s.Text); err == nil && p.Text == q.Text && slices.Equal(p.Facts, q.Facts) {
			return s.Answer
		}
	}
	return ""
}

// Target returns the class of an answer.
func (r reader) Target(answer string) ([]vocab.ID, error) {
	return r.coding.Target.Encode([]string{strings.TrimSpace(answer)})
}

// File reads a file of the distribution, or another one in the same format, in which questions may lack the numbers of supporting facts.
func (r reader) File(path string) ([]task.Example, []string, error) {
	questions, err := parser{lenient: true}.file(path)
	if err != nil {
		return nil, nil, err
	}
	n := r.task
	if n == 0 {
		n = longestStories // as in Read
	}
	if named := (Babi{StandIn: path}).standsFor(); named != 0 {
		n = named
	}
	var notes []string
	examples, unknown := make([]task.Example, len(questions)), 0
	for i, q := range questions {
		q.Task = n
		q = recent(q) // facts that are dropped may have any words, as in Read
		words, long := r.coding.Unknown(q)
		if long {
			return nil, nil, fmt.Errorf("%s:%d: a sentence has more than %d words, which is the model's maximum", path, q.Line, r.coding.TokensPerPosition)
		}
		if len(words) > 0 {
			unknown++
		}
		examples[i] = r.coding.Example(q)
	}
	if unknown > 0 {
		notes = append(notes, fmt.Sprintf("%d of %d questions have words that do not occur in training", unknown, len(questions)))
	}
	return examples, notes, nil
}
