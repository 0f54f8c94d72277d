package capacity

import (
	"fmt"
	"hash/crc32"
	"slices"
	"testing"
)

// numbers is a generator of numbers that other languages have in three lines: Knuth's linear congruential generator.
type numbers uint64

func (r *numbers) below(n int) int {
	*r = *r*6364136223846793005 + 1442695040888963407
	return int(*r >> 33 % numbers(n))
}

// demand draws the demand of a batch whose positions go on with a probability in percent after each of at most 8 steps.
func (r *numbers) demand(rows, length, percent int) [][3]int32 {
	demand := make([][3]int32, 9)
	for range rows {
		row := make([]int32, 9)
		for range length {
			for t := range 8 {
				row[t]++
				if r.below(100) >= percent {
					break
				}
			}
		}
		for t, n := range row {
			demand[t] = [3]int32{demand[t][0] + n, demand[t][1] + min(n, 1), max(demand[t][2], n)}
		}
	}
	return demand
}

// state writes all that a planner holds and gives.
func state(p *Planner) (text string) {
	for _, plan := range p.Shapes {
		text += fmt.Sprintf(" | %.6f", plan.Wasted)
		for i, s := range []StackPlan{plan.Encoder, plan.Decoder} {
			text += fmt.Sprintf(" %d %.6f %.6f", s.Batches, s.Margin, s.MeanUpdates())
			for _, peak := range s.Peaks {
				text += fmt.Sprintf(" %.6f", peak.Current)
				text += fmt.Sprintf(" %.6f", peak.Previous)
			}
			for _, u := range s.Units {
				text += fmt.Sprintf(" %d,%d,%d", u[0], u[1], u[2])
			}
			for _, c := range s.Capacities(plan.Rows, []int{plan.Source, plan.Target}[i]) {
				text += fmt.Sprintf(" %d,%d,%d", c.Positions, c.Rows, c.Longest)
			}
		}
	}
	return text
}

// The plans of 400 batches of five shapes, whose depth changes slowly and at once, with all of their numbers: they are those of an
// implementation in Python that was written from the documentation of this package, testdata/plans.py, which prints the CRC-32 of its lines.
func TestPlansEqualPython(t *testing.T) {
	shapes := []Shape{{4, 8, 4}, {4, 10, 5}, {3, 9, 4}, {5, 16, 1}, {4, 16, 12}}
	for _, c := range []struct {
		stepsOnly bool
		cost      float64
		want      uint32
	}{{false, 0, 0xe7f8d1ce}, {false, 300, 0x350318e0}, {false, 20000, 0xeab13e0d}, {true, 0, 0xe48824bb}, {true, 300, 0xa24f8971}, {true, 20000, 0x9c7dae51}} {
		r, sum := numbers(12345), crc32.NewIEEE()
		p := &Planner{StepsOnly: c.stepsOnly, CompileCost: c.cost}
		for i := range 400 {
			known := 3
			if i >= 100 {
				known = 5
			}
			shape := shapes[r.below(known)]
			percent := []int{30, 75, 45, 85}[i/50%4]
			if r.below(4) == 0 {
				percent += 12
			}
			n := needed{encoder: r.demand(shape.Rows, shape.Source, percent), decoder: [][3]int32{{}}}
			if shape.Target > 1 {
				n.decoder = r.demand(shape.Rows, shape.Target, percent-20)
			}
			plan, grown := p.For(shape), 0
			if given := plan.capacities(); given.Source != nil && !enough(given.Source, n.encoder) || given.Target != nil && !enough(given.Target, n.decoder) {
				grown = 1
				if p.grow(plan, 50, needed{overflow: true, encoder: ran(plan.Encoder, n.encoder), decoder: ran(plan.Decoder, n.decoder)}) {
					grown = 2
				}
			}
			p.observe(plan, 50, n)
			fmt.Fprintf(sum, "%d %d%s\n", i, grown, state(p))
		}
		if got := sum.Sum32(); got != c.want {
			t.Errorf("steps only %v, a step costs %v: checksum %#x, want %#x", c.stepsOnly, c.cost, got, c.want)
		}
	}
}

// ran returns the part of a demand that a run with the capacities of a plan finds.
func ran(p StackPlan, demand [][3]int32) [][3]int32 {
	if p.Units == nil {
		return demand
	}
	return slices.Clone(demand[:min(len(demand), len(p.Units)+1)])
}
