package capacity

import (
	"math"

	"universal-transformer/halting"
)

// StackPlan is how many positions one stack is given capacity for in each step, and the demand of earlier batches that this was
// planned from. Graphs are compiled for a plan, so plans change seldom: capacity comes in units of a batch, grows when it was
// too small, and shrinks only where that saves enough. The zero value has no plan yet.
type StackPlan struct {
	Batches int      `json:"batches"` // observed so far
	Peaks   []Peak   `json:"peaks"`   // step by step
	Margin  float64  `json:"margin"`  // units beyond the peak
	Units   [][3]int `json:"units"`   // the plan: in each step, units of the batch's positions, of its rows, and of the positions of a row; nil: none yet
}

// Peak is the largest demand of a step, as shares of a batch, in the current block of batches and in the one before: positions,
// rows, longest row.
type Peak struct {
	Current  [3]float64 `json:"current"`
	Previous [3]float64 `json:"previous"`
}

const (
	units       = 32  // of a batch
	blockSize   = 16  // batches after which a smaller plan is considered
	firstPlan   = 3   // batches before there is a plan
	worthwhile  = 0.9 // a smaller plan computes at most so much of what the old one does, as it costs the compilation of a graph
	leastMargin = 0.5 // doubled whenever a plan was too small, up to
	mostMargin  = 4
)

// observe records what a batch of rows [batch, length] needed ([halting.Outcome.Demand] of a run that did not overflow).
func (p *StackPlan) observe(demand [][3]int32, batch, length int, stepsOnly bool) {
	p.Batches++
	size := [3]float64{float64(batch * length), float64(batch), float64(length)}
	overflow := false
	for t, d := range demand {
		if t == len(p.Peaks) {
			p.Peaks = append(p.Peaks, Peak{})
		}
		for i := range size {
			share := float64(d[i]) / size[i]
			if stepsOnly && d[i] > 0 {
				share = 1
			}
			p.Peaks[t].Current[i] = max(p.Peaks[t].Current[i], share)
			overflow = overflow || p.Units != nil && (t >= len(p.Units) && d[i] > 0 || t < len(p.Units) && float64(d[i]) > fraction(p.Units[t][i], size[i]))
		}
	}
	switch {
	case overflow:
		p.Margin = min(2*p.Margin, mostMargin)
		p.Units = p.plan(p.Margin)
	case p.Batches == firstPlan:
		p.Margin = leastMargin
		p.Units = p.plan(p.Margin)
	case p.Batches%blockSize == 0:
		margin := max(p.Margin/2, leastMargin)
		if plan := p.plan(margin); total(plan) <= worthwhile*total(p.Units) {
			p.Margin, p.Units = margin, plan
		}
	}
	if p.Batches%blockSize == 0 {
		for t := range p.Peaks {
			p.Peaks[t] = Peak{Previous: p.Peaks[t].Current}
		}
	}
}

// plan is the peaks and a margin, in units. It has no more steps than any position ran lately.
func (p *StackPlan) plan(margin float64) [][3]int {
	plan := make([][3]int, len(p.Peaks))
	steps := 0
	for t := len(p.Peaks) - 1; t >= 0; t-- {
		for i := range plan[t] {
			if peak := max(p.Peaks[t].Current[i], p.Peaks[t].Previous[i]); peak > 0 {
				plan[t][i] = min(units, int(math.Ceil(units*peak+margin)))
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

// total is how many units of a batch's positions a plan transforms.
func total(plan [][3]int) (sum float64) {
	for _, u := range plan {
		sum += float64(u[0])
	}
	return sum
}

// fraction is how many things so many units of them are.
func fraction(u int, size float64) float64 { return math.Ceil(float64(u) * size / units) }

// MeanUpdates is how often the plan can update a position on average: a little more than positions will be updated.
func (p *StackPlan) MeanUpdates() float64 { return total(p.Units) / units }

// Capacities is the plan for a batch of rows [batch, length]; nil if there is none.
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
