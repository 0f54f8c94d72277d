package decoding_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// The steps that are reported with each token are those of a pass over the source and the whole answer, for answers that are decoded
// together, of language models with prompts of unequal lengths too; counting steps changes no answer.
// Caught when planted: steps of another source, of the position before, of the first position of a prompt.
func TestStepsOfTokens(t *testing.T) {
	sources := [][]vocab.ID{{3, 5, 2, 4}, {4, 2, 5, 5, 4, 3, 2, 2, 4}, {5, 2, 3}, {2, 4, 4, 3, 5, 2}} // a prompt begins with 4 positions that are read at once
	limits, different := []int{9, 20, 5, 14}, map[int]bool{}
	for name, config := range pairedModels(dtypes.Float64) {
		for _, language := range []bool{false, true} {
			if strings.HasPrefix(name, "halting.Length") && language {
				continue
			}
			var m decoding.Model = universal.EncoderDecoder{Config: config}
			if language {
				m = universal.Decoder{Config: config}
			}
			store := randomWeights(t, m)
			d, err := decoding.New(enginetest.Backend(t), store, m)
			if err != nil {
				t.Fatal(err)
			}
			plain, err := d.Decode(t.Context(), sources, limits, decoding.Method{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			queries, steps := make([]decoding.Query, len(sources)), make([][]int, len(sources))
			for i := range queries {
				queries[i] = decoding.Query{Source: sources[i], Limit: limits[i]}
				if i > 0 { // the first one does not ask
					queries[i].OnSteps = func(token, n int) {
						if token != len(steps[i]) {
							t.Errorf("%s: token %d after %d others", name, token, len(steps[i]))
						}
						steps[i] = append(steps[i], n)
					}
				}
			}
			counted, err := d.Answer(t.Context(), queries, decoding.Method{}, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, h := range counted {
				if !slices.Equal(h.Tokens, plain[i].Tokens) || h.LogProb != plain[i].LogProb {
					t.Errorf("%s: %v when steps are counted, else %v", name, h, plain[i])
				}
				if i == 0 {
					continue
				}
				want := stepsOfPass(t, m, store, sources[i], h.Tokens, language)
				if !slices.Equal(steps[i], want) {
					t.Errorf("%s, language %v: source %d took steps %v, want %v", name, language, i, steps[i], want)
				}
				for _, n := range want {
					different[n] = true
				}
			}
			d.Close()
		}
	}
	if len(different) < 3 {
		t.Errorf("all positions run %v steps: this shows little", different)
	}
}

// stepsOfPass returns the steps of the positions that chose the tokens of an answer, from one pass over all of it.
func stepsOfPass(t *testing.T, m universal.Model, store *model.Store, source, answer []vocab.ID, language bool) (steps []int) {
	t.Helper()
	target := answer
	if language {
		target = slices.Concat(source, answer)
	}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		scope.Store().SetTraining(target.Graph(), false)
		return ConvertDType(m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Decoder.Updates, dtypes.Int32)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{source}, [][]int32{target})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range tensors.MustCopyFlatData[int32](out[0])[len(target)-len(answer):] {
		steps = append(steps, int(n))
	}
	return steps
}
