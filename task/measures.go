package task

import (
	"context"
	"fmt"
	"math"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
)

// Accuracy determines how sequences are compared.
type Accuracy struct {
	Unknown vocab.ID                          // id of <unknown>: a reference that contains it never counts as correct; 0 if there is none
	Notes   func(examples []Example) []string // remarks on the examples; may be nil
}

// DecodedAccuracy decodes the examples and compares tokens and sequences: the paper's "char-acc" and "seq-acc".
type DecodedAccuracy struct{ Accuracy }

// Measure decodes every example.
func (d DecodedAccuracy) Measure(ctx context.Context, m Model, examples []Example) (Measurement, error) {
	decoded, err := m.Decode(ctx, examples)
	if err != nil {
		return Measurement{}, err
	}
	result, total, unfinished := Measurement{Method: m.Method()}, score.Score{}, 0
	for i, answer := range decoded {
		one := score.Score{}
		one.Add(answer.Tokens, without(examples[i].Target, d.Unknown))
		total = total.Plus(one)
		result.Answers = append(result.Answers, Answer{Tokens: answer.Tokens, Correct: one.Sequences.Correct == 1})
		if !answer.Finished {
			unfinished++
		}
	}
	result.Metrics, result.Notes = total.Metrics(), d.notes(examples)
	if unfinished > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d answers did not end and were cut off", unfinished, len(examples)))
	}
	return result, nil
}

// ForcedAccuracy predicts every target token from the true previous tokens. It agrees with greedy decoding on whole sequences: a
// sequence is correct if and only if each of its tokens is the most probable one after the true tokens before it. It differs on
// single tokens, because in decoding a wrong token may change everything after it. A wrongly predicted End does not end the sequence.
type ForcedAccuracy struct{ Accuracy }

// Measure scores every example.
func (f ForcedAccuracy) Measure(ctx context.Context, m Model, examples []Example) (Measurement, error) {
	scored, err := m.Score(ctx, examples)
	if err != nil {
		return Measurement{}, err
	}
	result, total := Measurement{Method: TeacherForcing}, score.Score{}
	for i, s := range scored {
		one := score.TeacherForced(s.Best, without(examples[i].Target, f.Unknown))
		total = total.Plus(one)
		result.Answers = append(result.Answers, Answer{Tokens: s.Best, Correct: one.Sequences.Correct == 1})
	}
	result.Metrics, result.Notes = total.Metrics(), f.notes(examples)
	return result, nil
}

func (a Accuracy) notes(examples []Example) []string {
	if a.Notes == nil {
		return nil
	}
	return a.Notes(examples)
}

// without returns a reference in which Unknown cannot be matched.
func without(reference []vocab.ID, unknown vocab.ID) []vocab.ID {
	if unknown == vocab.Padding {
		return reference
	}
	kept := make([]vocab.ID, len(reference))
	for i, id := range reference {
		if kept[i] = id; id == unknown {
			kept[i] = -1
		}
	}
	return kept
}

// ClassAccuracy is the accuracy of predicted classes. The class Unknown, for answers that do not occur in training, always counts as
// wrong; a note counts them.
type ClassAccuracy struct{ Unknown vocab.ID }

// Measure classifies every example.
func (c ClassAccuracy) Measure(ctx context.Context, m Model, examples []Example) (Measurement, error) {
	classified, err := m.Classify(ctx, examples)
	if err != nil {
		return Measurement{}, err
	}
	result, accuracy, unknown := Measurement{Method: Classes}, score.Accuracy{}, 0
	for i, answer := range classified {
		correct := c.Correct(answer, examples[i])
		accuracy = accuracy.Plus(score.Of(correct))
		if c.unknown(examples[i]) {
			unknown++
		}
		result.Answers = append(result.Answers, Answer{Tokens: []vocab.ID{answer.Class}, Correct: correct})
	}
	result.Metrics = []score.Metric{score.Share("accuracy", accuracy)}
	if unknown > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d correct answers do not occur in training: they always count as errors", unknown, len(examples)))
	}
	return result, nil
}

// Correct reports whether the predicted class is an example's class.
func (c ClassAccuracy) Correct(answer Classified, e Example) bool {
	return answer.Class == e.Target[0] && !c.unknown(e)
}

// unknown reports whether an example's class does not occur in training.
func (c ClassAccuracy) unknown(e Example) bool {
	return e.Target[0] == c.Unknown && c.Unknown != vocab.Padding
}

// Perplexity is exp of the mean cross entropy of the targets, per token and, if Words counts the words of an example, per word. It also
// reports the accuracy of the most probable tokens. Unknown targets are scored as the token <unknown>, and counted in a note.
type Perplexity struct {
	Words   func(e Example) int // if nil, perplexity per word is not computed
	Unknown vocab.ID
}

// Measure scores every example.
func (p Perplexity) Measure(ctx context.Context, m Model, examples []Example) (Measurement, error) {
	scored, err := m.Score(ctx, examples)
	if err != nil {
		return Measurement{}, err
	}
	var sum score.Perplexity
	var best score.Accuracy
	words, unknown := 0, 0
	for i, s := range scored {
		for at, logProb := range s.LogProbs {
			truth := examples[i].Target[at]
			sum = sum.Plus(score.Perplexity{Nats: -logProb, Tokens: 1})
			isUnknown := truth == p.Unknown && p.Unknown != vocab.Padding
			best = best.Plus(score.Of(s.Best[at] == truth && !isUnknown))
			if isUnknown {
				unknown++
			}
		}
		if p.Words != nil {
			words += p.Words(examples[i])
		}
	}
	result := Measurement{Method: TeacherForcing, Metrics: []score.Metric{score.Figure("perplexity per token", sum.Value())}}
	if words > 0 {
		result.Metrics = append(result.Metrics, score.Figure("perplexity per word", math.Exp(sum.Nats/float64(words))))
	}
	result.Metrics = append(result.Metrics, score.Figure("bits per token", sum.Nats/float64(max(sum.Tokens, 1))/math.Ln2), score.Share("token accuracy", best))
	if unknown > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%d of %d tokens are <unknown> and scored as that token", unknown, sum.Tokens))
	}
	return result, nil
}
