package universal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// Three examples of different lengths.
var (
	sources = [][]int32{{3, 6, 2, 5}, {4, 2}, {5, 5, 6}}
	targets = [][]int32{{2, 4, 1}, {3, 3, 4, 2, 1}, {1}}
)

// rectangle pads rows to a length.
func rectangle(rows [][]int32, length int) [][]int32 {
	var padded [][]int32
	for _, row := range rows {
		padded = append(padded, append(slices.Clone(row), make([]int32, length-len(row))...))
	}
	return padded
}

// Examples alone and unpadded, together in a batch, and in a wider one with an empty row, come to the same. Float64 sums of other
// shapes may differ in their last bits.
// Caught when planted: an encoder without mask, a cross-attention without mask, convolutions that see padding, a mean that
// counts padding, padding that ponders, depth tied to the rectangle instead of the example.
func TestPaddingChangesNothing(t *testing.T) {
	const tolerance = 1e-12
	for _, v := range variants(dtypes.Float64) {
		t.Run(v.name, func(t *testing.T) {
			x := newMachine(t, v.model)
			batches := []struct {
				what           string
				rows           int
				source, target int // lengths
			}{{"batch", 3, 4, 5}, {"wider batch with an empty row", 4, 7, 7}}
			got := make([]seen, len(batches))
			for k, b := range batches {
				empty := make([][]int32, b.rows-3)
				got[k] = x.run(rectangle(slices.Concat(sources, empty), b.source), rectangle(slices.Concat(targets, empty), b.target))
				if !v.field {
					variety(t, got[k])
				}
			}
			for i := range sources {
				alone := x.run(sources[i:i+1], targets[i:i+1])
				for k, b := range batches {
					for name, want := range alone {
						filled, length := len(sources[i]), b.source
						if strings.HasPrefix(name, "decoder.") || name == "logits" {
							filled, length = len(targets[i]), b.target
						}
						if classifies(v.model) && name == "logits" {
							filled, length = 1, 1
						}
						if strings.HasSuffix(name, ".ponder") {
							continue
						}
						size := len(want) / filled // entries of a position
						row := got[k][name][i*length*size : (i+1)*length*size]
						if d := distance(row[:filled*size], want); !(d <= tolerance) {
							t.Errorf("%s, example %d: %s is off by %.2g", b.what, i, name, d)
						}
						if quiet := strings.HasSuffix(name, ".updates") || strings.HasSuffix(name, ".remainders"); quiet && distance(row[filled*size:], make([]float64, (length-filled)*size)) != 0 {
							t.Errorf("%s, example %d: %s at padding are %v", b.what, i, name, row[filled*size:])
						}
					}
				}
			}
			for name, cost := range got[0] {
				if d := distance(cost, got[1][name]); strings.HasSuffix(name, ".ponder") && !(d <= tolerance) {
					t.Errorf("more padding changes %s by %.2g", name, d)
				}
			}
		})
	}
}

// Depth tied to the source's length is that of each example, in both stacks: in a batch it is what Fixed makes of the example alone.
// Caught when planted: depth tied to the rectangle; the decoder's depth tied to its target.
func TestLengthIsEachExamplesOwn(t *testing.T) {
	c := small()
	c.Halting = halting.Length{}
	x := newMachine(t, universal.EncoderDecoder{Config: c})
	got := x.run(rectangle(sources, 4), rectangle(targets, 5))
	for i, source := range sources {
		c.Halting = halting.Fixed{Steps: len(source)}
		alone := newMachine(t, universal.EncoderDecoder{Config: c}).run([][]int32{source}, targets[i:i+1])
		want, row := alone["logits"], got["logits"][i*5*5:]
		if d := distance(row[:len(want)], want); !(d <= 1e-12) {
			t.Errorf("example %d of length %d: logits are off by %.2g", i, len(source), d)
		}
	}
}

// Rows without any token, as a last batch may have, change neither loss nor gradients, and make no NaN.
// Caught when planted: a mean over no position.
func TestEmptyRowsChangeNeitherLossNorGradients(t *testing.T) {
	for _, v := range variants(dtypes.Float64) {
		t.Run(v.name, func(t *testing.T) {
			x := newMachine(t, v.model)
			source, target := rectangle(sources, 4), rectangle(targets, 5)
			if !hasTarget(v.model) {
				target = [][]int32{{2}, {4}, {1}}
			}
			empty := func(rows [][]int32) [][]int32 { return append(slices.Clone(rows), make([]int32, len(rows[0]))) }
			names, want := gradients(t, x, source, target)
			_, got := gradients(t, x, empty(source), empty(target))
			for i, name := range names {
				if d := distance(got[i], want[i]); !(d <= 1e-11) {
					t.Errorf("%s is off by %.2g", name, d)
				}
			}
			_, nothing := gradients(t, x, [][]int32{{0, 0}}, [][]int32{make([]int32, len(target[0]))})
			for i, name := range names {
				if slices.ContainsFunc(nothing[i], func(v float64) bool { return v != 0 }) {
					t.Errorf("of nothing but padding, %s is %v", name, nothing[i])
				}
			}
		})
	}
}

// gradients gives the training loss and its gradient by every variable, with names.
func gradients(t *testing.T, x *machine, source, target [][]int32) (names []string, values [][]float64) {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, nodes []*Node) []*Node {
		in := universal.Inputs{Target: nodes[1]}
		if hasSource(x.model) {
			in.Source = nodes[0]
		}
		result := x.model.Forward(scope, in, universal.Options{})
		loss, _ := objective.Objective{LabelSmoothing: 0.1}.Of(result, nodes[1], Const(nodes[0].Graph(), 0.3))
		names = []string{"loss"}
		var variables []*Node
		for v := range x.store.IterVariables() {
			names, variables = append(names, universal.Name(v.Path())), append(variables, v.NodeValue(loss))
		}
		return append([]*Node{loss}, Gradient(loss, variables...)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(source, target)
	if err != nil {
		t.Fatal(err)
	}
	for _, tensor := range out {
		values = append(values, flat(tensor))
	}
	return names, values
}
