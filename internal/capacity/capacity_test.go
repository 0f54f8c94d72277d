package capacity_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"weak"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// learner descends the gradient of small batches, in float64.
type learner struct {
	t      testing.TB
	model  universal.EncoderDecoder
	store  *model.Store
	runner *capacity.Runner
}

func newLearner(t testing.TB, policy halting.Policy, transition universal.Transition, planner *capacity.Planner) *learner {
	l := &learner{t: t, store: model.NewStore(), model: universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Precision: dtypes.Float64,
		Transition: transition, Halting: policy,
	}}}
	l.runner = capacity.NewRunner(enginetest.Backend(t), l.store, l.graph, planner)
	t.Cleanup(l.runner.Close)
	return l
}

func (l *learner) graph(scope *model.Scope, nodes []*Node, c capacity.Capacities) ([]*Node, universal.Result) {
	in := universal.Inputs{Source: nodes[0], Target: nodes[1], SourceCapacities: c.Source, TargetCapacities: c.Target}
	result := l.model.Forward(scope, in, universal.Options{})
	loss, _ := objective.Objective{}.Of(result, in.Target, Scalar(nodes[0].Graph(), dtypes.Float64, 0.1))
	for i, gradient := range scope.BuildTrainableVariablesGradientsGraph(loss) {
		v := trainable(scope, loss.Graph())[i]
		v.SetNodeValue(Sub(v.NodeValue(loss), MulScalar(gradient, 0.05)))
	}
	return []*Node{loss}, result
}

func trainable(scope *model.Scope, g *Graph) (list []*model.Variable) {
	for v := range scope.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			list = append(list, v)
		}
	}
	return list
}

// learn learns a ragged batch and gives its loss.
func (l *learner) learn(seed uint64) float64 {
	l.t.Helper()
	rng := rand.New(rand.NewPCG(seed, 7))
	ragged := func(rows, length, tokens int) *tensors.Tensor {
		ids := make([]int32, rows*length)
		for r := range rows {
			for i := range 1 + rng.IntN(length) {
				ids[r*length+i] = int32(1 + rng.IntN(tokens-1))
			}
		}
		return tensors.FromFlatDataAndDimensions(ids, rows, length)
	}
	shape := capacity.Shape{Rows: 5, Source: 9, Target: 7}
	if seed%3 == 2 {
		shape = capacity.Shape{Rows: 4, Source: 5, Target: 7}
	}
	out, err := l.runner.Call(shape, ragged(shape.Rows, shape.Source, 7), ragged(shape.Rows, shape.Target, 6))
	if err != nil {
		l.t.Fatal(err)
	}
	return tensors.ToScalar[float64](out[0])
}

// shift adds to the bias of both halting units: positions halt later.
func (l *learner) shift(by float64) {
	l.t.Helper()
	for _, stack := range []string{"encoder", "decoder"} {
		v := l.store.GetVariable("/" + stack + "/halting/bias")
		bias := tensors.MustCopyFlatData[float64](v.MustValue())[0] + by
		if err := v.SetValue(tensors.FromFlatDataAndDimensions([]float64{bias}, 1)); err != nil {
			l.t.Fatal(err)
		}
	}
}

// Training with planned capacities is training with full capacity: losses and all variables, also when a sudden change of the
// halting units makes the plan wrong, under every adaptive policy.
// Caught when planted: variables that an overflow changes; an overflow that is not noticed; the demand of an overflowed run recorded.
func TestPlannedCapacitiesChangeNothing(t *testing.T) {
	act := halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}
	var feedForward, convolution universal.Transition = universal.FeedForward{Filter: 8}, universal.SeparableConvolution{Filter: 8}
	for _, c := range []struct {
		policy     halting.Policy
		transition universal.Transition
	}{{halting.Frozen{ACT: act}, feedForward}, {halting.Frozen{ACT: act}, convolution}, {halting.Graves{ACT: act}, feedForward}, {halting.Listing{ACT: act}, feedForward}} {
		policy := c.policy
		planner := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: policy, Transition: c.transition}})
		planner.CompileCost = 0 // models so small would have no plans
		planned, full := newLearner(t, policy, c.transition, planner), newLearner(t, policy, c.transition, nil)
		for i := range uint64(30) {
			if i == 12 {
				for _, known := range planner.Shapes {
					if known.Encoder.Units == nil || known.Decoder.Units == nil {
						t.Errorf("%T: nothing was planned for %+v", policy, known.Shape)
					}
				}
				planned.shift(-3)
				full.shift(-3)
			}
			got, want := planned.learn(i), full.learn(i)
			if !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("%T, batch %d: loss %v, with full capacity %v", policy, i, got, want)
			}
		}
		if planned.runner.Overflows == 0 || planned.runner.Overflows > 10 {
			t.Errorf("%T: %d overflows: the case shows nothing, or the plan does not follow", policy, planned.runner.Overflows)
		}
		observed := 0
		for _, known := range planner.Shapes {
			observed += known.Encoder.Batches
		}
		if len(planner.Shapes) != 2 || observed != 30+2 { // the second shape comes third and starts with the plan of two batches
			t.Errorf("%T: %d shapes and %d batches observed, not 2 and 32", policy, len(planner.Shapes), observed)
		}
		for v := range full.store.IterVariables() {
			got := tensors.MustCopyFlatData[float64](planned.store.GetVariable(v.Path()).MustValue())
			for i, want := range tensors.MustCopyFlatData[float64](v.MustValue()) {
				if !(math.Abs(got[i]-want) <= 1e-9) {
					t.Fatalf("%T: %s is %v, with full capacity %v", policy, v.Path(), got[i], want)
				}
			}
		}
	}
}

// Where positions cannot be left out, batches of the same number of steps never overflow, however many positions they have, and one
// graph a shape is enough. Biases of 1 and random weights of the halting unit that stay small let every position halt after two steps.
// Caught when planted: capacities planned for positions (which overflowed and compiled again and again).
func TestModelsThatSelectNothingPlanTheirSteps(t *testing.T) {
	act := halting.ACT{MaxSteps: 6, Epsilon: 0.05, Bias: 1}
	for _, c := range []struct {
		policy     halting.Policy
		transition universal.Transition
	}{
		{halting.Graves{ACT: act}, universal.SeparableConvolution{Filter: 8}},
		{halting.Graves{ACT: act}, universal.FeedForward{Filter: 8}},
		{halting.Listing{ACT: act}, universal.FeedForward{Filter: 8}},
	} {
		planner := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: c.policy, Transition: c.transition}})
		planner.CompileCost = 0
		l := newLearner(t, c.policy, c.transition, planner)
		for i := range uint64(40) {
			l.learn(i)
		}
		for _, known := range planner.Shapes {
			if len(known.Encoder.Units) != 2 || len(known.Decoder.Units) != 2 {
				t.Errorf("%T, %T: %d and %d steps are planned, not 2", c.policy, c.transition, len(known.Encoder.Units), len(known.Decoder.Units))
			}
		}
		if l.runner.Overflows != 0 || l.runner.Stats().Compiled != 2+2 {
			t.Errorf("%T, %T: %d overflows and %d compiled graphs of 2 shapes", c.policy, c.transition, l.runner.Overflows, l.runner.Stats().Compiled)
		}
	}
}

// A budget bounds the graphs of all runners that share it, whatever their shapes; the one not used for longest goes, wholly: what GoMLX built is
// collected at once, and what the backend compiled when it goes. Results are the same to the last bit.
// Caught when planted: a budget for every runner; the first compiled freed instead of the last used; an executor kept, with its graph.
func TestBudgetBoundsTheGraphs(t *testing.T) {
	var built []weak.Pointer[Graph]
	graph := func(scope *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		built = append(built, weak.Make(nodes[0].Graph()))
		v := scope.VariableWithValue("sum", float32(0))
		v.SetNodeValue(Add(v.NodeValue(nodes[0]), ReduceAllSum(Mul(nodes[0], nodes[0]))))
		return []*Node{v.NodeValue(nodes[0])}, universal.Result{}
	}
	call := func(r *capacity.Runner, length int) float32 {
		t.Helper()
		input := make([]float32, length)
		for i := range input {
			input[i] = 1
		}
		out, err := r.Call(capacity.Shape{Rows: 1, Source: length}, tensors.FromFlatDataAndDimensions(input, length))
		if err != nil {
			t.Fatal(err)
		}
		return tensors.ToScalar[float32](out[0])
	}
	one := capacity.NewGraphs(enginetest.Backend(t), model.NewStore(), capacity.Budget)
	call(one.Runner(graph, nil), 3)
	graphs := capacity.NewGraphs(enginetest.Backend(t), model.NewStore(), 3*one.Stats().Bytes)
	a, b := graphs.Runner(graph, nil), graphs.Runner(graph, nil)
	built = nil
	sum := float32(0)
	for i, c := range []struct {
		runner          *capacity.Runner
		length          int
		alive, compiled int
	}{{a, 1, 1, 1}, {b, 1, 2, 2}, {a, 2, 3, 3}, {a, 1, 3, 3}, {b, 2, 3, 4}, {a, 1, 3, 4}, {b, 1, 3, 5}, {b, 2, 3, 5}} {
		sum += float32(c.length)
		if got := call(c.runner, c.length); got != sum {
			t.Errorf("call %d: the sum is %v, want %v", i, got, sum)
		}
		if s := graphs.Stats(); s.Alive != c.alive || s.Compiled != c.compiled || s.Bytes > 3*one.Stats().Bytes {
			t.Errorf("call %d: %+v, want %d alive of %d compiled", i, s, c.alive, c.compiled)
		}
	}
	runtime.GC()
	runtime.GC()
	for i, g := range built {
		if g.Value() != nil {
			t.Errorf("the nodes of graph %d are kept", i)
		}
	}
	b.Close()
	if s := graphs.Stats(); s.Alive != 1 {
		t.Errorf("%d graphs are alive after a runner was closed, want that of the other", s.Alive)
	}
	if graphs.Close(); graphs.Stats().Bytes != 0 {
		t.Errorf("%+v after all was closed", graphs.Stats())
	}
}

// A graph that was unused for more than 2000 calls is freed when another one is compiled, and one that was unused for 2000 is not.
// Caught when planted: graphs freed 1 call earlier or later, or freed although they are used.
func TestUnusedGraphsAreFreed(t *testing.T) {
	graphs := capacity.NewGraphs(enginetest.Backend(t), model.NewStore(), capacity.Budget)
	defer graphs.Close()
	runner := graphs.Runner(func(_ *model.Scope, nodes []*Node, _ capacity.Capacities) ([]*Node, universal.Result) {
		return []*Node{ReduceAllSum(nodes[0])}, universal.Result{}
	}, nil)
	call := func(length int) {
		t.Helper()
		if _, err := runner.Call(capacity.Shape{Source: length}, tensors.FromFlatDataAndDimensions(make([]float32, length), length)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ others, compiled, alive int }{{1999, 3, 3}, {2000, 4, 2}} {
		call(1)
		for range c.others {
			call(2)
		}
		call(3 + c.others) // compiles
		if s := graphs.Stats(); s.Compiled != c.compiled || s.Alive != c.alive {
			t.Errorf("after %d other calls: %+v, want %d alive of %d compiled", c.others, s, c.alive, c.compiled)
		}
	}
}

// There is nothing to plan where depth is given, and only steps where positions cannot be left out.
func TestNewPlanner(t *testing.T) {
	for _, c := range []struct {
		policy     halting.Policy
		transition universal.Transition
		want       *capacity.Planner
	}{
		{halting.Fixed{Steps: 2}, universal.FeedForward{}, nil},
		{halting.Length{}, universal.FeedForward{}, nil},
		{halting.Frozen{}, universal.FeedForward{}, &capacity.Planner{}},
		{halting.Frozen{}, universal.SeparableConvolution{Widths: [2]int{1, 1}}, &capacity.Planner{}},
		{halting.Frozen{}, universal.SeparableConvolution{}, &capacity.Planner{}},
		{halting.Graves{}, universal.FeedForward{}, &capacity.Planner{StepsOnly: true}},
		{halting.Listing{}, universal.FeedForward{}, &capacity.Planner{StepsOnly: true}},
	} {
		got := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: c.policy, Transition: c.transition}})
		if got != nil {
			if got.CompileCost <= 0 {
				t.Errorf("%T, %+v: compiling costs nothing", c.policy, c.transition)
			}
			got.CompileCost = 0
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%T, %+v: %+v, want %+v", c.policy, c.transition, got, c.want)
		}
	}
}

// Run changes no plan, not even after an overflow: only Learn does, once all batches of an update have run.
// Caught when planted: a plan that is enlarged in place.
func TestRunChangesNoPlan(t *testing.T) {
	policy := halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
	planner := capacity.NewPlanner(universal.Encoder{Config: universal.Config{Halting: policy, Transition: universal.FeedForward{Filter: 8}}})
	planner.CompileCost = 0
	l := newLearner(t, policy, universal.FeedForward{Filter: 8}, planner)
	for i := range uint64(9) {
		l.learn(3 * i)
	}
	shape := capacity.Shape{Rows: 5, Source: 9, Target: 7}
	source := tensors.FromFlatDataAndDimensions(slices.Repeat([]int32{1, 2, 3, 4, 5}, 9), 5, 9)
	target := tensors.FromFlatDataAndDimensions(slices.Repeat([]int32{1, 2, 3, 4, 5}, 7), 5, 7)
	l.shift(-6) // all positions run longer than planned
	plan := l.runner.Plan(shape)
	plans := func() string { // the planner's and the caller's
		t.Helper()
		content, err := json.Marshal([]any{planner, plan})
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	before, overflows := plans(), l.runner.Overflows
	_, demand, err := l.runner.Run(plan, source, target)
	if err != nil {
		t.Fatal(err)
	}
	if l.runner.Overflows == overflows {
		t.Fatal("the batch fits the plan")
	}
	if after := plans(); after != before {
		t.Errorf("the plans are %s, before the run %s", after, before)
	}
	l.runner.Learn(shape, demand)
	if plans() == before {
		t.Error("nothing was learned")
	}
}
