package halting_test

import (
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

func TestCapacitiesValidate(t *testing.T) {
	for _, bad := range []halting.Capacities{
		{{Positions: 0, Rows: 1, Longest: 1}}, {{Positions: 21, Rows: 4, Longest: 5}}, {{Positions: 5, Rows: 5, Longest: 5}},
		{{Positions: 5, Rows: 4, Longest: 6}}, {{Positions: 5, Rows: 2, Longest: 4}, {Positions: 6, Rows: 2, Longest: 4}},
	} {
		if bad.Validate(4, 5) == nil {
			t.Errorf("%v is accepted", bad)
		}
	}
	if err := (halting.Capacities{{20, 4, 5}, {7, 3, 5}, {7, 3, 5}, {1, 1, 1}}).Validate(4, 5); err != nil {
		t.Error(err)
	}
}

// A batch overflows if any step needs more positions, more rows or a longer row than it has capacity for, or if a position is
// unfinished after the last step; a batch that needs exactly the capacities does not. The demand is counted by hand.
// Caught when planted: one unfinished position after the last step that is no overflow; rows or the longest row not compared.
func TestOverflow(t *testing.T) {
	updates := [][]int32{{2, 1, 0}, {2, 2, 1}} // of a batch [2, 3]: step 1 runs 5 positions in 2 rows, at most 3 of one; step 2 runs 3, at most 2
	none, one := [][]bool{{false, false, false}, {false, false, false}}, [][]bool{{false, false, false}, {true, false, false}}
	exact := halting.Capacities{{Positions: 5, Rows: 2, Longest: 3}, {Positions: 3, Rows: 2, Longest: 2}}
	with := func(step int, c halting.Capacity) halting.Capacities {
		changed := slices.Clone(exact)
		changed[step] = c
		return changed
	}
	for name, c := range map[string]struct {
		capacities halting.Capacities
		unfinished [][]bool
		want       float64
	}{
		"exact":                       {exact, none, 0},
		"unfinished":                  {exact, one, 1},
		"too few positions in step 1": {with(0, halting.Capacity{Positions: 4, Rows: 2, Longest: 3}), none, 1},
		"too few positions in step 2": {with(1, halting.Capacity{Positions: 2, Rows: 2, Longest: 2}), none, 1},
		"too few rows":                {with(1, halting.Capacity{Positions: 3, Rows: 1, Longest: 2}), none, 1},
		"too short":                   {with(0, halting.Capacity{Positions: 5, Rows: 2, Longest: 2}), none, 1},
		"room to spare":               {with(0, halting.Capacity{Positions: 6, Rows: 2, Longest: 3}), none, 0},
		"a step to spare":             {append(slices.Clone(exact), halting.Capacity{Positions: 1, Rows: 1, Longest: 1}), one, 0},
		"a step too few":              {exact[:1], none, 1},
		"full capacity":               {nil, one, 0},
	} {
		out := compute(t, model.NewStore(), func(_ *model.Scope, g *Graph) []*Node {
			o := halting.Outcome{State: Const(g, updates), Updates: Const(g, updates), Remainders: Const(g, updates), Unfinished: Const(g, c.unfinished)}
			return []*Node{ConvertDType(o.Overflow(c.capacities), dtypes.Float64)}
		})
		if out[0][0] != c.want {
			t.Errorf("%s: overflow is %v, want %v", name, out[0][0], c.want)
		}
	}
}

// A capacity that is out of range is named with its step, counted from 1. Caught when planted: steps counted from 0.
func TestCapacitiesNameTheStep(t *testing.T) {
	c := halting.Capacities{{Positions: 6, Rows: 2, Longest: 3}, {Positions: 4, Rows: 3, Longest: 2}}
	if err := c.Validate(2, 3); err == nil || err.Error() != "halting: capacity of step 2: rows is 3: it must be from 1 to 2" {
		t.Errorf("%v", err)
	}
}
