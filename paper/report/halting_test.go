package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
)

// haltingSweep is a sweep over fixed depths of 1 to 4 steps, adaptive halting and supervision, of two seeds.
const haltingSweep = `{
  "name": "NAME", "base": "BASE", "set": ["training.steps=100"],
  "variants": {
    "one": ["model.halting={\"fixed\": {\"steps\": 1}}"], "two": ["model.halting={\"fixed\": {\"steps\": 2}}"],
    "three": ["model.halting={\"fixed\": {\"steps\": 3}}"], "four": ["model.halting={\"fixed\": {\"steps\": 4}}"],
    "late": ["model.halting={\"frozen\": {\"max_steps\": 4, \"epsilon\": 0.01, \"bias\": -3}}", "training.ponder.weight=0.1", "training.ponder.delay=50"],
    "prior": ["model.halting={\"frozen\": {\"max_steps\": 4, \"epsilon\": 0.01, \"bias\": -1}}", "training.ponder.weight=0.1", "training.ponder_cost={\"geometric_prior\": {\"lambda\": 0.6}}"],
    "uniform": ["model.halting={\"fixed\": {\"steps\": 4}}", "training.supervision={\"uniform\": {}}"]
  },
  "seeds": 3, "measure": {"validation": true}
}`

// A haltingResult is a result of haltingSweep.
type haltingResult struct {
	variant  string
	accuracy float64
	steps    string // JSON of the steps; "" with fixed depth
}

// saveHalting writes the sweep and results of a task below a folder of results, with the seeds 1, 2, ... of each variant. change may change a result.
func saveHalting(t *testing.T, root, name, base string, results []haltingResult, change func(*sweep.Result)) {
	t.Helper()
	text := strings.NewReplacer("NAME", name, "BASE", base).Replace(haltingSweep)
	folder := filepath.Join(root, "halting")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	file, err := sweep.ParseFile([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := recipes.Named(base)
	if err != nil {
		t.Fatal(err)
	}
	metric, seeds := map[string]string{"own-labels": "accuracy", "own-pairs": "sequence accuracy"}[base], map[string]uint64{}
	for _, h := range results {
		seeds[h.variant]++
		set := file.Set
		for _, v := range file.Variants {
			if v.Name == h.variant {
				set = append(set[:1:1], v.Set...)
			}
		}
		run, err := recipe.Run().Set(set...)
		if err != nil {
			t.Fatal(err)
		}
		run.Name, run.Seed = name+"/"+h.variant, seeds[h.variant]
		config, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		by := sweep.Provenance{Version: "0.2.0", Commit: "01af341", Backend: "cpu:threads=1", CPU: "AMD EPYC"}
		r := sweep.Result{
			Header:   sweep.Header{Recipe: h.variant, Seed: run.Seed, Step: 100, BestStep: 100, Validation: 0.5, ChosenBy: sweep.ByAccuracy, Stopped: "done", Threads: 1, TrainedBy: by, MeasuredBy: by},
			Measured: json.RawMessage(fmt.Sprintf(`{"examples": 2000, "lengths": "", "metrics": [{"name": "other", "value": 1}, {"name": %q, "value": %v}]%s}`, metric, h.accuracy, h.steps)),
			Config:   config,
		}
		if change != nil {
			change(&r)
		}
		if err := r.Save(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// fixedDepths are three seeds of each fixed depth, without a deviation: .6, .8, .9 and .9.
func fixedDepths() (list []haltingResult) {
	for _, r := range []haltingResult{{"one", 0.6, ""}, {"two", 0.8, ""}, {"three", 0.9, ""}, {"four", 0.9, ""}} {
		list = append(list, r, r, r)
	}
	return list
}

// classifierSteps is the JSON of mean steps of sequences of eight positions, of which the last runs 3.
const classifierSteps = `, "encoder_steps": {"mean": %v, "deviation": 0.5, "tenths": [1, 1, 1, 1, null, 1, 1, 1, 3, null]}`

// wordTask has a halting that is better than two steps, which it does not reach, and worse than four, and a supervision as good as four.
func wordTask() []haltingResult {
	return append(fixedDepths(),
		haltingResult{"late", 0.85, fmt.Sprintf(classifierSteps, 1.25)}, haltingResult{"late", 0.86, fmt.Sprintf(classifierSteps, 1.5)}, haltingResult{"late", 0.87, fmt.Sprintf(classifierSteps, 1.75)},
		haltingResult{"prior", 0.5, fmt.Sprintf(classifierSteps, 1.75)},
		haltingResult{"uniform", 0.89, ""}, haltingResult{"uniform", 0.90, ""}, haltingResult{"uniform", 0.92, ""})
}

// pairTask has the same halting in 2.75 steps, 2 of the encoder and 3.5 of the decoder, as good as three.
func pairTask() []haltingResult {
	const steps = `, "encoder_steps": {"mean": 2, "deviation": 0, "tenths": [2, 2, 2, 2, 2, 2, 2, 2, 2, 2]}, "decoder_steps": {"mean": 3.5, "deviation": 0, "tenths": [3, 3, 3, 3, 3, 4, 4, 4, 4, 4]}`
	return append(fixedDepths(), haltingResult{"late", 0.89, steps}, haltingResult{"late", 0.9, steps}, haltingResult{"late", 0.91, steps},
		haltingResult{"uniform", 0.9, ""}, haltingResult{"uniform", 0.9, ""}, haltingResult{"uniform", 0.9, ""})
}

// The page has the differences from fixed depth with p-values by hand. With a deviation in one of two samples of three seeds, Welch's test has 2
// degrees of freedom, and p = 1 - t / sqrt(t^2 + 2). In the first task t^2 is .06^2 * 3 / .01^2 = 108 against two steps, 48 against four and 1/7 for
// the supervision: .00913, .0202 and .742. In the second all are 0 or 1. Holm's method multiplies the first by 5, the tests with a deviation:
// .0457, and the second by 4: .0808. At 1.5 steps fixed depth has .7, halfway from .6 to .8, and at 2.75 .875.
// Caught when planted: the nearest depth below; the deepest for the next; p-values corrected for each task; decoder steps alone; the mean steps in
// place of those of the answering position.
func TestHaltingPage(t *testing.T) {
	dir := t.TempDir()
	saveHalting(t, dir, "words", "own-labels", wordTask(), nil)
	saveHalting(t, dir, "pairs", "own-pairs", pairTask(), nil)
	files, err := ReadHalting(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Render(Input{Halting: files}, "out", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	const which = "**Which objective of halting to use:** Graves' cost after 50 % of the updates, bias -3, weight 0.1 on tasks like words (1.50 mean steps), and fixed depth on tasks like pairs. " +
		"The objective is better than a fixed depth of 2 on words (+0.060; Welch's t-test, n = 3 and 3, p = 0.046); "
	const all = which +
		"not distinguishable from a fixed depth of 3 on pairs (+0.000; Welch's t-test, n = 3 and 3, p = 1), a fixed depth of 4 on pairs (+0.000; Welch's t-test, n = 3 and 3, p = 1), a fixed depth of 4 on words (-0.040; Welch's t-test, n = 3 and 3, p = 0.081)."
	contains(t, string(pages.Results), which+"it is not distinguishable from fixed depth in 3 other comparisons. [Objectives of halting](out/halting.md) on 2 tasks.\n")
	contains(t, string(pages.Files["halting.md"]), all, "Small models of 2 tasks, ", "Holm's method corrects the p-values for all 5 tests of this page; a difference is better or worse if p < 0.05.\n",
		"## words\n\nThe sweep [words.json](halting/words.json) trains all rows: 100 updates, at most 4 steps, with `training.steps=100`. Accuracy is the accuracy of 2,000 validation examples. "+
			"[Results](halting/words), trained by 0.2.0+01af341, cpu:threads=1, AMD EPYC.\n\n"+
			"| training | seeds | steps | answering position | accuracy | interpolated | next depth | deepest |\n|---|---|---|---|---|---|---|---|\n"+
			"| fixed depth, 1 step | 3 | 1.00 | 1.00 | 0.600 ± 0.000 |  |  |  |\n",
		"| Graves' cost after 50 % of the updates, bias -3, weight 0.1 | 3 | 1.50 | 3.00 | 0.860 ± 0.010 | +0.160 | 2 steps: +0.060, p = 0.046, better | 4 steps: -0.040, p = 0.081, not distinguishable |\n"+
			"| geometric prior, lambda 0.6, bias -1, weight 0.1 | 1 | 1.75 | 3.00 | 0.500 | -0.250 | 2 steps: -0.300, no test: n = 1 and 3 | 4 steps: -0.400, no test: n = 1 and 3 |\n"+
			"| every step supervised alike, 4 steps | 3 | 4.00 | 4.00 | 0.903 ± 0.015 | +0.003 | 4 steps: +0.003, p = 1, not distinguishable | the same |\n\n"+
			"The last position answers. With adaptive halting it runs more steps than the mean; with fixed depth it runs as many as all others.\n\n![accuracy against mean steps: words](halting-words.svg)\n",
		"| training | seeds | steps | encoder | decoder | accuracy | interpolated | next depth | deepest |\n",
		"| Graves' cost after 50 % of the updates, bias -3, weight 0.1 | 3 | 2.75 | 2.00 | 3.50 | 0.900 ± 0.010 | +0.025 | 3 steps: +0.000, p = 1, not distinguishable | 4 steps: +0.000, p = 1, not distinguishable |\n",
		"| prior | not finished |  |  |  |  |  |  |  |\n| every step supervised alike, 4 steps | 3 | 4.00 | 4.00 | 4.00 | 0.900 ± 0.000 | +0.000 | 4 steps: +0.000, no test: n = 3 and 3 without deviation | the same |\n")
	if len(pages.Files["halting-words.svg"]) == 0 || len(pages.Files["halting-pairs.svg"]) == 0 {
		t.Error("a figure is missing")
	}
}

// Without a difference that counts, fixed depth is to be used.
func TestHaltingWithoutADifference(t *testing.T) {
	dir := t.TempDir()
	saveHalting(t, dir, "pairs", "own-pairs", pairTask(), nil)
	files, err := ReadHalting(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := whichObjective(files, compareHalting(files), true); !strings.Contains(got, "none is better than fixed depth") {
		t.Error(got)
	}
}

// The next depth has at least as many steps, up to a hundredth, and what lies between two depths is on the line between their means: .6 and .8,
// .8 and .9.
func TestInterpolatedDepth(t *testing.T) {
	f := HaltingFile{limit: 3}
	for i, accuracy := range [][]float64{{0.5, 0.7}, {0.8}, {0.85, 0.95}} {
		f.rows = append(f.rows, haltingRow{fixed: i + 1, plain: true, accuracy: accuracy})
	}
	for _, c := range []struct {
		steps    float64
		next     int
		accuracy float64
	}{{1, 1, 0.6}, {1.004, 1, 0.6008}, {1.006, 2, 0.6012}, {1.25, 2, 0.65}, {2, 2, 0.8}, {2.7, 3, 0.87}, {3, 3, 0.9}} {
		if next, accuracy := f.next(c.steps), f.interpolated(c.steps); next != c.next || math.Abs(accuracy-c.accuracy) > 1e-12 {
			t.Errorf("%v steps: depth %d and %v, want %d and %v", c.steps, next, accuracy, c.next, c.accuracy)
		}
	}
}

// A sweep and its results agree, record steps and who trained and measured, and have every fixed depth.
// Caught when planted: each of these checks left out.
func TestReadHaltingRefuses(t *testing.T) {
	good := []haltingResult{{"one", 0.6, ""}, {"two", 0.8, ""}, {"three", 0.9, ""}, {"four", 0.9, ""}, {"late", 0.85, fmt.Sprintf(classifierSteps, 1.25)}, {"late", 0.86, fmt.Sprintf(classifierSteps, 1.5)}}
	late := func(r *sweep.Result) bool { return r.Recipe == "late" && r.Seed == 2 }
	for says, change := range map[string]func(*sweep.Result){
		"late-seed2: config: training.ponder.weight is 0.2: the sweep says 0.1": func(r *sweep.Result) {
			if late(r) {
				r.Config = json.RawMessage(strings.Replace(string(r.Config), `"weight":0.1`, `"weight":0.2`, 1))
			}
		},
		"late-seed2: config: model.classifier.width is 32, that of": func(r *sweep.Result) {
			if late(r) {
				r.Config = json.RawMessage(strings.Replace(string(r.Config), `"width":64`, `"width":32`, 1))
			}
		},
		`four-seed1: chosen_by is "validation cross entropy"`: func(r *sweep.Result) {
			r.ChosenBy, r.Config = sweep.ByEntropy, json.RawMessage(strings.Replace(string(r.Config), `"best_by_accuracy":true`, `"best_by_accuracy":false`, 1))
		},
		"late-seed2: it has no metric accuracy or sequence accuracy": func(r *sweep.Result) {
			if late(r) {
				r.Measured = json.RawMessage(strings.Replace(string(r.Measured), `"accuracy"`, `"share"`, 1))
			}
		},
		"late-seed2: trained_by or measured_by is empty": func(r *sweep.Result) {
			if late(r) {
				r.MeasuredBy = sweep.Provenance{}
			}
		},
		"late-seed2: measured: encoder_steps is missing": func(r *sweep.Result) {
			if late(r) {
				before, _, _ := strings.Cut(string(r.Measured), `, "encoder_steps"`)
				r.Measured = json.RawMessage(before + "}")
			}
		},
		"late-seed2: measured: a mean of 4.5 steps: the limit is 4": func(r *sweep.Result) {
			if late(r) {
				r.Measured = json.RawMessage(strings.Replace(string(r.Measured), `"mean": 1.5`, `"mean": 4.5`, 1))
			}
		},
		"late-seed2: measured.encoder_steps: mean is 0.5": func(r *sweep.Result) {
			if late(r) {
				r.Measured = json.RawMessage(strings.Replace(string(r.Measured), `"mean": 1.5`, `"mean": 0.5`, 1))
			}
		},
	} {
		dir := t.TempDir()
		saveHalting(t, dir, "words", "own-labels", good, change)
		if _, err := ReadHalting(dir); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	dir := t.TempDir()
	saveHalting(t, dir, "words", "own-labels", good[1:], nil)
	if _, err := ReadHalting(dir); err == nil || !strings.Contains(err.Error(), "it has no result of a fixed depth of 1, but rows with up to 4 steps") {
		t.Error(err)
	}
	dir = t.TempDir()
	saveHalting(t, dir, "words", "own-labels", nil, nil)
	if list, err := ReadHalting(dir); err != nil || len(list) > 0 {
		t.Errorf("a sweep without results: %d, %v", len(list), err)
	}
}

// The objective to use is worse on no task, and better on more tasks than others; among equals, it gains more at equal mean steps. Fixed depth has .5,
// .7 and .7 in the first task and .5, .6 and .9 in the second.
// Caught when planted: each of the three conditions left out.
func TestBestObjective(t *testing.T) {
	around := func(accuracy float64) []float64 { return []float64{accuracy - 0.001, accuracy, accuracy + 0.001} }
	file := func(name string, depths, accuracies [3]float64) HaltingFile {
		f := HaltingFile{Name: name, limit: 3}
		for i := range depths {
			f.rows = append(f.rows, haltingRow{title: "fixed", fixed: i + 1, plain: true, accuracy: around(depths[i])})
		}
		for i, title := range []string{"a", "b", "c"} {
			f.rows = append(f.rows, haltingRow{title: title, encoder: []float64{1.5}, accuracy: around(accuracies[i])})
		}
		return f
	}
	first, second := [3]float64{0.5, 0.7, 0.7}, [3]float64{0.5, 0.6, 0.9}
	for _, c := range []struct {
		first, second [3]float64 // accuracies of a, b and c with 1.5 steps
		want          string
	}{
		{[3]float64{0.71, 0.72, 0.70}, [3]float64{0.60, 0.60, 0.60}, "b"}, // both better on the first task: b gains more
		{[3]float64{0.71, 0.90, 0.70}, [3]float64{0.60, 0.55, 0.60}, "a"}, // b is worse on the second
		{[3]float64{0.71, 0.80, 0.72}, [3]float64{0.60, 0.60, 0.61}, "c"}, // better on both
		{[3]float64{0.70, 0.60, 0.70}, [3]float64{0.60, 0.60, 0.60}, ""},
	} {
		files := []HaltingFile{file("first", first, c.first), file("second", second, c.second)}
		if got := bestObjective(files, compareHalting(files)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// docs/depth.md recommends the objective that follows from the published results, with the same values in its example. Caught when planted: another
// weight on that page.
func TestDepthPageNamesTheObjective(t *testing.T) {
	files, err := ReadHalting(root)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "depth.md"))
	if err != nil {
		t.Fatal(err)
	}
	best := bestObjective(files, compareHalting(files))
	if best != "Graves' cost, bias -3, weight 0.03" {
		t.Errorf("the results say %q: change docs/depth.md and this test", best)
	}
	for _, want := range []string{"with a bias of -3 and the ponder cost of Graves with a weight of 0.03\n", `"bias": -3}}' --set training.ponder.weight=0.03 `} {
		if !strings.Contains(string(data), want) {
			t.Errorf("docs/depth.md lacks %q", want)
		}
	}
}
