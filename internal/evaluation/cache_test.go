package evaluation_test

import (
	"math"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// texts are examples of a language model with repeated tokens, of several lengths.
func texts(n, vocabulary int) (examples []task.Example) {
	for i := range n {
		rng := seed.Rand(1, "texts", int64(i))
		var e task.Example
		for range 1 + rng.IntN(12) {
			e.Target = append(e.Target, 2+vocab.ID(rng.IntN(vocabulary-2)))
		}
		examples = append(examples, e)
	}
	return examples
}

// plainCache computes the distribution of every next token by plain loops over the whole vocabulary, from the states and logits of one example.
func plainCache(c evaluation.Cache, tokens []vocab.ID, states, logits []float32) (logProbs []float64, best []int) {
	n := len(tokens)
	width, size := len(states)/n, len(logits)/n
	for t := range n {
		p, sum := make([]float64, size), 0.0
		for w := range p {
			p[w] = math.Exp(float64(logits[t*size+w]))
			sum += p[w]
		}
		cache, all := make([]float64, size), 0.0
		for i := range t {
			dot := 0.0
			for d := range width {
				dot += float64(states[t*width+d]) * float64(states[i*width+d])
			}
			cache[tokens[i]] += math.Exp(c.Theta * dot)
			all += math.Exp(c.Theta * dot)
		}
		first := 0
		for w := range p {
			p[w] /= sum
			if t > 0 {
				p[w] = (1-c.Lambda)*p[w] + c.Lambda*cache[w]/all
			}
			if p[w] > p[first] {
				first = w
			}
		}
		logProbs, best = append(logProbs, math.Log(p[tokens[t]])), append(best, first)
	}
	return logProbs, best
}

// statesOf runs the model over one example and returns its states and logits.
func statesOf(t *testing.T, e *evaluation.Evaluator, tokens []vocab.ID) (states, logits []float32) {
	t.Helper()
	exec, err := model.NewExec(e.Backend, e.Store, func(scope *model.Scope, target *Node) (*Node, *Node) {
		scope.Store().SetTraining(target.Graph(), false)
		result := e.Model.Forward(scope, universal.Inputs{Target: target}, universal.Options{})
		return result.Factors.States, result.Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Call([][]int32{tokens})
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
}

// In batches, scores with a cache are those of plain loops over the whole vocabulary, of Universal Transformers with a tied and an own readout
// and of LSTMs; lambda 0 is the model alone.
// Caught when planted: the state of the token after, the token itself in its cache, weights of another row, an own readout taken for a tied
// one, theta left out, a softmax over all positions, the best token of the model alone.
func TestCacheAgreesWithPlainLoops(t *testing.T) {
	const size = 11
	c := universal.Config{
		TargetVocabulary: size, Width: 8, Heads: 2, Seed: 3, ScaleEmbedding: true, TiedReadout: true, PreNorm: true,
		Transition: universal.FeedForward{Filter: 8}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}},
	}
	own := c
	own.TiedReadout, own.Halting = false, halting.Fixed{Steps: 2}
	for name, m := range map[string]universal.Model{
		"adaptive": universal.Decoder{Config: c}, "own readout": universal.Decoder{Config: own},
		"LSTM": lstm.Decoder{Config: lstm.Config{TargetVocabulary: size, Width: 8, Layers: 2, Seed: 3, ScaleEmbedding: true, TiedReadout: true}},
	} {
		e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Tokens: 40, Boundaries: []int{3, 6}}}
		examples := texts(30, size)
		changed := 0
		for _, cache := range []evaluation.Cache{{Theta: 0.5, Lambda: 0.4}, {Theta: 0, Lambda: 0.9}, {Theta: 3, Lambda: 0.1}, {Theta: 1}} {
			e.Cache = nil
			alone, err := e.Score(t.Context(), examples)
			if err != nil {
				t.Fatal(err)
			}
			e.Cache = &cache
			scored, err := e.Score(t.Context(), examples)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range scored {
				states, logits := statesOf(t, e, examples[i].Target)
				want, best := plainCache(cache, examples[i].Target, states, logits)
				for at := range want {
					if math.Abs(s.LogProbs[at]-want[at]) > 2e-5 || int(s.Best[at]) != best[at] {
						t.Fatalf("%s, %s, example %d, token %d: %v and %d, want %v and %d", name, cache, i, at, s.LogProbs[at], s.Best[at], want[at], best[at])
					}
					if s.Best[at] != alone[i].Best[at] {
						changed++
					}
					if d := math.Abs(s.LogProbs[at] - alone[i].LogProbs[at]); cache.Lambda == 0 && d > 1e-5 || cache.Lambda > 0.3 && at > 0 && d == 0 {
						t.Errorf("%s, %s, example %d, token %d: %v, alone %v", name, cache, i, at, s.LogProbs[at], alone[i].LogProbs[at])
					}
				}
			}
		}
		if changed < 20 {
			t.Errorf("%s: a cache changes %d answers: the case shows little", name, changed)
		}
	}
}

// Tuning chooses the pair of the grid whose perplexity, measured with each pair by itself, is lowest; on texts that repeat themselves it is
// far below that of the model alone. Caught when planted: the highest, the last of the grid, the perplexity of other examples.
func TestTuneCache(t *testing.T) {
	m := universal.Decoder{Config: universal.Config{
		TargetVocabulary: 40, Width: 8, Heads: 2, Seed: 3, ScaleEmbedding: true, TiedReadout: true,
		Transition: universal.FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2},
	}}
	e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: m, Plan: batch.Plan{Tokens: 60}}
	examples := texts(20, 40)
	for i := range examples { // say everything twice
		examples[i].Target = append(examples[i].Target, examples[i].Target...)
	}
	best, err := e.TuneCache(t.Context(), task.Perplexity{}, examples)
	if err != nil || best.Validate() != nil {
		t.Fatal(err)
	}
	perplexity := func(c *evaluation.Cache) float64 {
		e.Cache = c
		row, err := e.Measure(t.Context(), task.Perplexity{}, examples)
		if err != nil {
			t.Fatal(err)
		}
		if c != nil && !strings.Contains(strings.Join(row.Notes, "\n"), c.String()) {
			t.Errorf("no note says %s: %q", c, row.Notes)
		}
		return row.Metrics[0].Value
	}
	chosen, alone := perplexity(&best), perplexity(nil)
	if chosen > 0.8*alone || best.Lambda < 0.1 {
		t.Errorf("%s: %v, alone %v", best, chosen, alone)
	}
	for _, other := range []evaluation.Cache{{0, 0.02}, {0, 0.3}, {0.1, 0.3}, {0.3, 0.5}, {1, 0.7}, {1, 0.02}, {0.03, 0.4}} {
		if p := perplexity(&other); p < chosen*(1-1e-9) {
			t.Errorf("%s has %v, but %s was chosen with %v", other, p, best, chosen)
		}
	}
}

// What has no perplexity, or is no language model, has no cache: an error says so.
func TestNoCache(t *testing.T) {
	c := universal.Config{
		SourceVocabulary: 9, TargetVocabulary: 9, Width: 8, Heads: 2, Seed: 3, Transition: universal.FeedForward{Filter: 8}, Halting: halting.Fixed{Steps: 2},
	}
	examples := []task.Example{{Source: []vocab.ID{3, 4}, Target: []vocab.ID{5, 6, 1}}}
	e := &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: universal.EncoderDecoder{Config: c}, Plan: batch.Plan{Tokens: 60}}
	if _, err := e.TuneCache(t.Context(), task.Perplexity{}, examples); err == nil || !strings.Contains(err.Error(), "needs a language model") {
		t.Errorf("an encoder-decoder: %v", err)
	}
	e = &evaluation.Evaluator{Backend: enginetest.Backend(t), Store: model.NewStore(), Model: universal.Decoder{Config: c}, Plan: batch.Plan{Tokens: 60}}
	if _, err := e.TuneCache(t.Context(), task.ForcedAccuracy{}, texts(3, 9)); err == nil || !strings.Contains(err.Error(), "no perplexity") {
		t.Errorf("accuracies: %v", err)
	}
	for want, c := range map[string]evaluation.Cache{"theta is -1": {Theta: -1}, "theta is NaN": {Theta: math.NaN()}, "theta is +Inf": {Theta: math.Inf(1)}, "theta is 1e+308: it must be from 0 to 1e+06": {Theta: 1e308}, "lambda is 1": {Lambda: 1}, "lambda is -0.1": {Lambda: -0.1}} {
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
