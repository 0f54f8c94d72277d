package capacity

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/distributed"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// told is a runner of a model of at most 8 steps whose positions [2, 4] run as many steps as its input says. It counts its runs in a
// variable, reads another one, and lists the numbers of steps of its graphs.
func told(t *testing.T, planner *Planner) (r *Runner, graphs *[]int) {
	graphs = new([]int)
	r = NewRunner(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, nodes []*Node, c Capacities) ([]*Node, universal.Result) {
		updates, steps := nodes[0], 8
		if c.Source != nil {
			steps = len(c.Source)
		}
		*graphs = append(*graphs, steps)
		runs := scope.VariableWithValue("runs", float32(0))
		runs.SetNodeValue(AddScalar(runs.NodeValue(updates), 1))
		scope.VariableWithValue("unused", float32(7))
		factor := scope.VariableWithValue("factor", float32(2)).NodeValue(updates)
		outcome := halting.Outcome{State: updates, Updates: updates, Remainders: updates, Weights: slices.Repeat([]*Node{updates}, steps)}
		return []*Node{Mul(ReduceAllSum(updates), factor), runs.NodeValue(updates)}, universal.Result{Encoder: &universal.Pass{Outcome: outcome}}
	}, planner)
	t.Cleanup(r.Close)
	return r, graphs
}

// A batch that needs more than its plan runs again, with a larger plan if that pays, and with full capacity if that is too small as well; it
// counts once. What the first and the last run needed is returned, and learned later.
// Caught when planted: a run with too little capacity that changes variables; a third run that is not counted.
func TestBatchesThatOverflow(t *testing.T) {
	shape := Shape{Rows: 2, Source: 4}
	few, one, many := []float32{1, 1, 1, 1, 1, 1, 1, 1}, []float32{3, 1, 1, 1, 1, 1, 1, 1}, []float32{3, 3, 3, 3, 3, 3, 3, 3}
	steps := func(counts ...int32) (demand [][3]int32) { // of the batches above: all positions, one of them, or none
		for _, n := range counts {
			demand = append(demand, map[int32][3]int32{8: {8, 2, 4}, 1: {1, 1, 1}, 0: {}}[n])
		}
		return demand
	}
	none, all := [][3]int32{{}}, [3]int{32, 32, 32}
	for i, c := range []struct {
		cost      float64
		input     []float32
		overflows int
		graphs    []int
		want      Demand
		margin    float64
		learned   [][3]int
	}{
		{0, few, 0, []int{1}, Demand{{encoder: steps(8, 0), decoder: none}}, 0.5, [][3]int{all}},
		{0, one, 1, []int{1, 4}, Demand{{overflow: true, encoder: steps(8, 1), decoder: none}, {encoder: steps(8, 1, 1, 0, 0), decoder: none}}, 1, [][3]int{all, {5, 18, 10}, {5, 18, 10}}},
		{0, many, 2, []int{1, 4, 8}, Demand{{overflow: true, encoder: steps(8, 8), decoder: none}, {encoder: steps(8, 8, 8, 0, 0, 0, 0, 0, 0), decoder: none}}, 2, [][3]int{all, all, all}},
		{1e9, one, 1, []int{1, 8}, Demand{{overflow: true, encoder: steps(8, 1), decoder: none}, {encoder: steps(8, 1, 1, 0, 0, 0, 0, 0, 0), decoder: none}}, 2, nil},
	} {
		known := func() *ShapePlan {
			return &ShapePlan{Shape: shape, Encoder: StackPlan{Batches: 3, Margin: 0.5, Peaks: make([]Peak, 9), Units: [][3]int{{32, 32, 32}}}}
		}
		planner := &Planner{CompileCost: c.cost, Shapes: []*ShapePlan{known()}}
		r, graphs := told(t, planner)
		input := tensors.FromFlatDataAndDimensions(c.input, 2, 4)
		sum := float32(0)
		for _, v := range c.input {
			sum += 2 * v
		}
		for run := 1; run <= 3; run++ {
			out, demand, err := r.Run(r.Plan(shape), input)
			if err != nil {
				t.Fatal(err)
			}
			if len(out) != 2 || tensors.ToScalar[float32](out[0]) != sum || tensors.ToScalar[float32](out[1]) != float32(run) || r.Overflows != run*c.overflows {
				t.Errorf("case %d: run %d gives %d outputs, %d overflows", i, run, len(out), r.Overflows)
			}
			if !reflect.DeepEqual(demand, c.want) || !slices.Equal(*graphs, c.graphs) {
				t.Errorf("case %d: demand %v, want %v; graphs of %v steps", i, demand, c.want, *graphs)
			}
		}
		if !reflect.DeepEqual(planner.Shapes[0], known()) || r.Stats().Compiled != len(c.graphs) {
			t.Errorf("case %d: the plan became %+v; %d graphs compiled", i, planner.Shapes[0], r.Stats().Compiled)
		}
		r.Learn(shape, c.want)
		if got := planner.Shapes[0].Encoder; got.Batches != 4 || got.Margin != c.margin || !reflect.DeepEqual(got.Units, c.learned) {
			t.Errorf("case %d: learned %+v, want %v with a margin of %v", i, got, c.learned, c.margin)
		}
	}
}

// A shape that was never planned is planned when its demand is learned, by what was needed in the end.
func TestLearnOfAnotherProcess(t *testing.T) {
	planner := &Planner{}
	r := &Runner{planner: planner, graphs: &Graphs{store: model.NewStore()}}
	shape := Shape{Rows: 2, Source: 4}
	r.Learn(shape, nil)
	if len(planner.Shapes) != 0 {
		t.Error("a plan was made of nothing")
	}
	r.Learn(shape, Demand{{encoder: [][3]int32{{8, 2, 4}, {}}}})
	if len(planner.Shapes) != 1 || planner.Shapes[0].Encoder.Batches != 1 || planner.Shapes[0].Shape != shape {
		t.Errorf("%+v", planner.Shapes)
	}
}

// Keys tell graphs apart by all that they depend on.
func TestKeys(t *testing.T) {
	c := halting.Capacities{{Positions: 2, Rows: 1, Longest: 2}}
	seen := map[string]bool{}
	for _, s := range []Shape{{3, 4, 5}, {4, 4, 5}, {3, 5, 5}, {3, 4, 6}} {
		for _, c := range []Capacities{{}, {Source: c}, {Target: c}, {Source: c, Target: c}} {
			seen[key(s, c)] = true
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d keys of 16 graphs: %v", len(seen), seen)
	}
}

// two is a backend of two devices.
type two struct{ compute.Backend }

func (two) NumDevices() int { return 2 }

// One device splits nothing; a mesh has its own number. Rows and lists are split, numbers are not.
func TestDevices(t *testing.T) {
	s := NewGraphs(enginetest.Backend(t), model.NewStore(), Budget)
	if s.SplitRows(); s.mesh != nil || s.Devices() != 1 {
		t.Errorf("%d devices, mesh %v", s.Devices(), s.mesh)
	}
	pair := NewGraphs(two{enginetest.Backend(t)}, model.NewStore(), Budget)
	if pair.SplitRows(); pair.mesh == nil || pair.Devices() != 2 {
		t.Errorf("%d devices of two, mesh %v", pair.Devices(), pair.mesh)
	}
	mesh, err := distributed.NewDeviceMesh([]int{4}, []string{rowsAxis})
	if err != nil {
		t.Fatal(err)
	}
	if s.mesh = mesh; s.Devices() != 4 {
		t.Errorf("%d devices of 4", s.Devices())
	}
	list, err := split{mesh: mesh}.spread(tensors.FromValue([]int32{1, 2, 3, 4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]int32{{1, 2}, {3, 4}, {5, 0}, {0, 0}} {
		if got := tensors.MustCopyFlatData[int32](list.Shards()[i]); !slices.Equal(got, want) {
			t.Errorf("device %d has %v, want %v", i, got, want)
		}
	}
}

// A plan with more steps than any batch ran lately keeps them where it is enlarged, and a smaller one is made of exactly 0.95 of its work.
func TestPlansAtTheirBounds(t *testing.T) {
	p := StackPlan{Margin: 0.5, Units: [][3]int{{32, 32, 32}, {20, 16, 8}, {2, 8, 4}}, Peaks: []Peak{{Current: [3]float64{1, 1, 1}}, {}, {}}}
	if got, want := p.larger(0, false), [][3]int{{32, 32, 32}, {32, 32, 32}, {4, 32, 32}}; !reflect.DeepEqual(got, want) {
		t.Errorf("enlarged from the first step: %v, want %v", got, want)
	}
	if got, want := p.larger(3, false), p.Units; !reflect.DeepEqual(got, want) {
		t.Errorf("enlarged beyond its steps: %v, want %v", got, want)
	}
	planner := &Planner{}
	plan := planner.For(Shape{Rows: 8, Source: 20})
	plan.Encoder = StackPlan{Batches: 3, Units: [][3]int{{32, 32, 32}, {8, 32, 32}}}
	planner.observe(plan, 1, needed{encoder: [][3]int32{{145, 8, 20}, {35, 8, 20}, {}}}) // 29 and 7 units and a margin: 30 and 8
	if got, want := plan.Encoder.Units, [][3]int{{30, 32, 32}, {8, 32, 32}}; !reflect.DeepEqual(got, want) {
		t.Errorf("38 of 40 units: %v, want %v", got, want)
	}
	started := &Planner{Shapes: []*ShapePlan{{Shape: Shape{Rows: 8, Source: 20}, Encoder: StackPlan{Batches: 3, Margin: 0.5, Peaks: []Peak{{Current: [3]float64{0.5, 1, 1}}, {Current: [3]float64{0.1, 1, 1}}, {}}}}}}
	if got, want := started.For(Shape{Rows: 8, Source: 30}).Encoder.Units, [][3]int{{32, 32, 32}, {4, 32, 32}}; !reflect.DeepEqual(got, want) {
		t.Errorf("a new shape starts with %v, want %v", got, want)
	}
	if n := (&StackPlan{}).MeanUpdates(); n != 0 {
		t.Errorf("%v updates of nothing known", n)
	}
	steps := StackPlan{}
	steps.note([][3]int32{{3, 2, 1}, {}}, 8, 20, true)
	if got := steps.Peaks; got[0].Current != [3]float64{1, 1, 1} || got[1].Current != [3]float64{} {
		t.Errorf("shares of steps that are run whole: %v", got)
	}
}

// slow is a backend under the name of one that compiles slowly.
type slow struct{ compute.Backend }

func (slow) Name() string { return "xla" }

// Where compiling is slow, capacities are not planned, and new variables get their values from the default backend: they are in memory
// before a graph is called. Elsewhere graphs make them.
// Caught when planted: planned capacities on every backend; values that stay on another backend; variables that have a value made anew.
func TestBackendsThatCompileSlowly(t *testing.T) {
	for _, backend := range []compute.Backend{enginetest.Backend(t), slow{enginetest.Backend(t)}} {
		_, slowly := backend.(slow)
		store := model.NewStore()
		kept, err := store.CreateVariable("/kept", tensors.FromValue([]float32{3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		fresh := store.RootScope().WithInitializer(func(g *Graph, s shapes.Shape) *Node { return FillScalar(g, s, 7) }).
			VariableWithShape("fresh", shapes.Make(dtypes.Float32, 2))
		s := NewGraphs(backend, store, Budget)
		if s.Runner(nil, &Planner{}).Plans() == slowly || s.Runner(nil, nil).Plans() {
			t.Errorf("%s: planned %v", backend.Name(), !slowly)
		}
		if err := s.initialize(); err != nil {
			t.Fatal(err)
		}
		if fresh.HasValue() != slowly {
			t.Errorf("%s: the new variable has a value: %v", backend.Name(), fresh.HasValue())
		}
		if slowly {
			value := fresh.MustValue()
			if !value.IsLocal() || value.IsOnAnyDevice() || !slices.Equal(tensors.MustCopyFlatData[float32](value), []float32{7, 7}) {
				t.Errorf("the new variable is %v, local %v", value, value.IsLocal())
			}
		}
		if got := tensors.MustCopyFlatData[float32](kept.MustValue()); !slices.Equal(got, []float32{3, 4}) {
			t.Errorf("a variable that had a value is %v", got)
		}
	}
}

// A graph that is larger than the budget is kept alone; one that fills it exactly makes no room.
func TestBudgetsOfOneGraph(t *testing.T) {
	graph := func(_ *model.Scope, nodes []*Node, _ Capacities) ([]*Node, universal.Result) {
		return []*Node{ReduceAllSum(nodes[0])}, universal.Result{}
	}
	call := func(r *Runner, length int) {
		if _, err := r.Call(Shape{Source: length}, tensors.FromFlatDataAndDimensions(make([]float32, length), length)); err != nil {
			t.Fatal(err)
		}
	}
	measured := NewGraphs(enginetest.Backend(t), model.NewStore(), Budget)
	call(measured.Runner(graph, nil), 1)
	size := measured.Stats().Bytes
	for budget, want := range map[int]int{1: 1, size: 1, 2*size - 1: 1, 2 * size: 2, 3 * size: 3} {
		s := NewGraphs(enginetest.Backend(t), model.NewStore(), budget)
		r := s.Runner(graph, nil)
		for length := 1; length <= 3; length++ {
			call(r, length)
			if got := s.Stats(); got.Alive != min(want, length) || got.Compiled != length || got.Calls != length || got.Bytes != got.Alive*size {
				t.Errorf("a budget of %d for graphs of %d: %+v after %d", budget, size, got, length)
			}
		}
		call(r, 3)
		if got := s.Stats(); got.Compiled != 3 || got.Calls != 4 {
			t.Errorf("a graph that is kept is compiled again: %+v", got)
		}
		s.Close()
	}
}

// A runner that is closed frees its own graphs, not those of others. Caught when planted: the graphs of others freed.
func TestCloseFreesTheOwnGraphs(t *testing.T) {
	s := NewGraphs(enginetest.Backend(t), model.NewStore(), Budget)
	defer s.Close()
	var runners [2]*Runner
	call := func(r *Runner) {
		if _, err := r.Call(Shape{Source: 3}, tensors.FromValue([]float32{1, 2, 3})); err != nil {
			t.Fatal(err)
		}
	}
	for i := range runners {
		runners[i] = s.Runner(func(_ *model.Scope, nodes []*Node, _ Capacities) ([]*Node, universal.Result) {
			return []*Node{ReduceAllSum(nodes[0])}, universal.Result{}
		}, nil)
		call(runners[i])
	}
	runners[0].Close()
	if got := s.Stats(); got.Alive != 1 || got.Compiled != 2 {
		t.Errorf("one of two runners was closed: %+v", got)
	}
	if call(runners[1]); s.Stats().Compiled != 2 {
		t.Error("the graph of the other runner was freed")
	}
}
