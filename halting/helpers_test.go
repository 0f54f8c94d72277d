package halting_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
)

// A sequence is a batch of sequences and a step, in numbers for both a loop in Go and a graph: the coordinates
// of step t are the constant signal[t-1], and a position becomes tanh(0.9 x + 0.8 mean of all x).
type sequence struct {
	state  [][][]float64   // H^0, [B][M][D]
	mask   [][]bool        // [B][M]
	signal [][][][]float64 // [steps][B][M][D]
	weight []float64       // of the halting unit, [D]
	bias   float64

	endAt   [][]int                   // [B][M] the step after which After ends the position, 0 for never; nil: there is no After
	outputs func(t int, output *Node) // gets the outputs that After gets; may be nil
}

// randomSequence has the odd sizes B = 3, M = 5, D = 7 and real lengths 5, 2, 3.
func randomSequence(rng *rand.Rand, steps int) sequence {
	const rows, length, width = 3, 5, 7
	tensor := func(deviation float64) [][][]float64 {
		out := make([][][]float64, rows)
		for b := range out {
			out[b] = make([][]float64, length)
			for m := range out[b] {
				for range width {
					out[b][m] = append(out[b][m], deviation*rng.NormFloat64())
				}
			}
		}
		return out
	}
	l := sequence{state: tensor(1), bias: -0.8}
	for range steps {
		l.signal = append(l.signal, tensor(0.5))
	}
	for range width {
		l.weight = append(l.weight, rng.NormFloat64())
	}
	for _, filled := range []int{5, 2, 3} {
		row := make([]bool, length)
		for m := range filled {
			row[m] = true
		}
		l.mask = append(l.mask, row)
	}
	return l
}

func (l sequence) dims() (rows, length, width int) {
	return len(l.state), len(l.state[0]), len(l.state[0][0])
}

// stored are parameters that the store has already.
type stored struct{ halting.Weights }

func (stored) Parameter(scope *model.Scope, name string, _ func(*rand.Rand, int, []int) float64, _ ...int) *model.Variable {
	return scope.GetVariable(name)
}

// recurrence is the sequence as a policy gets it. Every state that a step starts from is appended to carried, if that is not nil.
func (l sequence) recurrence(g *Graph, carried *[]*Node) halting.Recurrence {
	return halting.Recurrence{
		After: l.after(g), Weights: stored{},
		State: Const(g, l.state), Mask: Const(g, l.mask), Source: Const(g, l.mask),
		AddCoordinates: func(t int, state *Node) *Node {
			if carried != nil {
				*carried = append(*carried, state)
			}
			return Add(state, Const(g, l.signal[t-1]))
		},
		Revise: func(_ int, x *Node) *Node {
			return Tanh(Add(MulScalar(x, 0.9), MulScalar(ReduceAndKeep(x, ReduceMean, 1), 0.8)))
		},
	}
}

// after ends positions as endAt says, and those that have ended again.
func (l sequence) after(g *Graph) func(t int, state, output *Node) *Node {
	if l.endAt == nil {
		return nil
	}
	return func(t int, _, output *Node) *Node {
		if l.outputs != nil {
			l.outputs(t, output)
		}
		now, some := make([][]bool, len(l.endAt)), false
		for b, row := range l.endAt {
			for _, at := range row {
				now[b] = append(now[b], at > 0 && at <= t)
				some = some || at == t
			}
		}
		if !some {
			return nil
		}
		return Const(g, now)
	}
}

// store holds the halting unit's parameters.
func (l sequence) store(t *testing.T) *model.Store {
	t.Helper()
	store := model.NewStore()
	for path, value := range map[string][]float64{"/halting/weight": l.weight, "/halting/bias": {l.bias}} {
		if _, err := store.CreateVariable(path, tensors.FromFlatDataAndDimensions(value, len(value))); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// compute runs a graph and gives its outputs, flat.
func compute(t *testing.T, store *model.Store, graph func(scope *model.Scope, g *Graph) []*Node) [][]float64 {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, one *Node) []*Node {
		return graph(scope, one.Graph())
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(1.0)
	if err != nil {
		t.Fatal(err)
	}
	var flat [][]float64
	for _, tensor := range out {
		flat = append(flat, tensors.MustCopyFlatData[float64](tensor))
	}
	return flat
}

// outcome is a halting.Outcome as numbers: state [B*M*D], the others [B*M].
type outcome struct {
	state, updates, remainders []float64
	weights, carried           [][]float64 // a step
}

func unroll(t *testing.T, policy halting.Policy, l sequence) outcome {
	t.Helper()
	adaptive, steps := true, 0
	out := compute(t, l.store(t), func(scope *model.Scope, g *Graph) []*Node {
		var carried []*Node
		o := policy.Unroll(scope, l.recurrence(g, &carried))
		steps = len(carried)
		nodes := append([]*Node{o.State, ConvertDType(o.Updates, dtypes.Float64)}, carried...)
		if adaptive = o.Weighted(); adaptive {
			nodes = append(append(nodes, o.Remainders), o.Weights...)
		}
		return nodes
	})
	got := outcome{state: out[0], updates: out[1], carried: out[2 : 2+steps]}
	if adaptive {
		got.remainders, got.weights = out[2+steps], out[3+steps:]
	}
	return got
}

// adaptive makes the three adaptive policies of one halting unit.
func adaptive(a halting.ACT) map[string]halting.Policy {
	return map[string]halting.Policy{"listing": halting.Listing{ACT: a}, "graves": halting.Graves{ACT: a}, "frozen": halting.Frozen{ACT: a}}
}

// near fails the test if two lists differ by more than the tolerance anywhere.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d entries, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			t.Errorf("%s[%d] is %.15g, want %.15g", what, i, got[i], want[i])
			return
		}
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
func logit(p float64) float64   { return math.Log(p / (1 - p)) }
