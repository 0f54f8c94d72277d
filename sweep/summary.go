package sweep

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/internal/significance"
)

// Summary summarizes all seeds of one cell of a user's sweep.
type Summary struct {
	Cell       string   `json:"cell"`
	Model      string   `json:"model"`
	Parameters int      `json:"parameters"`
	Seeds      []uint64 `json:"seeds"`   // finished seeds
	Missing    int      `json:"missing"` // number of seeds that are not finished

	Metrics    []Spread `json:"metrics"`
	Validation Spread   `json:"validation"` // cross entropy, nats per token
	Seconds    Spread   `json:"seconds"`    // training time
	TrainedBy  []string `json:"trained_by"` // builds and backends of its runs, each once: "0.2.0+70be9d05caaf, cpu:avx2"

	BestSeed    uint64   `json:"best_seed"`    // seed with the lowest validation cross entropy
	BestMetrics []Metric `json:"best_metrics"` // metrics of that seed
	Best        bool     `json:"best"`         // whether the cell has the lowest mean validation cross entropy
	// P is the p-value of Welch's t-test that the mean validation cross entropy is that of the best cell, corrected for all pairs of cells (Holm). It is
	// nil for that cell, and without a test: with fewer than two seeds of a cell.
	P *float64 `json:"p"`
}

// Spread is a mean over seeds with the sample standard deviation, which is 0 for one seed.
type Spread struct {
	Name      string  `json:"name,omitempty"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	N         int     `json:"n"`
}

// spread returns the mean and deviation of values.
func spread(name string, values []float64) Spread {
	if len(values) == 0 {
		return Spread{Name: name}
	}
	s := Spread{Name: name, Mean: significance.SampleOf(values).Mean, N: len(values)}
	if len(values) > 1 {
		s.Deviation = significance.SampleOf(values).Deviation
	}
	return s
}

// Summarize reads the results of the cells of a user's sweep. Cells without a result of their configuration and protocol count as missing. Results of
// different data are an error.
func Summarize(cells []Cell) ([]Summary, error) {
	var order []string
	finished, missing, groups := map[string][]Result{}, map[string]int{}, dataGroups{}
	for _, c := range cells {
		if finished[c.Recipe] == nil && missing[c.Recipe] == 0 {
			order = append(order, c.Recipe)
		}
		r, m, done, err := c.Done()
		switch {
		case err != nil:
			return nil, err
		case done && c.Mismatch(r, m) == nil:
			if err := groups.add(c, r, m); err != nil {
				return nil, err
			}
			finished[c.Recipe] = append(finished[c.Recipe], r)
		default:
			missing[c.Recipe]++
		}
	}
	var list []Summary
	for _, name := range order {
		s, err := summarize(name, finished[name])
		if err != nil {
			return nil, err
		}
		s.Missing = missing[name]
		list = append(list, s)
	}
	markBest(list)
	return list, nil
}

// summarize returns the summary of one cell.
func summarize(name string, results []Result) (Summary, error) {
	s := Summary{Cell: name, Seeds: []uint64{}, Metrics: []Spread{}, TrainedBy: []string{}, BestMetrics: []Metric{}}
	var validations, seconds []float64
	var names []string // of metrics; a seed may lack one that had nothing to measure
	values := map[string][]float64{}
	lowest := math.Inf(1)
	for _, r := range results {
		var m Metrics
		if err := r.Decode(&m); err != nil {
			return s, err
		}
		s.Model, s.Parameters, s.Seeds = r.Model, r.Parameters, append(s.Seeds, r.Seed)
		validations, seconds = append(validations, r.Validation), append(seconds, r.Seconds)
		if by := trainedBy(r.TrainedBy); by != "" && !slices.Contains(s.TrainedBy, by) {
			s.TrainedBy = append(s.TrainedBy, by)
		}
		figures := m.figures()
		for _, metric := range figures {
			if values[metric.Name] == nil {
				names = append(names, metric.Name)
			}
			values[metric.Name] = append(values[metric.Name], metric.Value)
		}
		if r.Validation < lowest {
			lowest, s.BestSeed, s.BestMetrics = r.Validation, r.Seed, figures
		}
	}
	for _, name := range names {
		s.Metrics = append(s.Metrics, spread(name, values[name]))
	}
	s.Validation, s.Seconds = spread("", validations), spread("", seconds)
	return s, nil
}

// trainedBy names what trained a run, without the number of threads; "" if it is not recorded.
func trainedBy(p Provenance) string {
	backend := numberOfThreads.ReplaceAllStringFunc(p.Backend, func(option string) string {
		if strings.HasSuffix(option, ",") {
			return option[:1]
		}
		return ""
	})
	return strings.TrimPrefix(strings.TrimSuffix(p.Build()+", "+backend, ", "), ", ")
}

// numberOfThreads is an option of a recorded backend that only changes the order of sums.
var numberOfThreads = regexp.MustCompile(`[:,]threads=\d+,?`)

// Mixed says that the runs were trained by more than one build or backend, which are named, or returns "".
func Mixed(list []Summary) string {
	var all []string
	for _, s := range list {
		for _, by := range s.TrainedBy {
			if !slices.Contains(all, by) {
				all = append(all, by)
			}
		}
	}
	if len(all) < 2 {
		return ""
	}
	return "not all runs were trained by the same build and backend, which may be a reason for differences: " + strings.Join(all, "; ")
}

// markBest marks the cell with the lowest mean validation cross entropy, if all cells have results.
func markBest(list []Summary) {
	best := -1
	for i, s := range list {
		if s.Missing > 0 {
			return
		}
		if best < 0 || s.Validation.Mean < list[best].Validation.Mean {
			best = i
		}
	}
	if best >= 0 && len(list) > 1 {
		list[best].Best = true
		compareWithBest(list, best)
	}
}

// compareWithBest sets the p-values of all cells but the best one. It corrects for all pairs of cells, because the same data decide which cell is the
// best: whichever cells chance had put first, a pair with the best would have been compared.
func compareWithBest(list []Summary, best int) {
	var p []float64
	withBest := map[int]int{} // index in p by cell
	for i := range list {
		for j := range i {
			if i == best || j == best {
				withBest[i+j-best] = len(p)
			}
			v, _ := significance.Welch(list[i].Validation.sample(), list[j].Validation.sample())
			p = append(p, v)
		}
	}
	p = significance.Holm(p)
	for i, pair := range withBest {
		if !math.IsNaN(p[pair]) {
			list[i].P = &p[pair]
		}
	}
}

func (s Spread) sample() significance.Sample {
	return significance.Sample{Mean: s.Mean, Deviation: s.Deviation, N: s.N}
}

// Probability formats P: "0.04", "< 0.001", or "" without a test.
func (s Summary) Probability() string {
	switch {
	case s.P == nil:
		return ""
	case *s.P < 0.001:
		return "< 0.001"
	}
	return fmt.Sprintf("%.2g", *s.P)
}
