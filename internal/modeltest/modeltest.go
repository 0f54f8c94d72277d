// Package modeltest runs a model in float64 with arbitrary weights, for tests that compare what it computes with something else.
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

// Machine runs one model. Its variables are random numbers of deviation 0.7 that depend on their names only.
type Machine struct {
	Store *model.Store

	t    testing.TB
	exec *model.Exec
}

// New is a machine for a model, in training or not, that is given what inputs makes of the nodes of sources and targets.
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

// Run gives the logits, and the shares of the decoder's attention to the source if there is any, flat.
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

// Parameter is the entries of the parameter of a public name, row by row.
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

// Apart is the largest difference of two lists, infinite if one holds something that is no number.
func Apart(a, b []float64) float64 {
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
