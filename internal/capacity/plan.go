package capacity

import (
	"fmt"
	"math"

	"universal-transformer/halting"
)

// A StackPlan is the number of positions that one stack has capacity for in each step, and the demand of earlier batches from which
// it was planned. The zero value has full capacity.
type StackPlan struct {
	Batches int      `json:"batches"` // number of observed batches, including those of similar shapes
	Peaks   []Peak   `json:"peaks"`   // per step
	Margin  float64  `json:"margin"`  // units beyond the peak
	Units   [][3]int `json:"units"`   // the plan: in each step, units of the batch's positions, of its rows, and of the positions of a row; nil: full capacity
}

// A Peak is the largest demand of a step, as fractions of a batch, in the current block of batches and in the previous one:
// positions, rows, longest row.
type Peak struct {
	Current  [3]float64 `json:"current"`
	Previous [3]float64 `json:"previous"`
}

// largest returns the larger of both blocks.
func (p Peak) largest(i int) float64 { return max(p.Current[i], p.Previous[i]) }

const (
	units       = 32  // of a batch
	blockSize   = 32  // batches per peak
	firstPlan   = 3   // batches before the first plan
	leastMargin = 0.5 // doubled whenever a plan was too small, up to maxMargin
	maxMargin   = 4
	fewUnits    = 4 // see larger
)

// observe records what a batch of rows [batch, length] needed ([halting.Outcome.Demand] of a run without overflow). If that is more
// than planned, the stack has full capacity from then on, which needs no new graph.
func (p *StackPlan) observe(demand [][3]int32, batch, length int, stepsOnly bool) {
	p.note(demand, batch, length, stepsOnly)
	for t, d := range demand {
		if p.exceeds(t, d, batch, length, stepsOnly) {
			p.Margin, p.Units = min(2*p.Margin, maxMargin), nil
			return
		}
	}
}

// note records what a batch of rows [batch, length] needed, of this shape or of a similar one.
func (p *StackPlan) note(demand [][3]int32, batch, length int, stepsOnly bool) {
	p.Margin = max(p.Margin, leastMargin)
	if p.Batches%blockSize == 0 {
		for t := range p.Peaks {
			p.Peaks[t] = Peak{Previous: p.Peaks[t].Current}
		}
		p.Margin = max(p.Margin/2, leastMargin)
	}
	p.Batches++
	for t, d := range demand {
		p.peak(t, d, batch, length, stepsOnly)
	}
}

// peak records what a step needed of a batch of rows [batch, length].
func (p *StackPlan) peak(t int, d [3]int32, batch, length int, stepsOnly bool) {
	if t == len(p.Peaks) {
		p.Peaks = append(p.Peaks, Peak{})
	}
	for i, size := range [3]int{batch * length, batch, length} {
		share := float64(d[i]) / float64(size)
		if stepsOnly && d[i] > 0 {
			share = 1
		}
		p.Peaks[t].Current[i] = max(p.Peaks[t].Current[i], share)
	}
}

// exceeds reports whether a step needs more than was planned.
func (p *StackPlan) exceeds(t int, d [3]int32, batch, length int, stepsOnly bool) bool {
	for i, size := range [3]int{batch * length, batch, length} {
		need := float64(d[i])
		if stepsOnly && need > 0 {
			need = float64(size)
		}
		if p.Units != nil && (t >= len(p.Units) && need > 0 || t < len(p.Units) && need > fraction(p.Units[t][i], float64(size))) {
			return true
		}
	}
	return false
}

// grown returns a plan that is large enough for what an overflowed batch is known to have needed.
func (p *StackPlan) grown(demand [][3]int32, batch, length int, stepsOnly bool) [][3]int {
	for t, d := range demand {
		if p.peak(t, d, batch, length, stepsOnly); p.exceeds(t, d, batch, length, stepsOnly) {
			p.Margin = min(2*p.Margin, maxMargin)
			return p.larger(t, stepsOnly)
		}
	}
	return p.Units
}

// raise enlarges the plan before a batch of rows [batch, length] overflows, if a batch of similar shape needed more recently.
func (p *StackPlan) raise(batch, length int, stepsOnly bool) {
	for t, peak := range p.Peaks {
		var need [3]int32
		for i, size := range [3]int{batch * length, batch, length} {
			need[i] = int32(math.Round(peak.largest(i) * float64(size)))
		}
		if p.exceeds(t, need, batch, length, stepsOnly) {
			p.Units = p.larger(t, stepsOnly)
			return
		}
	}
}

// larger returns a plan at least as large as this one and its peaks, with head room from a step on, because rising demand tends to
// keep rising and every intermediate plan needs a graph. Such a step gets few units or all of them, and the plan ends with two steps
// of few units.
func (p *StackPlan) larger(from int, stepsOnly bool) [][3]int {
	plan := p.tight()
	for t, old := range p.Units {
		if t == len(plan) {
			plan = append(plan, old)
		}
		for i := range old {
			plan[t][i] = max(plan[t][i], old[i])
		}
	}
	before, further := [3]int{units, units, units}, 2 // no field increases from step to step
	if stepsOnly {
		further = 1 // which is as much as any other
	}
	for t := range plan {
		if plan[t][0] <= fewUnits {
			before[0], further = min(before[0], fewUnits), further-1
		}
		if t >= from {
			plan[t] = before
		}
		before = plan[t]
	}
	for ; further > 0 && p.Units != nil && len(plan)+1 < len(p.Peaks); further-- {
		if !stepsOnly {
			before[0] = min(before[0], fewUnits)
		}
		plan = append(plan, before)
	}
	return plan
}

// total returns the number of units of a batch's positions that the plan computes.
func (p *StackPlan) total() float64 {
	if p.Units == nil {
		return p.full()
	}
	return total(p.Units)
}

// full is total at full capacity. The last entry of a demand is after the last step.
func (p *StackPlan) full() float64 { return float64(units * max(0, len(p.Peaks)-1)) }

// tight returns the peaks plus a margin, rounded up to a level. It has no more steps than any position ran recently.
func (p *StackPlan) tight() [][3]int {
	plan := make([][3]int, len(p.Peaks))
	steps := 0
	for t := len(p.Peaks) - 1; t >= 0; t-- {
		for i := range plan[t] {
			if peak := p.Peaks[t].largest(i); peak > 0 {
				plan[t][i] = level(units*peak + p.Margin)
			}
			if t+1 < len(plan) {
				plan[t][i] = max(plan[t][i], plan[t+1][i])
			}
		}
		if steps == 0 && plan[t][0] > 0 {
			steps = t + 1
		}
	}
	return plan[:steps]
}

// level rounds up to a multiple of one unit, or of two for large fractions, so that plans recur.
func level(least float64) int {
	u := int(math.Ceil(least))
	if u > units/4 {
		u += u % 2
	}
	return min(u, units)
}

// total returns the number of units of a batch's positions that a plan computes.
func total(plan [][3]int) (sum float64) {
	for _, u := range plan {
		sum += float64(u[0])
	}
	return sum
}

// fraction converts units to a number of things out of size, rounded up.
func fraction(u int, size float64) float64 { return math.Ceil(float64(u) * size / units) }

// MeanUpdates returns the mean number of updates per position that the plan permits, slightly more than the expected need.
func (p *StackPlan) MeanUpdates() float64 { return p.total() / units }

// Capacities returns the plan for a batch of rows [batch, length], or nil if there is none.
func (p *StackPlan) Capacities(batch, length int) halting.Capacities {
	if p.Units == nil {
		return nil
	}
	c := make(halting.Capacities, len(p.Units))
	for t, u := range p.Units {
		c[t] = halting.Capacity{
			Positions: int(fraction(u[0], float64(batch*length))), Rows: int(fraction(u[1], float64(batch))), Longest: int(fraction(u[2], float64(length))),
		}
		c[t].Positions = min(c[t].Positions, c[t].Rows*c[t].Longest)
	}
	return c
}

// validate returns an error if a step of the plan has less than one unit, more than all, or more than the previous step.
func (p *StackPlan) validate() error {
	if p.Batches < 0 || !(p.Margin >= 0) || len(p.Units) > len(p.Peaks) {
		return fmt.Errorf("%d batches with a margin of %v, %d steps planned after %d", p.Batches, p.Margin, len(p.Units), len(p.Peaks))
	}
	last := [3]int{units, units, units}
	for t, step := range p.Units {
		for i, n := range step {
			if n < 1 || n > last[i] {
				return fmt.Errorf("step %d is planned with %d units: it must be from 1 to %d", t+1, n, last[i])
			}
		}
		last = step
	}
	return nil
}
