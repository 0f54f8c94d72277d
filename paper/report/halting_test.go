package report

import (
	"encoding/json"
	"fmt"
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
    "late": ["model.halting={\"frozen\": {\"max_steps\": 4, \"epsilon\": 0.01, \"bias\": -3}}", "training.ponder.weight=0.1", "training.ponder.delay=50", "training.ponder.warmup=25"],
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

// haltingSeconds is the processor time of training with seed 2; that of seed 1 is a second less, that of seed 3 a second more.
var haltingSeconds = map[string]float64{"one": 10, "two": 20, "three": 30, "four": 40, "late": 34, "prior": 41, "uniform": 48}

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
		by := sweep.Provenance{Version: "0.2.0", Commit: "01af341", Backend: "cpu:threads=1", CPU: "AMD EPYC", CPUSeconds: haltingSeconds[h.variant] + float64(run.Seed) - 2}
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

// fixedDepths are three seeds of each fixed depth: .6, .78 ± .02, .9 and .9 ± .02.
func fixedDepths() (list []haltingResult) {
	for variant, accuracies := range map[string][]float64{"one": {0.6, 0.6, 0.6}, "two": {0.76, 0.78, 0.80}, "three": {0.9, 0.9, 0.9}, "four": {0.88, 0.90, 0.92}} {
		for _, accuracy := range accuracies {
			list = append(list, haltingResult{variant, accuracy, ""})
		}
	}
	return list
}

// classifierSteps is the JSON of mean steps of sequences of eight positions, of which the last runs 3.
const classifierSteps = `, "encoder_steps": {"mean": %v, "deviation": 0.5, "tenths": [1, 1, 1, 1, null, 1, 1, 1, 3, null]}`

// wordTask has a halting that is better than two steps, which it does not reach, and a supervision as good as four.
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
		haltingResult{"uniform", 0.89, ""}, haltingResult{"uniform", 0.91, ""}, haltingResult{"uniform", 0.93, ""})
}

// The page has the differences from fixed depth with p-values by hand. With three pairs the test has 2 degrees of freedom, and p = 1 - t /
// sqrt(t^2 + 2). In the first task the differences are .09, .08 and .07 from two steps, so t^2 is .08^2 * 3 / .01^2 = 192; -.05, -.04 and
// -.03 from three and -.03,
// -.04 and -.05 from four, 48; and .01, 0 and 0 of the supervision, 1: p is .00517, .0202, .0202 and .423. In the second the mean difference is 0, or
// .01 of all seeds, which is no test. Holm's method multiplies by 6, the tests with a deviation: .0310, then by 5: .101, and by 3: more
// than 1. At 1.5 steps fixed depth has .69, halfway from .6 to .78, and at 2.75 .78 + .75 * .12 = .87. Trained in 34 s, the first has 1.7,
// 1.13 and .85 times the time of 20, 30 and 40 s. Caught when planted: the nearest depth below; the next depth alone; p-values corrected
// for each task; decoder steps alone; the mean steps in place of those of the answering position; Welch's test; the time of one seed; a
// ratio upside down; a delay without the growth after it.
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
	const test = "paired t-test over seeds, n = 3, p = "
	const which = "**Which objective of halting to use:** Graves' cost after 50 %, in full after 75 % of the updates, bias -3, weight 0.1 on tasks like words, and fixed depth on tasks like pairs. " +
		"On words it takes 1.50 mean steps (its answering position runs 3.00 steps) and is better than a fixed depth of 2 (+0.080; " + test + "0.031); " +
		"not distinguishable from a fixed depth of 3 (-0.040; " + test + "0.1), a fixed depth of 4 (-0.040; " + test + "0.1). " +
		"Training takes 34.0 s of processor time, 1.70 times that of a fixed depth of 2 (20.0 s), 1.13 times that of a fixed depth of 3 (30.0 s) and 0.85 times that of a fixed depth of 4 (40.0 s). "
	contains(t, string(pages.Results), which+"On pairs it is not distinguishable from fixed depth in 2 comparisons. Fewer mean steps take less time only where halted positions are left out of the computation, as in training. [Objectives of halting](out/halting.md) on 2 tasks, which docs/depth.md describes.\n")
	contains(t, string(pages.Files["halting.md"]),
		which+"On the other tasks it is not distinguishable from a fixed depth of 3 on pairs (+0.000; "+test+"1), a fixed depth of 4 on pairs (+0.000; "+test+"1).\n",
		"Small models of 2 tasks, ", "Holm's method corrects the p-values for all 6 tests of this page; a difference is better or worse if p < 0.05.\n",
		"## words\n\nThe sweep [words.json](halting/words.json) trains all rows: 100 updates, at most 4 steps, with `training.steps=100`. Accuracy is the accuracy of 2,000 validation examples. "+
			"[Results](halting/words), trained by 0.2.0+01af341, cpu:threads=1, AMD EPYC.\n\n"+
			"| training | seeds | steps | answering position | processor time | accuracy | interpolated | 2 steps | 3 steps | 4 steps |\n|---|---|---|---|---|---|---|---|---|---|\n"+
			"| fixed depth, 1 step | 3 | 1.00 | 1.00 | 10.0 s | 0.600 ± 0.000 |  |  |  |  |\n",
		"| Graves' cost after 50 %, in full after 75 % of the updates, bias -3, weight 0.1 | 3 | 1.50 | 3.00 | 34.0 s | 0.860 ± 0.010 | +0.170 | +0.080, p = 0.031, better | -0.040, p = 0.1, not distinguishable | -0.040, p = 0.1, not distinguishable |\n"+
			"| geometric prior, lambda 0.6, bias -1, weight 0.1 | 1 | 1.75 | 3.00 | 40.0 s | 0.500 | -0.235 | -0.260, no test: n = 1 | -0.400, no test: n = 1 | -0.380, no test: n = 1 |\n"+
			"| every step supervised alike, 4 steps | 3 | 4.00 | 4.00 | 48.0 s | 0.903 ± 0.015 | +0.003 |  |  | +0.003, p = 1, not distinguishable |\n\n"+
			"The last position answers. With adaptive halting it runs more steps than the mean; with fixed depth it runs as many as all others.\n\n![accuracy against mean steps: words](halting-words.svg)\n\n"+
			"Bars are standard deviations over seeds. The line joins the fixed depths; *interpolated* is the vertical distance from it.\n",
		"| training | seeds | steps | encoder | decoder | processor time | accuracy | interpolated | 3 steps | 4 steps |\n",
		"| Graves' cost after 50 %, in full after 75 % of the updates, bias -3, weight 0.1 | 3 | 2.75 | 2.00 | 3.50 | 34.0 s | 0.900 ± 0.010 | +0.030 | +0.000, p = 1, not distinguishable | +0.000, p = 1, not distinguishable |\n",
		"| prior | not finished |  |  |  |  |  |  |  |  |\n| every step supervised alike, 4 steps | 3 | 4.00 | 4.00 | 4.00 | 48.0 s | 0.910 ± 0.020 | +0.010 |  | +0.010, no test: n = 3 without deviation |\n")
	if len(pages.Files["halting-words.svg"]) == 0 || len(pages.Files["halting-pairs.svg"]) == 0 {
		t.Error("a figure is missing")
	}
}

// Of sequences with ten positions or more, the steps of the last tenth are kept, and the page has their range over rows. Caught when planted: the last
// tenth taken for the last position.
func TestLastTenth(t *testing.T) {
	var rows [2]haltingRow
	for i, last := range []float64{3.25, 3.5} {
		var m sweep.Metrics
		if err := json.Unmarshal([]byte(fmt.Sprintf(`{"encoder_steps": {"mean": 1.5, "deviation": 0.5, "tenths": [1, 1, 1, 1, 1, 1, 1, 1, 2, %v]}}`, last)), &m); err != nil {
			t.Fatal(err)
		}
		if err := rows[i].addSteps(m, 4); err != nil {
			t.Fatal(err)
		}
	}
	if rows[0].last[0] != 3.25 || rows[1].last[0] != 3.5 || len(rows[0].answer) > 0 {
		t.Errorf("%v and %v, answers %v", rows[0].last, rows[1].last, rows[0].answer)
	}
	for i := range rows {
		rows[i].name, rows[i].accuracy, rows[i].seconds, rows[i].plain = "a", []float64{0.5}, []float64{1}, true // without comparisons
	}
	p := &page{files: map[string][]byte{}}
	p.haltingTask(HaltingFile{Name: "x", file: sweep.File{Set: []string{"model.pool=last"}}, rows: append(rows[:], haltingRow{name: "fixed"}), counts: []int{10}}, nil)
	contains(t, p.text.String(), "The last tenth of the positions, to which it belongs, runs 3.25 to 3.50 steps with adaptive halting, by row;")
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
		"late-seed2: trained_by has no cpu_seconds": func(r *sweep.Result) {
			if late(r) {
				r.TrainedBy.CPUSeconds = 0
			}
		},
		"late has no seed in common with a fixed depth of 3 steps": func(r *sweep.Result) {
			if r.Recipe == "three" {
				r.Seed, r.Config = 3, json.RawMessage(strings.Replace(string(r.Config), `"seed":1`, `"seed":3`, 1))
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
		"late-seed2.json: measured.encoder_steps: mean is 0.5": func(r *sweep.Result) {
			if late(r) {
				r.Measured = json.RawMessage(strings.Replace(string(r.Measured), `"mean": 1.5`, `"mean": 0.5`, 1))
			}
		},
	} {
		dir := t.TempDir()
		saveHalting(t, dir, "words", "own-labels", good, change)
		if _, err := ReadHalting(dir); err == nil || !strings.Contains(err.Error(), says) || !strings.HasSuffix(err.Error(), ": restore the comparison and its results, or repeat it") {
			t.Errorf("%v, want %q", err, says)
		}
	}
	dir := t.TempDir()
	saveHalting(t, dir, "words", "own-labels", good[1:], nil)
	if _, err := ReadHalting(dir); err == nil || !strings.Contains(err.Error(), "it has no result of a fixed depth of 1, but rows with up to 4 steps") {
		t.Error(err)
	}
	dir = t.TempDir()
	saveHalting(t, dir, "words", "own-labels", good, nil)
	results, err := filepath.Glob(filepath.Join(dir, "halting", "words", "*.json"))
	if err != nil || len(results) == 0 {
		t.Fatal(results, err)
	}
	if err := os.WriteFile(results[0], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHalting(dir); err == nil || !strings.HasPrefix(err.Error(), results[0]+": ") || !strings.HasSuffix(err.Error(), "does: remove the file to repeat the run") {
		t.Errorf("a damaged result: %v", err)
	}
	dir = t.TempDir()
	saveHalting(t, dir, "words", "own-labels", nil, nil)
	if list, err := ReadHalting(dir); err != nil || len(list) > 0 {
		t.Errorf("a sweep without results: %d, %v", len(list), err)
	}
}

// The title says when the cost begins and when it has its full weight, in shares of the updates, of which there are 100.
func TestObjectiveOf(t *testing.T) {
	recipe, err := recipes.Named("own-labels")
	if err != nil {
		t.Fatal(err)
	}
	for schedule, want := range map[[2]int]string{
		{0, 0}:   "Graves' cost, bias -2, weight 0.3",
		{40, 0}:  "Graves' cost after 40 % of the updates, bias -2, weight 0.3",
		{0, 20}:  "Graves' cost in full after 20 % of the updates, bias -2, weight 0.3",
		{40, 20}: "Graves' cost after 40 %, in full after 60 % of the updates, bias -2, weight 0.3",
	} {
		run, err := recipe.Run().Set("training.steps=100", `model.halting={"frozen": {"max_steps": 5, "epsilon": 0.01, "bias": -2}}`,
			fmt.Sprintf(`training.ponder={"weight": 0.3, "delay": %d, "warmup": %d}`, schedule[0], schedule[1]))
		if err != nil {
			t.Fatal(err)
		}
		if title, fixed, limit, plain := objectiveOf(run); title != want || fixed != 0 || limit != 5 || plain {
			t.Errorf("%q, %d, %d, %v; want %q", title, fixed, limit, plain, want)
		}
	}
}
