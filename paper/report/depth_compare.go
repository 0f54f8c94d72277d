package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// compareRules writes the table of rules at equal mean steps.
func (p *page) compareRules(files []DepthFile) {
	p.printf("Exit rules at equal mean steps, three quarters of those as trained: the metric, interpolated between the settings of the rule. A dash marks a rule that the model does not have, or that does not reach so few steps.\n\n")
	p.head(append([]string{"run", "metric", "as trained", "steps", "at"}, comparedRules...)...)
	for _, f := range files {
		for _, r := range f.Runs {
			p.row(r.comparison()...)
		}
	}
	p.printf("\n%s\n\n", bestRules(files))
}

// comparedRules are the columns of the comparison.
var comparedRules = []string{"fixed or limit", "halting threshold", "confidence", "unchanged", "divergence"}

// atBudget returns the number of steps of the comparison, three quarters of those as trained, and the quality there under each of
// comparedRules, NaN where there is none.
func (r depthRun) atBudget() (budget float64, values []float64) {
	own := r.Points[0]
	budget = 0.75 * own.depth()
	at := func(rule string) float64 {
		if q, ok := between(r.rule(rule), own, budget); ok {
			return q
		}
		return math.NaN()
	}
	shallow := at("fixed")
	if limit := at("limit"); r.better(limit, shallow) {
		shallow = limit
	}
	return budget, []float64{shallow, at("threshold"), at("confidence"), at("unchanged"), at("divergence")}
}

// better reports whether a quality is better than another one, which may be NaN.
func (r depthRun) better(a, b float64) bool {
	return a == a && (b != b || r.falling() && a < b || !r.falling() && a > b)
}

// comparison is the row of a run.
func (r depthRun) comparison() []string {
	own := r.Points[0]
	budget, values := r.atBudget()
	row := []string{r.Run, r.Metric, quality(own.Quality), fmt.Sprintf("%.2f", own.depth()), fmt.Sprintf("%.2f", budget)}
	for _, v := range values {
		cell := "-"
		if v == v {
			cell = quality(v)
		}
		row = append(row, cell)
	}
	return row
}

// clearlyBetter is the least difference, relative to the quality, by which a rule must be better than all others to be named.
const clearlyBetter = 0.01

// bestRule returns the index in comparedRules of the best rule of the comparison; -1 if none is clearly better than the others.
func (r depthRun) bestRule() int {
	_, values := r.atBudget()
	best := 0
	for i, v := range values {
		if r.better(v, values[best]) {
			best = i
		}
	}
	if math.IsNaN(values[best]) { // no rule reaches so few steps
		return -1
	}
	for i, v := range values {
		if i != best && v == v && math.Abs(v-values[best]) < clearlyBetter*values[best] {
			return -1
		}
	}
	return best
}

// bestRules names the runs for which each rule is the best of the comparison, and what the rules cost there.
func bestRules(files []DepthFile) string {
	runs := make([][]string, len(comparedRules))
	var none []string
	low, high := math.Inf(1), 0.0
	for _, f := range files {
		for _, r := range f.Runs {
			if best := r.bestRule(); best >= 0 {
				runs[best] = append(runs[best], r.Run)
			} else {
				none = append(none, r.Run)
			}
			for _, q := range r.Points {
				if q.Operations > 0 {
					low, high = min(low, q.Operations), max(high, q.Operations)
				}
			}
		}
	}
	var texts []string
	for i, list := range runs {
		if len(list) > 0 {
			texts = append(texts, fmt.Sprintf("%s for %s", comparedRules[i], and(list)))
		}
	}
	text := "Exit rules (docs/depth.md describes them) are compared at three quarters of the mean steps as trained, of encoder and decoder together, also without a test. The best rule is " + cmp.Or(strings.Join(texts, "; "), "none")
	if len(none) > 0 {
		text += fmt.Sprintf(". No rule is better than all others by %.0f %% for %s", 100*clearlyBetter, and(none))
	}
	if high > 0 {
		text += fmt.Sprintf(". Readouts after each step, which confidence, unchanged answers and divergence need, add %.1f to %.0f %% of the operations of a pass", 100*low, 100*high)
	}
	return text + "."
}

// between interpolates the quality of a rule's points, by rising steps, at a number of steps. The point as trained ends the rule.
func between(points []depthPoint, own depthPoint, steps float64) (float64, bool) {
	if len(points) == 0 {
		return 0, false
	}
	for i, high := range append(slices.Clone(points), own) {
		if high.depth() < steps {
			continue
		}
		if high.depth() == steps {
			return high.Quality, true
		}
		if i == 0 {
			return 0, false
		}
		low := points[i-1]
		return low.Quality + (high.Quality-low.Quality)*(steps-low.depth())/(high.depth()-low.depth()), true
	}
	return 0, false
}
