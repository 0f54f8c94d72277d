// Package modeltest runs a model in float64 with arbitrary weights, for tests that compare its results with other computations. It lists the
// variants of models that property tests run with: [Policies], [Transitions], [Variants].
package modeltest

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/universal"
)

// A Machine runs one model. Its variables are random numbers with standard deviation 0.7 that depend only on their names.
type Machine struct {
	Store *model.Store

	t    testing.TB
	exec *model.Exec
}

// New returns a machine for a model, in training or not. inputs converts the nodes of sources and targets to the model's inputs.
func New(t testing.TB, m universal.Model, training bool, inputs func(source, target *graph.Node) universal.Inputs) *Machine {
	t.Helper()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	x := &Machine{t: t, Store: model.NewStore()}
	var err error
	if x.exec, err = model.NewExec(enginetest.Backend(t), x.Store, func(scope *model.Scope, nodes []*graph.Node) []*graph.Node {
		scope.Store().SetTraining(nodes[1].Graph(), training)
		result := m.Forward(scope, inputs(nodes[0], nodes[1]), universal.Options{ReturnAttention: true})
		out := []*graph.Node{result.Logits}
		if result.Decoder != nil {
			out = append(out, result.Decoder.CrossAttention...)
		}
		return out
	}); err != nil {
		t.Fatal(err)
	}
	x.exec.SetMaxCache(-1)
	t.Cleanup(x.exec.Finalize)
	x.Run([][]int32{{1, 2}}, [][]int32{{1, 2}})
	for v := range x.Store.IterVariables() {
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

// Run returns the logits and, if the decoder attends to the source, the attention weights, as flat slices.
func (x *Machine) Run(source, target [][]int32) (logits, attention []float64) {
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

// Parameter returns the entries of the parameter with a public name, in row order.
func Parameter(t testing.TB, store *model.Store, name string) []float64 {
	t.Helper()
	v := store.GetVariable(universal.Path(name))
	if v == nil {
		t.Fatalf("there is no parameter %s", name)
	}
	value, err := v.Value()
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float64](value)
}

// Rectangle pads rows to a length.
func Rectangle(rows [][]int32, length int) [][]int32 {
	var padded [][]int32
	for _, row := range rows {
		padded = append(padded, append(slices.Clone(row), make([]int32, length-len(row))...))
	}
	return padded
}

// Distance returns the largest difference between two lists; it is infinite if one contains NaN.
func Distance(a, b []float64) float64 {
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
