package capacity

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// drawn is the demand of a batch [8, 20] whose positions go on with probability p after each of at most 10 steps.
func drawn(rng *rand.Rand, p float64) [][3]int32 {
	demand := make([][3]int32, 11)
	for range 8 {
		row := make([]int32, 11)
		for range 20 {
			for t := range 10 {
				row[t]++
				if rng.Float64() > p {
					break
				}
			}
		}
		for t, n := range row {
			demand[t][0] += n
			demand[t][1] += min(n, 1)
			demand[t][2] = max(demand[t][2], n)
		}
	}
	return demand
}

// planned is a planner of encoders for batches [8, 20] that takes compiling for free, its plan, and what records a demand.
func planned(stepsOnly bool) (*StackPlan, func([][3]int32)) {
	planner := &Planner{StepsOnly: stepsOnly}
	plan := planner.For(Shape{Rows: 8, Source: 20})
	return &plan.Encoder, func(demand [][3]int32) { planner.observe(plan, 1, needed{encoder: demand}) }
}

// enough tells whether capacities meet a demand.
func enough(c halting.Capacities, demand [][3]int32) bool {
	for t, d := range demand {
		var given halting.Capacity
		if t < len(c) {
			given = c[t]
		}
		if int(d[0]) > given.Positions || int(d[1]) > given.Rows || int(d[2]) > given.Longest {
			return false
		}
	}
	return true
}

// Of batches that are drawn alike, hardly any needs more than was planned, and what is planned is little more than what is needed. The
// bounds were met by 20 seeds with a margin.
// Caught when planted: no margin; a plan that never shrinks; the last steps left without capacity.
func TestPlanIsTightAndSeldomTooSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	p, observe := planned(false)
	overflows, needed, given, plans := 0, 0, 0, map[string]bool{}
	for i := range 1000 {
		demand := drawn(rng, 0.7)
		c := p.Capacities(8, 20)
		if c == nil && i >= 5 {
			t.Fatal("there is no plan")
		}
		if c != nil {
			if err := c.Validate(8, 20); err != nil {
				t.Fatal(err)
			}
			if !enough(c, demand) {
				overflows++
			}
			for step, d := range demand {
				needed += int(d[0])
				if step < len(c) {
					given += c[step].Positions
				}
			}
		}
		observe(demand)
		plan, err := json.Marshal(p.Units)
		if err != nil {
			t.Fatal(err)
		}
		plans[string(plan)] = true
	}
	if overflows > 30 {
		t.Errorf("%d of 1000 batches overflowed", overflows)
	}
	if ratio := float64(given) / float64(needed); ratio > 1.5 {
		t.Errorf("%.2f times the capacity that was needed", ratio)
	}
	if len(plans) > 30 {
		t.Errorf("%d plans in 1000 batches: each costs a compiled graph", len(plans))
	}
}

// When a model comes to halt later, the plan follows at once; when earlier, after a while. It does not rise without end.
func TestPlanFollowsTheDemand(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p, observe := planned(false)
	run := func(probability float64, batches int) (positions int) {
		for range batches {
			observe(drawn(rng, probability))
		}
		for _, c := range p.Capacities(8, 20) {
			positions += c.Positions
		}
		return positions
	}
	shallow := run(0.3, 100)
	deep := run(0.9, 3)
	if deep < 2*shallow {
		t.Errorf("capacity for %d positions where %d were enough before halting came later", deep, shallow)
	}
	if again := run(0.3, 300); again > shallow*3/2 {
		t.Errorf("capacity for %d positions long after halting came earlier, %d before", again, shallow)
	}
}

// A planner that was written and read again goes on as the same, what was wasted included.
// Caught when planted: Wasted not written.
func TestPlanIsKept(t *testing.T) {
	shape := Shape{Rows: 8, Source: 20}
	p := Planner{CompileCost: 5000}
	wasted := 0
	for i := range 60 {
		written, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var q Planner
		if err := json.Unmarshal(written, &q); err != nil {
			t.Fatal(err)
		}
		demand := drawn(rand.New(rand.NewPCG(5, uint64(i))), 0.6)
		p.observe(p.For(shape), 7, needed{encoder: demand})
		q.observe(q.For(shape), 7, needed{encoder: demand})
		if !reflect.DeepEqual(p, q) {
			t.Fatalf("after %d batches: %+v, read again %+v", i, p.Shapes[0], q.Shapes[0])
		}
		if p.Shapes[0].Wasted > 0 {
			wasted++
		}
	}
	if p.Shapes[0].Encoder.Units == nil || wasted == 0 {
		t.Errorf("the case shows nothing: %+v", p.Shapes[0])
	}
}

// Where positions cannot be left out, a plan is a number of steps: full capacity in each, however few positions ran. So demand that
// varies from batch to batch overflows only where it takes more steps than any batch did lately, and there are few plans.
// Caught when planted: shares of positions planned all the same; steps that are not planned.
func TestStepsOnlyPlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	p, observe := planned(true)
	overflows, plans := 0, map[int]bool{}
	for i := range 1000 {
		demand, steps := drawn(rng, 0.35), 0
		for steps < len(demand) && demand[steps][0] > 0 {
			steps++
		}
		if c := p.Capacities(8, 20); c != nil {
			for step, given := range c {
				if (given != halting.Capacity{Positions: 160, Rows: 8, Longest: 20}) {
					t.Fatalf("step %d has capacity %+v of a batch of 8 x 20", step+1, given)
				}
			}
			if plans[len(c)] = true; !enough(c, demand) {
				overflows++
				if steps <= len(c) {
					t.Fatalf("batch %d overflowed in %d steps, %d were planned", i, steps, len(c))
				}
			}
		}
		observe(demand)
	}
	if overflows > 30 || len(plans) > 10 || len(plans) < 2 {
		t.Errorf("%d of 1000 batches overflowed, %d plans", overflows, len(plans))
	}
}

// needs is the demand of a batch whose positions all run so many steps, of at most 8.
func needs(s Shape, steps int) [][3]int32 {
	demand := make([][3]int32, 9)
	for t := range steps {
		demand[t] = [3]int32{int32(s.Rows * s.Source), int32(s.Rows), int32(s.Source)}
	}
	return demand
}

// Short sequences that stop early are planned beside long ones that do not, and a length between them starts from the nearest.
// Caught when planted: one plan for all shapes; plans of two shapes that share their peaks.
func TestEveryShapeHasItsOwnPlan(t *testing.T) {
	var planner Planner
	short, long := Shape{Rows: 32, Source: 10}, Shape{Rows: 32, Source: 40}
	observe := func(s Shape, demand [][3]int32) { planner.observe(planner.For(s), 1, needed{encoder: demand}) }
	for range 20 {
		observe(short, [][3]int32{{320, 32, 10}, {32, 32, 1}, {0, 0, 0}})
		observe(long, needs(long, 3))
	}
	for _, c := range []struct {
		source int
		least  float64 // updates that a position needs
	}{{10, 1.1}, {13, 1.1}, {35, 3}, {40, 3}} {
		got := planner.For(Shape{Rows: 31, Source: c.source}).Encoder.MeanUpdates()
		if got < c.least || got > c.least+0.2 {
			t.Errorf("length %d: capacity for %v updates a position, %v are needed", c.source, got, c.least)
		}
	}
	before := planner.For(short).Encoder
	before.Peaks = append([]Peak{}, before.Peaks...)
	observe(Shape{Rows: 31, Source: 13}, needs(Shape{Rows: 31, Source: 13}, 3))
	if got := planner.For(short).Encoder; !reflect.DeepEqual(got, before) {
		t.Errorf("the plan of length 10 changed with length 13: %+v, before %+v", got, before)
	}
}

// What batches of one length need is planned for similar lengths before they overflow, and for others it is not.
// Caught when planted: what others needed not noted, or not looked at before a batch; shares taken of the wrong shape; noted for all lengths; peaks
// that were no more than planned taken for more.
func TestSimilarLengthsGrowTogether(t *testing.T) {
	var planner Planner
	a, b, c := Shape{Rows: 40, Source: 25, Target: 1}, Shape{Rows: 32, Source: 31, Target: 1}, Shape{Rows: 31, Source: 32, Target: 1}
	run := func(s Shape, steps int) (overflow bool) {
		plan, demand := planner.For(s), needs(s, steps)
		if units := plan.Encoder.Units; units != nil && !enough(plan.Encoder.Capacities(s.Rows, s.Source), demand) {
			overflow = true
			planner.grow(plan, 1, needed{overflow: true, encoder: demand[:len(units)+1]})
		}
		planner.observe(plan, 1, needed{encoder: demand})
		return overflow
	}
	for range 5 {
		for _, s := range []Shape{a, b, c} {
			if run(s, 2) {
				t.Fatalf("%+v overflows where nothing changes", s)
			}
		}
	}
	was := planner.For(b).Encoder.Units
	if len(was) != 2 {
		t.Fatalf("the plan is %v, not two steps", was)
	}
	if run(a, 2) || !reflect.DeepEqual(planner.For(b).Encoder.Units, was) {
		t.Errorf("the plan became %v although a batch of a similar length needed no more", planner.For(b).Encoder.Units)
	}
	for i, step := range []struct {
		shape    Shape
		steps    int
		overflow bool
	}{{a, 3, true}, {b, 3, false}, {c, 2, false}} {
		if got := run(step.shape, step.steps); got != step.overflow {
			t.Errorf("batch %d of %+v overflows: %v", i, step.shape, got)
		}
	}
	for step, peak := range planner.For(b).Encoder.Peaks {
		if peak.Current != [3]float64{} && peak.Current != [3]float64{1, 1, 1} {
			t.Errorf("step %d: shares of %v of batches that all ran", step+1, peak.Current)
		}
	}
	fresh := Planner{}
	for i, s := range []Shape{a, c} {
		planner := &fresh
		for range 5 {
			planner.observe(planner.For(s), 1, needed{encoder: needs(s, 2+i)})
		}
	}
	if got := len(fresh.For(a).Encoder.Units); got != 2 {
		t.Errorf("length 25 has %d steps planned, like length 32", got)
	}
}

// A plan that was too small gets head room: a step that needs more than an eighth has room for all, so demand that goes on rising
// stays within the plan, and there are two steps of an eighth at the end.
// Caught when planted: the least plan that is enough; no further steps; room for all in every step.
func TestLargerPlansHaveHeadRoom(t *testing.T) {
	const e, all = fewUnits, units
	for _, c := range []struct {
		name    string
		units   [][3]int
		demand  [][3]int32 // of [8, 20]
		from    int
		want    [][3]int
		wantAll [][3]int // where positions cannot be left out
	}{
		{"a step more", [][3]int{{all, all, all}, {all, all, all}}, [][3]int32{{160, 8, 20}, {160, 8, 20}, {3, 2, 1}, {}, {}, {}, {}}, 2,
			[][3]int{{all, all, all}, {all, all, all}, {e, all, all}, {e, all, all}}, [][3]int{{all, all, all}, {all, all, all}, {all, all, all}, {all, all, all}}},
		{"a large step more", [][3]int{{all, all, all}}, [][3]int32{{160, 8, 20}, {60, 6, 10}, {}, {}, {}, {}, {}}, 1,
			[][3]int{{all, all, all}, {all, all, all}, {e, all, all}, {e, all, all}}, [][3]int{{all, all, all}, {all, all, all}, {all, all, all}}},
		{"a step that is known", [][3]int{{all, all, all}, {8, 16, 16}, {2, 16, 8}}, [][3]int32{{160, 8, 20}, {44, 5, 8}, {9, 2, 2}, {}, {}, {}, {}}, 1,
			[][3]int{{all, all, all}, {all, all, all}, {e, all, all}, {e, all, all}}, nil},
		{"never more than in the step before", [][3]int{{20, 18, 22}, {3, 8, 8}}, [][3]int32{{90, 4, 13}, {20, 3, 6}, {}, {}, {}, {}, {}}, 1,
			[][3]int{{20, 18, 22}, {20, 18, 22}, {e, 18, 22}, {e, 18, 22}}, nil},
		{"two steps of an eighth are enough", [][3]int{{all, all, all}, {9, 12, 9}, {4, 8, 8}, {2, 7, 8}}, [][3]int32{{160, 8, 20}, {46, 5, 7}, {9, 2, 2}, {3, 1, 1}, {}, {}, {}}, 1,
			[][3]int{{all, all, all}, {all, all, all}, {e, all, all}, {e, all, all}}, nil},
		{"no more than the few of the step before", [][3]int{{all, all, all}, {2, 16, 16}}, [][3]int32{{160, 8, 20}, {5, 4, 8}, {5, 2, 5}, {}, {}, {}, {}}, 2,
			[][3]int{{all, all, all}, {2, 18, 16}, {2, 18, 16}}, nil},
		{"no more steps than there are", [][3]int{{all, all, all}}, [][3]int32{{160, 8, 20}, {60, 6, 10}, {}}, 1,
			[][3]int{{all, all, all}, {all, all, all}}, [][3]int{{all, all, all}, {all, all, all}}},
	} {
		for _, stepsOnly := range []bool{false, true} {
			want := c.want
			if stepsOnly {
				want = c.wantAll
			}
			if want == nil {
				continue
			}
			p := StackPlan{Units: c.units}
			p.note(c.demand, 8, 20, stepsOnly)
			if got := p.larger(c.from, stepsOnly); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, steps only %v: %v, want %v", c.name, stepsOnly, got, want)
			}
		}
	}
}

// Whatever was needed, and however plans grew and shrank, they are capacities that a model accepts.
// Caught when planted: rows that rise from one step to the next.
func TestPlansAreValid(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	planner := &Planner{CompileCost: 500}
	overflows := 0
	for i := range 2000 {
		s := Shape{Rows: 8, Source: 20}
		if i%3 == 0 {
			s.Rows = 7 // the demand of 8 rows is that of 7 and of one more, roughly
		}
		demand := drawn(rng, 0.2+0.7*rng.Float64())
		for t := range demand {
			demand[t][0], demand[t][1] = min(demand[t][0], int32(s.Rows*s.Source)), min(demand[t][1], int32(s.Rows))
		}
		plan := planner.For(s)
		if units := plan.Encoder.Units; units != nil {
			c := plan.Encoder.Capacities(s.Rows, s.Source)
			if err := c.Validate(s.Rows, s.Source); err != nil {
				t.Fatalf("batch %d: %v, planned %v", i, err, units)
			}
			if !enough(c, demand) {
				overflows++
				planner.grow(plan, 1, needed{overflow: true, encoder: demand[:min(len(demand), len(units)+1)]})
			}
		}
		planner.observe(plan, 1, needed{encoder: demand})
	}
	if overflows < 10 {
		t.Errorf("%d overflows: the case shows nothing", overflows)
	}
}

// A shape that comes for the first time has no graph, so it gets a small plan at once from what the nearest needed, although that one's
// own has not paid yet.
// Caught when planted: the nearest shape's plan copied; a plan before anything was observed.
func TestNewShapesStartSmall(t *testing.T) {
	planner := &Planner{CompileCost: 1e12}
	first := Shape{Rows: 8, Source: 20}
	for i := range 5 {
		plan := planner.For(first)
		if plan.Encoder.Units != nil {
			t.Fatalf("there is a plan after %d batches that has not paid", i)
		}
		planner.observe(plan, 1, needed{encoder: needs(first, 2)})
		next := planner.For(Shape{Rows: 8, Source: 30 + i})
		if got := len(next.Encoder.Units); i+1 < firstPlan && got != 0 || i+1 >= firstPlan && got != 2 {
			t.Errorf("after %d batches a new shape gets %d steps", i+1, got)
		}
		planner.Shapes = planner.Shapes[:1]
	}
}

// A graph is compiled for a smaller plan once it would have saved what compiling costs, not before, and never if it costs more than all
// batches; what few batches of a shape needed waits for more of them.
// Caught when planted: a plan after firstPlan batches whatever it saves; the cost of one step for that of all.
func TestPlansPayForTheirGraphs(t *testing.T) {
	need := [][3]int32{{160, 8, 20}, {80, 4, 20}, {80, 4, 20}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}
	// Full capacity is 8 steps of 160; the least level above a half and a margin is 18 of 32: 160 + 90 + 90, so a batch wastes 940 positions.
	const wasted, steps, parameters = 940 * 1000, 3, 1000
	for _, batches := range []int{1, 3, 10, 200} {
		planner := &Planner{CompileCost: wasted * float64(max(batches, firstPlan)) / steps}
		plan := planner.For(Shape{Rows: 8, Source: 20})
		for i := range max(batches, firstPlan) {
			if plan.Encoder.Units != nil {
				t.Fatalf("%d batches pay for a graph, but there is a plan after %d", batches, i)
			}
			planner.observe(plan, parameters, needed{encoder: need})
		}
		if len(plan.Encoder.Units) != steps || plan.Encoder.MeanUpdates() != 68./32 || plan.Wasted != 0 {
			t.Errorf("%d batches pay for a graph, but after them there is the plan %v", batches, plan.Encoder.Units)
		}
	}
}

// A plan that was too small is enlarged if full capacity would cost more than the larger graph within [soon] batches; otherwise it stays,
// and so does what it has wasted.
// Caught when planted: the decision inverted; the cost of one step for that of all; one stack's saving for that of both.
func TestPlansGrowIfTheirGraphsPay(t *testing.T) {
	const all, parameters = units, 1000
	small, shape := [][3]int{{all, all, all}}, Shape{Rows: 8, Source: 20, Target: 20}
	peaks := make([]Peak, 7) // of at most 6 steps
	need := [][3]int32{{160, 8, 20}, {60, 6, 10}}
	// The larger plan of this need has 32 + 32 + 4 + 4 of the 6 * 32 units, as in TestLargerPlansHaveHeadRoom, so full capacity costs
	// 120 / 32 of 160 positions more; in 8 batches 4800. It is a graph of 4 steps.
	for _, stacks := range []int{1, 2} {
		for _, c := range []struct {
			cost float64
			want bool
		}{{0, true}, {1199, true}, {1200, true}, {1201, false}, {1e6, false}} {
			plan := &ShapePlan{Shape: shape, Wasted: 5, Encoder: StackPlan{Units: small, Peaks: slices.Clone(peaks)}}
			n := needed{overflow: true, encoder: need}
			if stacks == 2 {
				plan.Decoder, n.decoder = StackPlan{Units: small, Peaks: slices.Clone(peaks)}, need
			}
			planner := &Planner{CompileCost: c.cost * parameters, Shapes: []*ShapePlan{plan}}
			if got := planner.grow(plan, parameters, n); got != c.want || (plan.Wasted == 0) != c.want {
				t.Errorf("%d stacks, a step costs %v: grown %v, %v wasted", stacks, c.cost, got, plan.Wasted)
			}
			for i, stack := range []StackPlan{plan.Encoder, plan.Decoder}[:stacks] {
				if grown := len(stack.Units) == 4; grown != c.want {
					t.Errorf("%d stacks, a step costs %v: the plan of stack %d is %v", stacks, c.cost, i, stack.Units)
				}
			}
		}
	}
}

// Demand that goes up and down comes back to few plans, if a plan has to pay for its graph.
// Caught when planted: plans that pay nothing; plans raised where shares are compared in units, not in positions.
func TestPlansAreFew(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	planner := &Planner{CompileCost: 1000}
	s := Shape{Rows: 8, Source: 20}
	plans := map[string]bool{}
	for i := range 3000 {
		plan, demand := planner.For(s), drawn(rng, 0.5+0.3*float64(i/100%2))
		if units := plan.Encoder.Units; units != nil && !enough(plan.Encoder.Capacities(8, 20), demand) {
			planner.grow(plan, 1, needed{overflow: true, encoder: demand[:min(len(demand), len(units)+1)]})
		}
		planner.observe(plan, 1, needed{encoder: demand})
		plans[fmt.Sprint(plan.Encoder.Units)] = true
	}
	if len(plans) > 55 {
		t.Errorf("%d plans of 3000 batches", len(plans))
	}
}

// A planner knows the plan of a shape once there has been a batch of it.
// Caught when planted: the plan of another shape; a plan that is not known.
func TestKnownPlans(t *testing.T) {
	planner := &Planner{}
	a, b := Shape{Rows: 8, Source: 20, Target: 3}, Shape{Rows: 8, Source: 20, Target: 4}
	if planner.lookup(a) != nil {
		t.Error("a plan is known before the first batch")
	}
	first, second := planner.For(a), planner.For(b)
	if first == second || planner.lookup(a) != first || planner.lookup(b) != second || planner.For(a) != first {
		t.Error("the plans of two shapes are not told apart")
	}
	if planner.lookup(Shape{Rows: 7, Source: 20, Target: 3}) != nil {
		t.Error("the plan of another number of rows is known")
	}
}

// What a graph costs depends on the weights that are trained, not on an optimizer's variables.
// Caught when planted: variables that are not trained.
func TestParametersAreTrained(t *testing.T) {
	store := model.NewStore()
	for path, c := range map[string]struct {
		dimensions []int
		trainable  bool
	}{"/a": {[]int{3, 4}, true}, "/b": {[]int{5}, true}, "/optimizer/a": {[]int{3, 4, 10}, false}} {
		v, err := store.CreateVariable(path, tensors.FromShape(shapes.Make(dtypes.Float32, c.dimensions...)))
		if err != nil {
			t.Fatal(err)
		}
		v.SetTrainable(c.trainable)
	}
	if got := parameters(store); got != 17 {
		t.Errorf("%d parameters, want 3*4 + 5", got)
	}
}
