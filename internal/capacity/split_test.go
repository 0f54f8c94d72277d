//go:build xla

package capacity_test

import (
	"math"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/halting"
	"universal-transformer/internal/capacity"
	"universal-transformer/universal"
)

// onDevices descends the squared error of a linear map of ids, five times on each of two shapes, and gives all losses and the weights.
func onDevices(t *testing.T, devices int) (losses []float64, weights []float64) {
	t.Helper()
	if len(engine.Plugins()) == 0 {
		t.Skip("there is no plugin of XLA: docs/accelerators.md")
	}
	backend, err := engine.NewWithDevices("xla:cpu", devices)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(backend.Finalize)
	store := model.NewStore()
	graphs := newSplit(t, backend, store)
	if graphs.Devices() != devices {
		t.Fatalf("%d devices, want %d", graphs.Devices(), devices)
	}
	descend := graphs.Runner(func(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		x, rate := ConvertDType(nodes[0], dtypes.Float64), nodes[1]
		w := scope.VariableWithShape("w", shapes.Make(dtypes.Float64, 3))
		if rows := nodes[0].Shape().Dimensions[0]; rows%devices != 0 {
			t.Errorf("%d rows on %d devices", rows, devices)
		}
		distance := Sub(Dot(x, w.NodeValue(x)).Product(), ReduceMax(x, 1)) // 0 of rows of zeros
		loss := ReduceAllSum(Square(distance))
		noise := scope.Store().RandomUniform(x.Graph(), shapes.Make(dtypes.Float64, 3))
		step := Sub(Gradient(loss, w.NodeValue(x))[0], noise)
		w.SetNodeValue(Sub(w.NodeValue(x), Mul(rate, step)))
		return []*Node{loss, ReduceAllSum(x)}, universal.Result{}
	}, capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: halting.Frozen{}, Transition: universal.FeedForward{}}}))
	if descend.Plans() {
		t.Error("plans capacities, of which each would be a graph")
	}
	for i := range 10 {
		rows := 8 + 3*(i%2) // the second is no multiple of four
		ids, sum := make([]int32, rows*3), 0.0
		for j := range ids {
			ids[j] = int32((j*7 + i) % 5)
			sum += float64(ids[j])
		}
		out, err := descend.Call(capacity.Shape{Rows: rows, Source: 3}, tensors.FromFlatDataAndDimensions(ids, rows, 3), float64(0.001))
		if err != nil {
			t.Fatal(err)
		}
		if len(out) != 2 || tensors.ToScalar[float64](out[1]) != sum {
			t.Fatalf("%d outputs; the ids sum to %v, want %v", len(out), tensors.ToScalar[float64](out[1]), sum)
		}
		losses = append(losses, tensors.ToScalar[float64](out[0]))
	}
	if s := graphs.Stats(); s.Compiled != 2 || s.Bytes <= 0 {
		t.Errorf("%+v, want two graphs", s)
	}
	value, err := store.GetVariable("/w").Value()
	if err != nil {
		t.Fatal(err)
	}
	return losses, tensors.MustCopyFlatData[float64](value)
}

func newSplit(t *testing.T, backend compute.Backend, store *model.Store) *capacity.Graphs {
	t.Helper()
	if err := store.SetRNGStateFromSeed(3); err != nil {
		t.Fatal(err)
	}
	graphs := capacity.NewGraphs(backend, store, capacity.Budget)
	t.Cleanup(graphs.Close)
	graphs.SplitRows()
	return graphs
}

// Rows on four devices, and on two, give what they give on one.
func TestSplitRows(t *testing.T) {
	want, weights := onDevices(t, 1)
	for _, devices := range []int{2, 4} {
		got, moved := onDevices(t, devices)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12*math.Abs(want[i]) {
				t.Errorf("%d devices, call %d: loss %v, on one device %v", devices, i, got[i], want[i])
			}
		}
		for i := range weights {
			if math.Abs(moved[i]-weights[i]) > 1e-12 {
				t.Errorf("%d devices: weights %v, on one device %v", devices, moved, weights)
			}
		}
	}
}
