package paper

import (
	"fmt"
	"math"
)

// sample is the values of a metric over seeds.
type sample struct {
	mean, deviation float64 // NaN with fewer than two seeds
	seeds           int
}

// sampleOf is a metric of the last set that a column shows.
func (c metricColumn) sampleOf(results []Result) (s sample) {
	var values []float64
	for _, r := range results {
		if m, ok := r.Measured.(*metricsMeasured).metric(c.last().set, c.compared); ok && !math.IsNaN(m.Value) {
			values = append(values, m.Value)
		}
	}
	s.mean, s.deviation = moments(values)
	s.seeds = len(values)
	return s
}

func (s sample) String() string {
	if math.IsNaN(s.deviation) {
		return fmt.Sprintf("%.3f", s.mean)
	}
	return fmt.Sprintf("%.3f ± %.3f", s.mean, s.deviation)
}

// against says whether a mean is above another one by more than the larger of the two standard deviations over seeds.
func (s sample) against(other sample) string {
	side := "above"
	if s.mean < other.mean {
		side = "below"
	}
	difference, spread := math.Abs(s.mean-other.mean), math.Max(s.deviation, other.deviation) // NaN if either is
	switch {
	case math.IsNaN(spread):
		return fmt.Sprintf("%s by %.3f; with a single seed the standard deviation is unknown", side, difference)
	case difference > spread:
		return fmt.Sprintf("%s by %.3f, more than one standard deviation over seeds", side, difference)
	}
	return fmt.Sprintf("%s by %.3f, less than one standard deviation over seeds", side, difference)
}

// compare sets the table's own model beside every other.
func (t *metricTable) compare(p *Page, c metricColumn, results []Result) {
	var own metricRow
	for _, r := range t.rows {
		if r.name == "" {
			own = r
		}
	}
	model := c.sampleOf(t.of(results, own, c.task))
	if c.compared == "" || model.seeds == 0 {
		return
	}
	for _, r := range t.rows {
		if other := c.sampleOf(t.of(results, r, c.task)); r.name != "" && other.seeds > 0 {
			p.Printf("- %s, %s: %s %s, %s %s: %s.\n", c.last().set, c.compared, own.title, model, r.title, other, model.against(other))
		}
	}
}
