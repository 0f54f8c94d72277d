package task_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// given is a model whose answers are known.
type given struct {
	task.Model // no other method is called
	decoded    []task.Decoded
	scored     []task.Scored
	classified []task.Classified
}

func (g given) Decode(context.Context, []task.Example) ([]task.Decoded, error) { return g.decoded, nil }
func (g given) Score(context.Context, []task.Example) ([]task.Scored, error)   { return g.scored, nil }
func (g given) Classify(context.Context, []task.Example) ([]task.Classified, error) {
	return g.classified, nil
}
func (given) Method() string { return "by hand" }

// A token that the vocabulary does not have is never right, however often it is predicted: not in decoding, not with teacher
// forcing, not as a class. Whole sequences count up to their end.
// Caught when planted: <unknown> that matches itself.
func TestUnknownIsNeverRight(t *testing.T) {
	const unknown vocab.ID = 7
	examples := []task.Example{{Target: []vocab.ID{2, 3, 1}}, {Target: []vocab.ID{2, unknown, 1}}, {Target: []vocab.ID{4, 4, 1}}}
	answers := [][]vocab.ID{{2, 3, 1}, {2, unknown, 1}, {4, 5, 1}}
	g := given{}
	for _, a := range answers {
		g.decoded, g.scored = append(g.decoded, task.Decoded{Tokens: a, Finished: len(g.decoded) > 0}), append(g.scored, task.Scored{Best: a})
	}
	for method, measure := range map[string]task.Measure{
		"by hand": task.DecodedAccuracy{Accuracy: task.Accuracy{Unknown: unknown}}, task.TeacherForcing: task.ForcedAccuracy{Accuracy: task.Accuracy{Unknown: unknown}},
	} {
		got, err := measure.Measure(t.Context(), g, examples)
		if err != nil || got.Method != method || got.Metrics[0].Accuracy != (score.Accuracy{Correct: 7, Total: 9}) || got.Metrics[1].Accuracy != (score.Accuracy{Correct: 1, Total: 3}) {
			t.Errorf("%s: %+v, %v", method, got, err)
		}
		for i, want := range []bool{true, false, false} {
			if got.Answers[i].Correct != want || !slices.Equal(got.Answers[i].Tokens, answers[i]) {
				t.Errorf("%s: answer %d is %+v", method, i, got.Answers[i])
			}
		}
		if cut := len(got.Notes) == 1 && strings.Contains(got.Notes[0], "1 of 3 answers did not end"); cut != (method == "by hand") {
			t.Errorf("%s: notes %q", method, got.Notes)
		}
	}
	classes := given{classified: []task.Classified{{Class: 3}, {Class: unknown}, {Class: 4}}}
	truth := []task.Example{{Target: []vocab.ID{3}}, {Target: []vocab.ID{unknown}}, {Target: []vocab.ID{5}}}
	if got, err := (task.ClassAccuracy{Unknown: unknown}).Measure(t.Context(), classes, truth); err != nil || got.Metrics[0].Accuracy != (score.Accuracy{Correct: 1, Total: 3}) ||
		!slices.Equal(got.Notes, []string{"1 of 3 correct answers do not occur in training: they always count as errors"}) {
		t.Errorf("classes: %+v, %v", got, err)
	}
}

// Perplexity is exp of the mean cross entropy: of tokens by their number, of words by theirs. Here tokens have probabilities
// 1/2, 1/4, 1/8, 1/16, so 10 bits for 4 tokens, or 2 words.
// Caught when planted: a mean of perplexities, words counted as tokens.
func TestPerplexity(t *testing.T) {
	const unknown vocab.ID = 9
	p := func(bits ...float64) (logProbs []float64) {
		for _, b := range bits {
			logProbs = append(logProbs, -b*math.Ln2)
		}
		return logProbs
	}
	g := given{scored: []task.Scored{{LogProbs: p(1, 2, 3), Best: []vocab.ID{2, 3, 5}}, {LogProbs: p(4), Best: []vocab.ID{unknown}}}}
	examples := []task.Example{{Target: []vocab.ID{2, 3, 4}}, {Target: []vocab.ID{unknown}}}
	got, err := task.Perplexity{Words: func(task.Example) int { return 1 }, Unknown: unknown}.Measure(t.Context(), g, examples)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []score.Metric{
		score.Figure("perplexity per token", math.Pow(2, 2.5)), score.Figure("perplexity per word", 32), score.Figure("bits per token", 2.5),
		score.Share("token accuracy", score.Accuracy{Correct: 2, Total: 4}),
	} {
		if have := got.Metrics[i]; have.Name != want.Name || math.Abs(have.Value-want.Value) > 1e-12 || have.Accuracy != want.Accuracy {
			t.Errorf("%+v, want %+v", have, want)
		}
	}
	if len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "1 of 4 tokens are <unknown>") {
		t.Errorf("%q", got.Notes)
	}
	if without, err := (task.Perplexity{}).Measure(t.Context(), g, examples); err != nil || len(without.Metrics) != 3 {
		t.Errorf("without words: %+v, %v", without, err)
	}
}
