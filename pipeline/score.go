package pipeline

import (
	"context"
	"fmt"
	"strings"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/task"
)

// Pair is a text to score: a source and an answer; a language model reads only the target.
type Pair struct{ Source, Target string }

// Scored is a text with the log-probability of each of its tokens.
type Scored struct {
	task.Scored
	Tokens        []string // as the vocabulary spells them, including End if texts end with it
	UnknownCount  int      // number of tokens outside the vocabulary
	Unknown       []string // these tokens, as the text has them
	UnknownSource []string // tokens of the source outside its vocabulary, as the source has them
	Err           error    // the reason why this text has no probability, or nil
}

// Score returns the log-probability of every token of the targets, given the true tokens before it: of answers to sources or, for a
// language model, of texts. A text that cannot be read, or a side of more than maxSource tokens (0: [DefaultMaxSource]), has an error of
// its own.
func (m *Model) Score(ctx context.Context, pairs []Pair, maxSource int) ([]Scored, error) {
	if err := m.CanScore(); err != nil {
		return nil, err
	}
	scored := make([]Scored, len(pairs))
	var examples []task.Example
	var at []int
	for i, p := range pairs {
		e, unknown, err := m.example(p, maxSource)
		if scored[i] = (Scored{UnknownSource: unknown, Err: err}); err == nil {
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
					source := s.UnknownSource
					*s = m.spelled(found[i], examples[i])
					s.Unknown, s.UnknownSource = m.unknownIn(pairs[at[i]].Target), source
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

// unknownIn returns the tokens of a target that the model does not know.
func (m *Model) unknownIn(target string) (list []string) {
	if m.Run.Task.Value.Kind() == task.LanguageModeling {
		in, _ := m.reader.Read(target) // which has been read without an error
		return in.Unknown
	}
	v := m.Vocabularies.Target
	if !v.HasUnknown() {
		return nil
	}
	tokens, _ := m.Vocabularies.Split(strings.TrimSpace(target))
	for _, token := range tokens {
		if _, known := v.ID(token); !known {
			list = append(list, token)
		}
	}
	return list
}

// Size returns the number of tokens of a pair that is scored, without ends, or an error if it has no score, as in Score.
func (m *Model) Size(p Pair, maxSource int) (int, error) {
	e, _, err := m.example(p, maxSource)
	return len(task.WithoutEnd(e.Source)) + len(task.WithoutEnd(e.Target)), err
}

// example reads a pair whose sides have at most maxSource tokens, and returns the tokens of the source that the model does not know, too.
func (m *Model) example(p Pair, maxSource int) (e task.Example, unknown []string, err error) {
	if e.Target, err = m.reader.Target(p.Target); err != nil {
		return e, nil, err
	}
	if err := checkLength(len(task.WithoutEnd(e.Target)), maxSource); err != nil {
		return e, nil, fmt.Errorf("text: %w", err)
	}
	if m.Run.Task.Value.Kind() == task.LanguageModeling {
		return e, nil, nil
	}
	in, err := m.readUpTo(p.Source, maxSource)
	if err != nil {
		return e, nil, fmt.Errorf("source: %w", err)
	}
	e.Source = in.Source
	return e, in.Unknown, nil
}

// spelled adds the tokens of an example to its scores.
func (m *Model) spelled(found task.Scored, e task.Example) Scored {
	s, v := Scored{Scored: found}, m.Vocabularies.Target
	unknown, has := v.Unknown()
	for _, id := range e.Target {
		if s.Tokens = append(s.Tokens, v.Token(id)); has && id == unknown {
			s.UnknownCount++
		}
	}
	return s
}
