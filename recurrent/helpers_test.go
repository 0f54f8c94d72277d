package recurrent_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/recurrent"
	"universal-transformer/universal"
)

func small() recurrent.Config {
	return recurrent.Config{SourceVocabulary: 7, TargetVocabulary: 5, Width: 3, Layers: 2, Seed: 5, Precision: dtypes.Float64}
}

// models is every model with its options.
func models() map[string]universal.Model {
	shared := small()
	shared.TargetVocabulary, shared.SharedEmbedding, shared.TiedReadout, shared.ScaleEmbedding, shared.Layers = 7, true, true, true, 1
	pairs := small()
	pairs.TokensPerPosition = 2
	return map[string]universal.Model{
		"encoder-decoder":                    recurrent.EncoderDecoder{Config: small()},
		"encoder-decoder, attention":         recurrent.EncoderDecoder{Config: small(), Attention: true},
		"encoder-decoder, one table for all": recurrent.EncoderDecoder{Config: shared, Attention: true},
		"encoder, mean":                      recurrent.Encoder{Config: small()},
		"encoder, last":                      recurrent.Encoder{Config: small(), Pool: universal.Last},
		"encoder, two tokens a position":     recurrent.Encoder{Config: pairs},
		"decoder":                            recurrent.Decoder{Config: small()},
	}
}

func hasSource(m universal.Model) bool  { _, not := m.(recurrent.Decoder); return !not }
func classifies(m universal.Model) bool { _, is := m.(recurrent.Encoder); return is }

// inputs are those of a model in a graph.
func inputs(m universal.Model, nodes []*Node) universal.Inputs {
	in := universal.Inputs{Target: nodes[1]}
	if hasSource(m) {
		in.Source = nodes[0]
	}
	return in
}

// machine runs one model; its variables are random numbers that depend on their names only.
type machine struct {
	t     *testing.T
	store *model.Store
	exec  *model.Exec
}

func newMachine(t *testing.T, m universal.Model, training bool) *machine {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	x := &machine{t: t, store: model.NewStore()}
	var err error
	if x.exec, err = model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, nodes []*Node) []*Node {
		scope.Store().SetTraining(nodes[1].Graph(), training)
		result := m.Forward(scope, inputs(m, nodes), universal.Options{ReturnAttention: true})
		out := []*Node{result.Logits}
		if result.Decoder != nil {
			out = append(out, result.Decoder.CrossAttention...)
		}
		return out
	}); err != nil {
		t.Fatal(err)
	}
	x.exec.SetMaxCache(-1)
	t.Cleanup(x.exec.Finalize)
	x.run([][]int32{{1, 2}}, [][]int32{{1, 2}})
	for v := range x.store.IterVariables() {
		if v.Path() == "/"+model.RNGStateVariableName {
			continue
		}
		h := fnv.New64()
		_, _ = h.Write([]byte(v.Path()))
		rng := rand.New(rand.NewPCG(h.Sum64(), 19))
		values := make([]float64, v.Shape().Size())
		for i := range values {
			values[i] = 0.7 * rng.NormFloat64()
		}
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// run gives the logits, and the shares of attention if there is any, flat.
func (x *machine) run(source, target [][]int32) (logits, attention []float64) {
	x.t.Helper()
	out, err := x.exec.Call(source, target)
	if err != nil {
		x.t.Fatal(err)
	}
	if len(out) > 1 {
		attention = tensors.MustCopyFlatData[float64](out[1])
	}
	return tensors.MustCopyFlatData[float64](out[0]), attention
}

// rectangle pads rows to a length.
func rectangle(rows [][]int32, length int) [][]int32 {
	var padded [][]int32
	for _, row := range rows {
		padded = append(padded, append(slices.Clone(row), make([]int32, length-len(row))...))
	}
	return padded
}

// apart is the largest difference of two lists, infinite if one holds something that is no number.
func apart(a, b []float64) float64 {
	if len(a) != len(b) {
		return math.Inf(1)
	}
	worst := 0.0
	for i := range a {
		if d := math.Abs(a[i] - b[i]); d <= math.MaxFloat64 {
			worst = max(worst, d)
		} else {
			return math.Inf(1)
		}
	}
	return worst
}
