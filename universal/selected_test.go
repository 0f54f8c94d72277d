package universal_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// stackCapacities is the capacities of both stacks.
type stackCapacities struct{ encoder, decoder halting.Capacities }

// A measurement is what a model did under some capacities: values by name, its gradients too; what it needed; whether that was too much.
type measurement struct {
	values   seen
	demand   map[string][][]int32
	overflow bool
}

// measure runs a model and the gradient of its training loss under capacities, with dropout if it has any, whose random state is
// the same each time.
func measure(t *testing.T, x *machine, e stackCapacities, source, target [][]int32) measurement {
	t.Helper()
	if err := x.store.SetRNGStateFromSeed(7); err != nil {
		t.Fatal(err)
	}
	var names []string
	exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, nodes []*Node) []*Node {
		names = nil
		var values []*Node
		add := func(name string, node *Node) { names, values = append(names, name), append(values, node) }
		in := universal.Inputs{Target: nodes[1], SourceCapacities: e.encoder, TargetCapacities: e.decoder}
		if hasSource(x.model) {
			in.Source = nodes[0]
		}
		scope.Store().SetTraining(nodes[1].Graph(), true)
		result := x.model.Forward(scope, in, universal.Options{})
		g := result.Logits.Graph()
		mask := NotEqual(nodes[1], ScalarZero(g, nodes[1].DType()))
		add("logits", Where(BroadcastToShape(InsertAxes(mask, -1), boolean(result.Logits)), result.Logits, ZerosLike(result.Logits)))
		overflow := Const(g, false)
		for i, pass := range []*universal.Pass{result.Encoder, result.Decoder} {
			if pass == nil {
				continue
			}
			name, c := []string{"encoder", "decoder"}[i], []halting.Capacities{e.encoder, e.decoder}[i]
			add(name+".state", pass.State)
			add(name+".updates", pass.Updates)
			add(name+".remainders", pass.Remainders)
			add(name+".demand", pass.Demand(len(pass.Weights)))
			overflow = LogicalOr(overflow, pass.Overflow(c))
		}
		add("overflow", overflow)
		loss, _ := objective.Objective{LabelSmoothing: 0.1}.Of(result, nodes[1], Scalar(g, result.Logits.DType(), 0.3))
		var paths []string
		var variables []*Node
		for v := range x.store.IterVariables() {
			if v.Trainable {
				paths, variables = append(paths, v.Path()), append(variables, v.NodeValue(loss))
			}
		}
		for i, gradient := range Gradient(loss, variables...) {
			add("gradient of "+universal.Name(paths[i]), gradient)
		}
		return values
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(source, target)
	if err != nil {
		t.Fatal(err)
	}
	got := measurement{values: seen{}, demand: map[string][][]int32{}}
	for i, name := range names {
		switch out[i].DType() {
		case dtypes.Bool:
			got.overflow = tensors.ToScalar[bool](out[i])
		case dtypes.Int32:
			rows := out[i].Shape().Dimensions[0]
			values := tensors.MustCopyFlatData[int32](out[i])
			for r := range rows {
				got.demand[name] = append(got.demand[name], values[3*r:3*r+3])
			}
		default:
			got.values[name] = flat(out[i])
		}
	}
	return got
}

func boolean(x *Node) shapes.Shape { return shapes.Make(dtypes.Bool, x.Shape().Dimensions...) }

// fitting makes the smallest capacities for a demand, plus spare where possible; steps that no position runs are left out.
func fitting(demand [][]int32, spare, batch, length int) (c halting.Capacities) {
	last := halting.Capacity{Positions: batch * length, Rows: batch, Longest: length}
	for _, d := range demand {
		if d[0] == 0 {
			break
		}
		last = halting.Capacity{
			Positions: min(int(d[0])+spare, last.Positions), Rows: min(int(d[1])+spare, last.Rows), Longest: min(int(d[2])+spare, last.Longest),
		}
		c = append(c, last)
	}
	return c
}

// Transforming only the positions that still run gives what transforming all of them gives: states, updates, remainders, logits and
// every gradient, over ragged batches, whatever the spare capacity. Where positions cannot be left out, leaving
// out the steps that no position runs changes nothing either.
func TestSelectedPositionsGiveWhatAllGive(t *testing.T) {
	source := rectangle([][]int32{{3, 6, 2, 5, 1, 4, 2}, {4}, {2, 5, 5, 1, 6}, {6, 1, 1}, {1, 2, 3, 4, 5, 6}}, 7)
	target := rectangle([][]int32{{2, 4, 1}, {3, 3, 4, 2, 1, 2}, {4}, {2, 2, 3, 1}, {3, 1, 4, 4, 2}}, 6)
	for _, precision := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
		tolerance := map[dtypes.DType]float64{dtypes.Float64: 1e-9, dtypes.Float32: 2e-3}[precision]
		for _, v := range variants(precision) {
			_, both := v.model.(universal.EncoderDecoder)
			frozen := strings.Contains(v.name, "frozen") && strings.Contains(v.name, "FeedForward")
			if strings.Contains(v.name, "fixed") || strings.Contains(v.name, "length") || strings.Contains(v.name, "random") || !both && !frozen || precision == dtypes.Float32 && !frozen {
				continue // where all positions go on, nothing but the number of steps is new
			}
			targets := target
			if !hasTarget(v.model) {
				targets = [][]int32{{2}, {4}, {1}, {3}, {2}}
			}
			compareSelected(t, v, source, targets, tolerance, []int{0, 2}[map[bool]int{true: 1}[precision == dtypes.Float32]:])
		}
	}
	c := small() // norms first, which the variants have with other policies
	c.Halting, c.PreNorm = halting.Frozen{ACT: halting.ACT{MaxSteps: 4}}, true
	compareSelected(t, variant{name: "frozen, pre-norm", model: universal.EncoderDecoder{Config: c}}, source, target, 1e-9, []int{0, 2})
}

// The same with dropout in all places: what is dropped does not depend on what is computed. Losses and gradients agree to rounding.
// Caught when planted: masks of the slots of a selection instead of its positions; random numbers that depend on the number of steps.
func TestSelectedPositionsDropWhatAllDrop(t *testing.T) {
	source := rectangle([][]int32{{3, 6, 2, 5, 1, 4, 2}, {4}, {2, 5, 5, 1, 6}, {6, 1, 1}, {1, 2, 3, 4, 5, 6}}, 7)
	target := rectangle([][]int32{{2, 4, 1}, {3, 3, 4, 2, 1, 2}, {4}, {2, 2, 3, 1}, {3, 1, 4, 4, 2}}, 6)
	for _, v := range variants(dtypes.Float64) {
		if !strings.Contains(v.name, "frozen") {
			continue
		}
		targets := target
		if !hasTarget(v.model) {
			targets = [][]int32{{2}, {4}, {1}, {3}, {2}}
		}
		dropped := universal.Dropout{Embedding: 0.2, Attention: 0.3, Transition: 0.25, Residual: 0.15}
		switch m := v.model.(type) {
		case universal.EncoderDecoder:
			m.Dropout = dropped
			v.model = m
		case universal.Encoder:
			m.Dropout = dropped
			v.model = m
		case universal.Decoder:
			m.Dropout = dropped
			v.model = m
		}
		compareSelected(t, v, source, targets, 1e-9, []int{0, 2})
	}
}

// The same of sequences that are so long that attention is computed in blocks, with a last visible key for each selected query.
// Caught when planted: a query that does not see itself; columns of the list for those of the grid.
func TestManySelectedPositions(t *testing.T) {
	c := small()
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Bias: 0.3}}
	source, target := [][]int32{nil, {2, 5, 5, 1, 6}}, [][]int32{nil, {3, 1, 4, 4, 2, 1}}
	for i := range 540 {
		source[0], target[0] = append(source[0], int32(1+i*i%6)), append(target[0], int32(1+i*i*i%4))
	}
	source, target = rectangle(source, 540), rectangle(target, 540)
	compareSelected(t, variant{name: "many", model: universal.EncoderDecoder{Config: c}}, source, target, 1e-9, []int{1})
	c.Dropout = universal.Dropout{Attention: 0.3}
	compareSelected(t, variant{name: "many, dropout", model: universal.EncoderDecoder{Config: c}}, source, target, 1e-9, []int{1})
}

// compareSelected runs a variant with all positions and with capacities that are just enough, or more by spare.
func compareSelected(t *testing.T, v variant, source, targets [][]int32, tolerance float64, spares []int) {
	t.Helper()
	x := newMachine(t, v.model)
	want := measure(t, x, stackCapacities{}, source, targets)
	for _, spare := range spares {
		e := stackCapacities{fitting(want.demand["encoder.demand"], spare, len(source), len(source[0])), fitting(want.demand["decoder.demand"], spare, len(targets), len(targets[0]))}
		got := measure(t, x, e, source, targets)
		if got.overflow {
			t.Errorf("%s, %v: overflow", v.name, e)
		}
		for name, values := range want.values {
			scale := 1e-3
			for _, v := range values {
				scale = max(scale, math.Abs(v))
			}
			if d := distance(values, got.values[name]); !(d <= tolerance*scale) {
				t.Errorf("%s, spare %d: %s is off by %.3g of %.3g", v.name, spare, name, d, scale)
			}
		}
	}
}

// Capacities that are too small by one position, one row, or one position of the longest row, in any step, or one step short, overflow.
// Caught when planted: only positions counted; the steps after the last one not looked at.
func TestOverflowIsNoticed(t *testing.T) {
	source := rectangle([][]int32{{3, 6, 2, 5, 1, 4, 2}, {4}, {2, 5, 5, 1, 6}, {6, 1, 1}, {1, 2, 3, 4, 5, 6}}, 7)
	target := [][]int32{{2}, {4}, {1}, {3}, {2}}
	for _, p := range adaptive(4) {
		c := small()
		c.Halting = p.Policy
		x := newMachine(t, universal.Encoder{Config: c})
		demand := measure(t, x, stackCapacities{}, source, target).demand["encoder.demand"]
		exact := fitting(demand, 0, 5, 7)
		if len(exact) < 2 {
			t.Fatalf("%s: everything ends after %d steps", p.Name, len(exact))
		}
		tight := []halting.Capacities{exact[:len(exact)-1]}
		for step := range exact {
			for _, field := range []func(*halting.Capacity) *int{
				func(c *halting.Capacity) *int { return &c.Positions }, func(c *halting.Capacity) *int { return &c.Rows },
				func(c *halting.Capacity) *int { return &c.Longest },
			} {
				less := slices.Clone(exact)
				for later := step; later < len(less); later++ { // what falls stays below
					*field(&less[later]) = min(*field(&less[later]), *field(&exact[step])-1)
				}
				if *field(&less[len(less)-1]) > 0 {
					tight = append(tight, less)
				}
			}
		}
		for _, capacities := range tight {
			if !measure(t, x, stackCapacities{encoder: capacities}, source, target).overflow {
				t.Errorf("%s: %v is too small for %v and does not overflow", p.Name, capacities, demand)
			}
		}
		if measure(t, x, stackCapacities{encoder: exact}, source, target).overflow {
			t.Errorf("%s: %v is enough for %v and overflows", p.Name, exact, demand)
		}
	}
}

// Capacities of nothing, of more than there is, or of more than in the step before are refused where the graph is built, by the name
// of the field and the step.
func TestInvalidCapacitiesAreRefused(t *testing.T) {
	source, target := rectangle([][]int32{{3, 6, 2}, {4}}, 3), [][]int32{{2}, {4}}
	x := newMachine(t, universal.Encoder{Config: small()})
	for want, bad := range map[string]halting.Capacities{
		"step 1: positions is 7: it must be from 1 to 6": {{Positions: 7, Rows: 2, Longest: 3}},
		"step 1: rows is 3: it must be from 1 to 2":      {{Positions: 6, Rows: 3, Longest: 3}},
		"step 2: longest is 0: it must be from 1 to 3":   {{Positions: 6, Rows: 2, Longest: 3}, {Positions: 4, Rows: 2}},
		"step 2: positions is 5: it must be from 1 to 4": {{Positions: 4, Rows: 2, Longest: 3}, {Positions: 5, Rows: 2, Longest: 3}},
	} {
		exec, err := model.NewExec(enginetest.Backend(t), x.store, func(scope *model.Scope, nodes []*Node) *Node {
			in := universal.Inputs{Source: nodes[0], Target: nodes[1], SourceCapacities: bad}
			return x.model.Forward(scope, in, universal.Options{}).Logits
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = exec.Exec(source, target); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", bad, err, want)
		}
	}
}

// Positions that still run after the last step need no further one. Only Listing leaves some running: here 4 of 5, which halt in step 2
// if there is one. Caught when planted: Unfinished after the last step.
func TestAllStepsAreEnough(t *testing.T) {
	source, target := rectangle([][]int32{{3, 6, 2, 5}, {4}}, 4), [][]int32{{2}, {4}}
	for _, p := range adaptive(1) {
		c := small()
		c.Halting = p.Policy
		x := newMachine(t, universal.Encoder{Config: c})
		all := halting.Capacities{{Positions: 8, Rows: 2, Longest: 4}}
		if m := measure(t, x, stackCapacities{encoder: all}, source, target); m.overflow || m.demand["encoder.demand"][0][0] != 5 {
			t.Errorf("%s: overflow %v, 5 positions run: %v", p.Name, m.overflow, m.demand)
		}
	}
}
