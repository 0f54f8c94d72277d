package pipeline

import (
	"context"
	"fmt"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/task"
)

// Pair is a text to score: a source and an answer; a language model reads only the target.
type Pair struct{ Source, Target string }

// Scored is a text with the log-probability of each of its tokens.
type Scored struct {
	task.Scored
	Tokens  []string // as the vocabulary spells them, including End if texts end with it
	Unknown int      // number of tokens outside the vocabulary
	Err     error    // the reason why this text has no probability, or nil
}

// Score returns the log-probability of every token of the targets, given the true tokens before it: of answers to sources or, for a
// language model, of texts. A text that cannot be read, or that has more than [DefaultMaxSource] tokens, has an error of its own.
func (m *Model) Score(ctx context.Context, pairs []Pair) ([]Scored, error) {
	return m.ScoreUpTo(ctx, pairs, DefaultMaxSource)
}

// ScoreUpTo is like Score with another maximum number of tokens of a source or text.
func (m *Model) ScoreUpTo(ctx context.Context, pairs []Pair, most int) ([]Scored, error) {
	if m.Run.Task.Value.Kind() == task.Tagging {
		return nil, m.CanScore()
	}
	scored := make([]Scored, len(pairs))
	var examples []task.Example
	var at []int
	for i, p := range pairs {
		e, err := m.example(p, most)
		if scored[i].Err = err; err == nil {
			examples, at = append(examples, e), append(at, i)
		}
	}
	failed := func(i int, err error) {
		scored[at[i]].Err = queue.SourceError(err, max(len(examples[i].Source), len(examples[i].Target)))
	}
	err := m.inTurns(ctx, failed, func(e *evaluation.Evaluator) error {
		found, err := e.Score(ctx, examples)
		for i := range found {
			if s := &scored[at[i]]; s.Err == nil {
				if s.Err = checkFinite(found[i].LogProbs); s.Err == nil {
					*s = m.spelled(found[i], examples[i])
				}
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return scored, nil
}

// example reads a pair whose sides have at most most tokens.
func (m *Model) example(p Pair, most int) (e task.Example, err error) {
	if e.Target, err = m.reader.Target(p.Target); err != nil {
		return e, err
	}
	if n := len(task.WithoutEnd(e.Target)); n > most {
		return e, &LengthError{fmt.Sprintf("the text has %d tokens, more than max-source, %d: shorten it, or allow more", n, most), n}
	}
	if m.Run.Task.Value.Kind() == task.LanguageModeling {
		return e, nil
	}
	in, err := m.Read(p.Source)
	if err != nil {
		return e, fmt.Errorf("source: %w", err)
	}
	if n := len(in.Labels); n > most {
		return e, &LengthError{fmt.Sprintf("the source has %d tokens, more than max-source, %d: shorten it, or allow more", n, most), n}
	}
	e.Source = in.Source
	return e, nil
}

// spelled adds the tokens of an example to its scores.
func (m *Model) spelled(found task.Scored, e task.Example) Scored {
	s, v := Scored{Scored: found}, m.Vocabularies.Target
	unknown, has := v.Unknown()
	for _, id := range e.Target {
		if s.Tokens = append(s.Tokens, v.Token(id)); has && id == unknown {
			s.Unknown++
		}
	}
	return s
}
