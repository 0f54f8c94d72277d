package lambada

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// known is a model whose answers are given.
type known struct {
	task.Model // no other method is called
	scored     []task.Scored
	classes    []vocab.ID
}

func (known) Decode(context.Context, []task.Example) ([]task.Decoded, error) {
	return nil, fmt.Errorf("nothing is decoded")
}
func (known) Method() string                                                 { return "" }
func (k known) Score(context.Context, []task.Example) ([]task.Scored, error) { return k.scored, nil }
func (k known) Classify(context.Context, []task.Example) (out []task.Classified, _ error) {
	for _, c := range k.classes {
		out = append(out, task.Classified{Class: c})
	}
	return out, nil
}

func metrics(m task.Measurement) map[string]score.Metric {
	by := map[string]score.Metric{}
	for _, metric := range m.Metrics {
		by[metric.Name] = metric
	}
	return by
}

// Last words are measured as plain loops over exported log-probabilities measure them, to 1e-9: perplexity over last words only, all and
// covered; words that are not known are errors even where <unknown> is the most probable.
// Caught when planted: perplexity over all tokens, the mean of exps, unknown words right or left out, the token before the last.
func TestLastWordAgreesWithPlainLoops(t *testing.T) {
	d := data(t)
	tk := opened(t, Language{Data: d})
	v, rng := tk.Vocabularies().Target, rand.New(rand.NewPCG(5, 6))
	unknown, _ := v.Unknown()
	examples, err := tk.HeldOut(1, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	var scored []task.Scored
	for i, e := range examples {
		s := task.Scored{}
		for _, id := range e.Target {
			s.LogProbs = append(s.LogProbs, -5*rng.Float64())
			s.Best = append(s.Best, []vocab.ID{id, 3, unknown}[i%5*i%3])
		}
		scored = append(scored, s)
	}
	result, err := Language{Data: d}.Measure(tk.Vocabularies()).Measure(t.Context(), known{scored: scored}, examples)
	if err != nil {
		t.Fatal(err)
	}
	var last, covered, tokens, n, right, rightCovered, words float64
	for i, line := range strings.Split(strings.TrimSpace(string(read(t, d.Path, Test))), "\n") { // from the file, not from ids
		spelled := strings.Fields(line)
		for _, p := range scored[i].LogProbs {
			tokens, words = tokens-p, words+1
		}
		p := scored[i].LogProbs[len(spelled)-1]
		last -= p
		if word := spelled[len(spelled)-1]; word != "xantippe" {
			covered, n = covered-p, n+1
			if v.Token(scored[i].Best[len(spelled)-1]) == word {
				right, rightCovered = right+1, rightCovered+1
			}
		}
	}
	all := float64(len(examples))
	for name, want := range map[string]float64{
		"last word accuracy": right / all, "accuracy of covered": rightCovered / n, "covered": n / all,
		"last word perplexity": math.Exp(last / all), "perplexity of covered": math.Exp(covered / n), "all tokens perplexity": math.Exp(tokens / words),
	} {
		if got := metrics(result)[name].Value; math.Abs(got-want) > 1e-9*want || want == 0 {
			t.Errorf("%s is %v, plain loops say %v", name, got, want)
		}
	}
	notes := strings.Join(result.Notes, "\n")
	for _, want := range []string{"20 of 60 last words are unknown", "the most probable last word is <unknown>"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
}

// The figures of reading beside a model's, worked out by hand.
// Caught when planted: the first of equally frequent words, function words among content words, the ceiling over all words of the
// passage, an answer that is <unknown> taken for right.
func TestAnswersBaselines(t *testing.T) {
	d := data(t)
	tk := opened(t, Reading{Data: d})
	var examples []task.Example
	var classes []vocab.ID
	for _, c := range []struct{ passage, answer string }{
		{"anna took the lantern . anna , the old anna . and then came anna", "anna"}, // 4 content words in the context; most frequent: right; last: right; model: right
		{"boris took the lantern of anna . and then came boris", "lantern"},          // all once: the last, anna, is the most frequent too
		{"yorick took the lantern . then came yorick", "<word-1>"},                   // a marker; model right
		{"yorick took the lantern . then xantippe came , and xantippe", "<word-1>"},  // stands in the question only
		{"the lantern of anna . then came zacharias", "<unknown>"},                   // nowhere: never right
	} {
		examples = append(examples, tk.coding.question(newPassage(strings.Fields(c.passage), 1)))
		id, ok := tk.Vocabularies().Target.ID(c.answer)
		if !ok {
			t.Fatal(c.answer)
		}
		classes = append(classes, id)
	}
	result, err := Reading{Data: d}.Measure(tk.Vocabularies()).Measure(t.Context(), known{classes: classes}, examples)
	if err != nil {
		t.Fatal(err)
	}
	got := metrics(result)
	for name, want := range map[string]score.Accuracy{
		"accuracy": {Correct: 2, Total: 5}, "ceiling": {Correct: 3, Total: 5},
		"most frequent content word": {Correct: 1, Total: 5}, "last content word": {Correct: 1, Total: 5},
	} {
		if got[name].Accuracy != want {
			t.Errorf("%s is %v, want %v", name, got[name].Accuracy, want)
		}
	}
	for i, want := range []string{"anna", "lantern", "yorick", "yorick", "<unknown>"} { // the markers' words
		if got := result.Answers[i].Text; got != want {
			t.Errorf("answer %d reads %q, want %q", i, got, want)
		}
	}
	if source, target := examples[2].Origin.(task.Readable).Text(); source != "yorick took the lantern . then came" || target != "yorick" {
		t.Errorf("%q, %q", source, target)
	}
	// distinct content words: anna took lantern old; boris took lantern anna; yorick took lantern
	if want := (1/4.0 + 1/4.0 + 1/3.0) / 5; math.Abs(got["random content word"].Value-want) > 1e-12 {
		t.Errorf("random is %v, want %v", got["random content word"].Value, want)
	}
	if notes := strings.Join(result.Notes, "\n"); !strings.Contains(notes, "2 of 5 correct answers do not occur in their contexts") || !strings.Contains(notes, "the model's") {
		t.Errorf("notes: %s", notes)
	}
}
