package sweep

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// The summary has the mean and the sample deviation of the results, and chooses by validation, not by the measured figures. The expectations are
// worked out by hand. Caught when planted: metrics of the best seed only.
func TestSummarize(t *testing.T) {
	root := t.TempDir()
	cells := smallCells(t, root)
	for i, c := range cells {
		r := example()
		r.Recipe, r.Seed, r.Config, r.ChosenBy = c.Recipe, c.Run.Seed, c.Run.JSON(), ByAccuracy
		r.Validation, r.Seconds = []float64{0.5, 0.2, 0.1, 0.3}[i], float64(10*(i+1))
		more := ""
		if i == 0 { // not the best seed of cell one
			more = `, {"name": "span F1", "value": 0.4}`
		}
		steps := ""
		if c.Recipe == "two" {
			steps = fmt.Sprintf(`, "decoder_steps": {"mean": %v, "deviation": 0, "tenths": [1.5, null, null, null, null, null, null, null, null, null]}`, []float64{0, 1.5, 0, 2}[i])
		}
		r.Measured = fmt.Appendf(nil, `{"examples": 20, "lengths": "length 4", "metrics": [{"name": "accuracy", "value": %v}%s]%s}`, []float64{0.9, 0.5, 0.7, 0.6}[i], more, steps)
		if err := r.Save(c.Results); err != nil {
			t.Fatal(err)
		}
	}
	list, err := Summarize(cells)
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	one, two := list[0], list[1]
	if m := one.Metric("accuracy"); one.Cell != "one" || math.Abs(m.Mean-0.8) > 1e-12 || math.Abs(m.Deviation-math.Sqrt(0.02)) > 1e-12 || m.N != 2 || m.String() != "0.80 ± 0.14" {
		t.Errorf("%+v", one)
	}
	if m := one.Metric("span F1"); m.N != 1 || m.Mean != 0.4 {
		t.Errorf("a metric that only another seed has: %+v", m)
	}
	if m := two.Metric("decoder steps"); m.N != 2 || m.Mean != 1.75 || one.Metric("decoder steps").N != 0 {
		t.Errorf("mean steps of adaptive halting: %+v", m)
	}
	if one.BestSeed != 6 || one.BestFigures() != "seed 6: 0.7" || one.Seconds.Mean != 20 || one.Best {
		t.Errorf("%+v", one)
	}
	if two.BestSeed != 4 || !two.Best || two.Missing != 0 || math.Abs(two.Validation.Mean-0.25) > 1e-12 {
		t.Errorf("%+v", two)
	}
	if one.P == nil || math.Abs(*one.P-0.8450283873936597) > 1e-9 || one.Probability() != "0.85" || two.P != nil || two.Probability() != "" { // see TestWelch
		t.Errorf("p %v and %v", one.P, two.P)
	}
	var page strings.Builder
	if err := WritePage(&page, "<g>", cells, list); err != nil || !strings.Contains(page.String(), "0.80 ± 0.14") || strings.Contains(page.String(), "<g>") || strings.Count(page.String(), "<svg") != 2 {
		t.Errorf("%v, %s", err, page.String())
	}
	checkMixed(t, list)
	cells[3].Run.Training.Steps++
	if list, err = Summarize(cells); err != nil || list[1].Missing != 1 || list[1].Best || list[0].Best {
		t.Errorf("a result of another configuration: %+v, %v", list, err)
	}
}

// Builds and backends are named if they differ, apart from the number of threads.
// Caught when planted: threads that count; products of another precision that do not.
func checkMixed(t *testing.T, list []Summary) {
	t.Helper()
	if got := Mixed(list); got != "" {
		t.Errorf("runs of one build: %s", got)
	}
	for want, p := range map[string]Provenance{
		"0.2.0+0123456789ab, cpu:avx2":  {Version: "0.2.0", Commit: "0123456789ab", Backend: "cpu:avx2,threads=3"},
		"0.2.0, cpu:avx2,products=bf16": {Version: "0.2.0", Backend: "cpu:avx2,threads=1,products=bf16"},
		"0.2.0, cpu; cpu:products=bf16": {Version: "0.2.0", Backend: "cpu:threads=1; cpu:threads=2,products=bf16"},
		"0.3.0":                         {Version: "0.3.0"},
		"":                              {},
	} {
		if got := trainedBy(p); got != want {
			t.Errorf("%+v is %q, want %q", p, got, want)
		}
	}
	other := list[1]
	other.TrainedBy = []string{"0.3.0, cpu"}
	want := "not all runs were trained by the same build and backend, which may be a reason for differences: " + list[0].TrainedBy[0] + "; 0.3.0, cpu"
	if got := Mixed([]Summary{list[0], other}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
