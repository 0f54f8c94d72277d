package halting

import "math"

// Forecast foresees how much room the next batch needs, from what earlier ones needed. Graphs are compiled for the room they
// have, so it changes its mind seldom: room comes in parts of a batch, grows when it was too small, and shrinks only where that
// is worth it. The zero value knows nothing yet. All of it is kept in checkpoints: a run that goes on foresees what it
// would have foreseen.
type Forecast struct {
	Slack float64  `json:"slack"` // parts of room beyond what is expected
	Seen  int      `json:"seen"`  // batches
	Needs []Need   `json:"needs"` // step by step
	Plan  [][3]int `json:"plan"`  // parts of the batch's positions, of its rows, and of a row's positions; nil: all of them
}

// Need is the moving mean and mean square of the shares of a batch that a step needed: positions, rows, longest row.
type Need struct {
	Mean   [3]float64 `json:"mean"`
	Square [3]float64 `json:"square"`
	Last   [3]float64 `json:"last"` // of the last batch
}

const (
	parts    = 32  // of a batch, the unit of room
	memory   = 20  // batches that a moving mean looks back on
	first    = 3   // batches before the first plan
	patience = 20  // batches between two thoughts about a smaller one
	worth    = 0.9 // of the positions that there is room for, so many at most in a smaller one
	margin   = 3   // standard deviations of room beyond the mean
	least    = 0.5 // parts beyond that; twice as many whenever they were too few: needs drift while a model learns
	most     = 4
)

// Observe takes note of what a batch of rows [batch, length] needed ([Outcome.Demand] of a run in which there was room for it).
func (f *Forecast) Observe(demand [][3]int32, batch, length int) {
	f.Seen++
	weight := max(1/float64(f.Seen), 1.0/memory)
	whole := [3]float64{float64(batch * length), float64(batch), float64(length)}
	short := false
	for t, d := range demand {
		if t == len(f.Needs) {
			f.Needs = append(f.Needs, Need{})
		}
		for i := range whole {
			share := float64(d[i]) / whole[i]
			f.Needs[t].blend(i, share, weight)
			short = short || f.Plan != nil && (t >= len(f.Plan) && d[i] > 0 || t < len(f.Plan) && float64(d[i]) > room(f.Plan[t][i], whole[i]))
		}
	}
	for t := len(demand); t < len(f.Needs); t++ {
		for i := range whole {
			f.Needs[t].blend(i, 0, weight)
		}
	}
	switch {
	case short:
		f.Slack = min(2*f.Slack, most)
		f.Plan = f.think(f.Slack)
	case f.Seen == first:
		f.Slack = least
		f.Plan = f.think(f.Slack)
	case f.Seen%patience == 0:
		slack := max(f.Slack/2, least)
		if plan := f.think(slack); total(plan) <= worth*total(f.Plan) {
			f.Slack, f.Plan = slack, plan
		}
	}
}

func (n *Need) blend(i int, share, weight float64) {
	n.Mean[i] += weight * (share - n.Mean[i])
	n.Square[i] += weight * (share*share - n.Square[i])
	n.Last[i] = share
}

// total is how many parts of a batch's positions a plan transforms.
func total(plan [][3]int) (sum float64) {
	for _, p := range plan {
		sum += float64(p[0])
	}
	return sum
}

// think makes a plan.
func (f *Forecast) think(slack float64) [][3]int {
	plan := make([][3]int, len(f.Needs))
	steps := 0
	for t := len(f.Needs) - 1; t >= 0; t-- {
		for i := range plan[t] {
			mean := f.Needs[t].Mean[i]
			deviation := math.Sqrt(max(0, f.Needs[t].Square[i]-mean*mean))
			if need := max(mean+margin*deviation, f.Needs[t].Last[i]); need > 0 {
				plan[t][i] = min(parts, int(math.Ceil(parts*need+slack)))
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

// room is how many of so many things fit some parts.
func room(part int, of float64) float64 { return math.Ceil(float64(part) * of / parts) }

// Capacities is the room to give a batch of rows [batch, length]; nil before anything is known.
func (f *Forecast) Capacities(batch, length int) Capacities {
	if f.Plan == nil {
		return nil
	}
	c := make(Capacities, len(f.Plan))
	for t, p := range f.Plan {
		c[t] = Capacity{int(room(p[0], float64(batch*length))), int(room(p[1], float64(batch))), int(room(p[2], float64(length)))}
		c[t].Positions = min(c[t].Positions, c[t].Rows*c[t].Longest)
	}
	return c
}
