package capacity

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"universal-transformer/universal"
)

// What a batch [8, 20] needs compared with a plan of half of its positions, all rows, and a quarter of a row: 80, 8 and 5. Where
// positions cannot be left out, whatever runs needs everything, and what does not run nothing.
// Caught when planted: exactly the plan taken for more; a step without positions taken for all of them.
func TestExceeds(t *testing.T) {
	half, all := [][3]int{{16, 32, 8}}, [][3]int{{32, 32, 32}}
	for _, c := range []struct {
		units     [][3]int
		step      int
		demand    [3]int32
		stepsOnly bool
		want      bool
	}{
		{half, 0, [3]int32{80, 8, 5}, false, false}, {half, 0, [3]int32{81, 8, 5}, false, true}, {half, 0, [3]int32{80, 8, 6}, false, true},
		{half, 0, [3]int32{}, false, false}, {half, 1, [3]int32{}, false, false}, {half, 1, [3]int32{1, 1, 1}, false, true},
		{half, 0, [3]int32{1, 1, 1}, true, true}, {half, 0, [3]int32{}, true, false}, {half, 1, [3]int32{}, true, false}, {half, 1, [3]int32{1, 1, 1}, true, true},
		{all, 0, [3]int32{160, 8, 20}, true, false}, {all, 0, [3]int32{1, 1, 1}, true, false}, {nil, 3, [3]int32{160, 8, 20}, false, false},
	} {
		p := StackPlan{Units: c.units}
		if got := p.exceeds(c.step, c.demand, 8, 20, c.stepsOnly); got != c.want {
			t.Errorf("step %d of %v needs %v, steps only %v: exceeds is %v", c.step, c.units, c.demand, c.stepsOnly, got)
		}
	}
}

// A margin doubles with every overflow, from a half up to 4, and halves with every block of 32 batches; peaks are those of the last two
// blocks.
// Caught when planted: a block of another length; a margin without a bound; peaks that are never forgotten.
func TestMargins(t *testing.T) {
	p := StackPlan{}
	for i, want := range []float64{1, 2, 4, 4} {
		p.Units = [][3]int{{1, 1, 1}}
		p.observe([][3]int32{{160, 8, 20}, {}}, 8, 20, false)
		if p.Margin != want || p.Units != nil || p.Batches != i+1 {
			t.Errorf("after overflow %d the margin is %v, want %v; units %v", i+1, p.Margin, want, p.Units)
		}
	}
	for batch := 5; batch <= 130; batch++ {
		p.observe([][3]int32{{80, 8, 20}, {}}, 8, 20, false)
		want, previous := max(4/float64(int(1)<<((batch-1)/32)), 0.5), 0.5
		if batch <= 32 {
			previous = 0
		} else if batch <= 64 {
			previous = 1
		}
		if p.Margin != want || p.Peaks[0].Previous[0] != previous {
			t.Fatalf("batch %d: margin %v, previous peak %v, want %v and %v", batch, p.Margin, p.Peaks[0].Previous[0], want, previous)
		}
	}
}

// Levels are whole units up to a quarter of a batch and even numbers above. Caught when planted: even numbers at the quarter itself.
func TestLevels(t *testing.T) {
	for least, want := range map[float64]int{0.1: 1, 1: 1, 1.1: 2, 6.5: 7, 7: 7, 8: 8, 8.1: 10, 9: 10, 10: 10, 10.5: 12, 30.5: 32, 32: 32, 40: 32} {
		if got := level(least); got != want {
			t.Errorf("the level of %v is %d, want %d", least, got, want)
		}
	}
}

// Plans of a file at the bounds of what is possible. Caught when planted: a step of one unit refused; a margin of 0 refused.
func TestBoundsOfPlans(t *testing.T) {
	peaks := make([]Peak, 2)
	for _, c := range []struct {
		plan StackPlan
		want string
	}{
		{StackPlan{}, ""}, {StackPlan{Peaks: peaks, Units: [][3]int{{32, 32, 32}, {1, 1, 1}}}, ""}, {StackPlan{Peaks: peaks, Units: [][3]int{{1, 2, 3}, {1, 2, 3}}}, ""},
		{StackPlan{Batches: -1}, "-1 batches"}, {StackPlan{Margin: -0.5}, "margin of -0.5"}, {StackPlan{Margin: math.NaN()}, "margin of NaN"},
		{StackPlan{Peaks: peaks, Units: make([][3]int, 3)}, "3 steps planned after 2"}, {StackPlan{Peaks: peaks, Units: [][3]int{{0, 1, 1}}}, "step 1 is planned with 0 units: it must be from 1 to 32"},
		{StackPlan{Peaks: peaks, Units: [][3]int{{32, 32, 33}}}, "step 1 is planned with 33 units"},
		{StackPlan{Peaks: peaks, Units: [][3]int{{32, 5, 32}, {32, 6, 32}}}, "step 2 is planned with 6 units: it must be from 1 to 5"},
	} {
		err := (&Planner{Shapes: []*ShapePlan{{}, {Decoder: c.plan}}}).Validate()
		if (err == nil) != (c.want == "") || err != nil && !(strings.Contains(err.Error(), c.want) && strings.HasPrefix(err.Error(), "decoder of shape 2: ")) {
			t.Errorf("%+v: %v, want %q", c.plan, err, c.want)
		}
	}
	if err := (&Planner{Shapes: []*ShapePlan{nil}}).Validate(); err == nil || err.Error() != "shape 1 is null" {
		t.Errorf("a shape that is null: %v", err)
	}
}

// Lengths are similar up to a ratio of 5 to 4, and the distance of shapes is the sum of their differences.
// Caught when planted: the ratio itself taken for too much; a difference left out. Of two shapes equally near the first counts.
func TestNearShapes(t *testing.T) {
	for _, c := range []struct {
		a, b     Shape
		similar  bool
		distance int
	}{
		{Shape{3, 20, 8}, Shape{9, 25, 10}, true, 6 + 5 + 2}, {Shape{3, 20, 8}, Shape{3, 26, 8}, false, 6}, {Shape{3, 20, 8}, Shape{3, 20, 11}, false, 3},
		{Shape{3, 20, 8}, Shape{3, 16, 7}, true, 4 + 1}, {Shape{1, 0, 4}, Shape{1, 0, 5}, true, 1}, {Shape{1, 0, 4}, Shape{1, 1, 4}, false, 1},
	} {
		for range 2 {
			if c.a.similar(c.b) != c.similar || c.a.distance(c.b) != c.distance {
				t.Errorf("%v and %v: similar %v, distance %d", c.a, c.b, c.a.similar(c.b), c.a.distance(c.b))
			}
			c.a, c.b = c.b, c.a
		}
	}
	planner := &Planner{Shapes: []*ShapePlan{
		{Shape: Shape{4, 30, 1}}, {Shape: Shape{4, 10, 1}, Encoder: StackPlan{Batches: 1}}, {Shape: Shape{4, 20, 1}, Encoder: StackPlan{Batches: 2}},
	}}
	if got := planner.For(Shape{4, 15, 1}); got.Encoder.Batches != 1 || got.Source != 15 {
		t.Errorf("length 15 starts from %+v, want the plan of length 10", got)
	}
	if got := planner.For(Shape{4, 17, 1}); got.Encoder.Batches != 1 { // of length 15
		t.Errorf("length 17 starts from %+v, want the plan of length 15", got)
	}
}

// Statistics add up and are shown. Caught when planted: time of compiling that is subtracted.
func TestStatistics(t *testing.T) {
	var s Graphs
	for range 3 {
		s.compiled(time.Now().Add(-time.Second))
	}
	if got := s.Stats(); got.Compiled != 3 || got.Compiling < 3*time.Second || got.Compiling > time.Minute {
		t.Errorf("%+v after three graphs of a second each", got)
	}
	got := Stats{Alive: 2, Bytes: 3<<20 + 5, Compiled: 7, Compiling: time.Second}.Line(4 * time.Second)
	if want := "graphs: 7 compiled, 2 kept in about 3 MiB; compiling took 25.0 % of the time"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if keys := []string{key(Shape{1, 2, 3}, Capacities{}), key(Shape{2, 1, 3}, Capacities{})}; keys[0] == keys[1] {
		t.Errorf("two shapes have the key %q", keys[0])
	}
}

// Demands that end too early are errors, wherever they end.
func TestDemandOfPieces(t *testing.T) {
	whole := Demand{{overflow: true, encoder: [][3]int32{{5, 2, 3}, {1, 1, 1}}}, {encoder: [][3]int32{{6, 2, 3}}, decoder: [][3]int32{{0, 0, 0}}}}
	numbers := whole.Numbers()
	if want := []float64{2, 5, 2, 3, 1, 1, 1, 0, 1, 6, 2, 3, 1, 0, 0, 0}; !slices.Equal(numbers, want) {
		t.Errorf("%v, want %v", numbers, want)
	}
	for n := range numbers {
		if d, err := DemandOf(numbers[:n]); (err == nil) != (n == 0 || n == 8) {
			t.Errorf("%d numbers: %v, %v", n, d, err)
		}
	}
	for _, bad := range [][]float64{{-1, 0}, {math.NaN(), 0}, {1e300, 0}, {0}} {
		if d, err := DemandOf(bad); err == nil {
			t.Errorf("%v: %v", bad, d)
		}
	}
}

// A runner without a planner has the shape alone as its plan, and learns nothing.
func TestWithoutPlanner(t *testing.T) {
	r := &Runner{graphs: &Graphs{}}
	if got := r.Plan(Shape{1, 2, 3}); got.Shape != (Shape{1, 2, 3}) || got.Encoder.Units != nil || r.Plans() {
		t.Errorf("%+v", got)
	}
	r.Learn(Shape{1, 2, 3}, Demand{{}})
	if (*Planner)(nil).Validate() != nil || NewPlanner(universal.Model(nil)) != nil {
		t.Error("no planner is not valid, or no model has one")
	}
}

// A plan is made after three batches, not before, even where compiling costs nothing, and only if both stacks have seen as many.
// Caught when planted: a plan after two batches; a stack that is not asked.
func TestPlansNeedThreeBatches(t *testing.T) {
	demand := [][3]int32{{160, 8, 20}, {}, {}, {}}
	planner := &Planner{}
	plan := planner.For(Shape{Rows: 8, Source: 20, Target: 20})
	for batch := 1; batch <= 4; batch++ {
		planner.observe(plan, 1, needed{encoder: demand, decoder: demand})
		if got := plan.Encoder.Units != nil; got != (batch >= 3) || got != (plan.Decoder.Units != nil) {
			t.Errorf("after %d batches the plans are %v and %v", batch, plan.Encoder.Units, plan.Decoder.Units)
		}
	}
	late := planner.For(Shape{Rows: 8, Source: 9, Target: 9})
	late.Encoder, late.Decoder = StackPlan{Batches: 5}, StackPlan{}
	for batch := 1; batch <= 3; batch++ {
		planner.observe(late, 1, needed{encoder: demand[:3], decoder: demand[:3]})
		if got := late.Encoder.Units != nil; got != (batch >= 3) {
			t.Errorf("the decoder has seen %d batches, the plans are %v and %v", batch, late.Encoder.Units, late.Decoder.Units)
		}
	}
}

// What a plan wasted is forgotten with it, by a smaller plan, by a larger one, and by a new shape that starts from it; and decoders are
// raised like encoders. Capacities never exceed those of rows times the longest.
// Caught when planted: waste that goes on; decoders that wait for an overflow; a copy that shares its peaks.
func TestPlansStartWithoutWaste(t *testing.T) {
	shape, demand := Shape{Rows: 8, Source: 20, Target: 20}, [][3]int32{{160, 8, 20}, {}, {}, {}}
	planner := &Planner{}
	plan := planner.For(shape)
	for batch := 1; batch <= 3; batch++ {
		plan.Wasted = 5
		planner.observe(plan, 1, needed{encoder: demand, decoder: demand})
	}
	if plan.Wasted != 0 || len(plan.Encoder.Units) != 1 {
		t.Errorf("a smaller plan starts with a waste of %v: %v", plan.Wasted, plan.Encoder.Units)
	}
	plan.Wasted = 5
	if next := planner.For(Shape{Rows: 8, Source: 40, Target: 40}); next.Wasted != 0 || next.Encoder.Batches != 3 {
		t.Errorf("a new shape starts with a waste of %v", next.Wasted)
	}
	if grew := planner.grow(plan, 1, needed{overflow: true, encoder: [][3]int32{{160, 8, 20}, {160, 8, 20}}, decoder: demand}); !grew || plan.Wasted != 0 || len(plan.Encoder.Units) < 2 {
		t.Errorf("a larger plan (%v) starts with a waste of %v: %v", grew, plan.Wasted, plan.Encoder.Units)
	}
	c := plan.clone()
	c.Decoder.Peaks[0].Current[0], c.Decoder.Units[0][0] = 7, 7
	if plan.Decoder.Peaks[0].Current[0] == 7 || plan.Decoder.Units[0][0] == 7 {
		t.Error("a copy shares its peaks or units")
	}
	before := len(plan.Decoder.Units)
	plan.Decoder.note([][3]int32{{160, 8, 20}, {160, 8, 20}, {}, {}}, 8, 20, false) // of a similar shape
	if got := len(planner.For(shape).Decoder.Units); before != 1 || got < 2 {
		t.Errorf("the decoder has %d steps, then %d", before, got)
	}
	narrow := StackPlan{Units: [][3]int{{32, 1, 1}, {1, 32, 32}}}
	if got := narrow.Capacities(8, 20); got[0].Positions != 1 || got[0].Rows != 1 || got[0].Longest != 1 || got[1].Positions != 5 || got[1].Rows != 8 || got[1].Longest != 20 {
		t.Errorf("capacities %+v", got)
	}
}
