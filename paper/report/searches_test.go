package report

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/sweep"
)

// headsSearch is a search with results: three variants of two seeds, of which one is not finished. The recipe has four heads.
const headsSearch = `{
  "sweep": {
    "name": "heads", "base": "algorithmic-adam/copy", "set": ["training.steps=500"],
    "variants": {"heads-4": [], "heads-2": ["model.heads=2"], "heads-1": ["model.heads=1", "training.schedule.peak=0.001"]}, "seeds": 2
  },
  "measure": "validation cross entropy", "selected": "heads-4", "log": "2026-01-02 · heads"
}`

// ratesSearch is a search from the log, of two seeds: the means of the accuracy are .75, .85 and .8.
const ratesSearch = `{
  "sweep": {
    "name": "rates", "base": "agreement-transformer/natural-classes", "set": ["training.steps=300"],
    "grid": {"training.schedule.cosine.peak": [0.003, 0.02, 0.03]}, "seeds": [3, 5]
  },
  "measure": "validation accuracy", "selected": "peak=0.02", "log": "2026-01-03 · rates",
  "trials": [
    {"recipe": "peak=0.003", "seed": 3, "step": 300, "validation": 0.7, "trained_by": {"backend": "cpu:threads=1"}},
    {"recipe": "peak=0.003", "seed": 5, "step": 290, "validation": 0.8, "trained_by": {"backend": "cpu:threads=1"}},
    {"recipe": "peak=0.02", "seed": 3, "step": 300, "validation": 0.95, "trained_by": {"backend": "cpu:threads=1"}},
    {"recipe": "peak=0.02", "seed": 5, "step": 300, "validation": 0.75, "trained_by": {"backend": "cpu:threads=1"}},
    {"recipe": "peak=0.03", "seed": 3, "step": 300, "validation": 0.8, "trained_by": {"backend": "cpu:threads=1"}}
  ]
}`

// headsResult is a result of headsSearch, in which some fields are set.
func headsResult(t *testing.T, name string, seed uint64, validation float64, set ...string) sweep.Result {
	t.Helper()
	recipe, err := recipes.Named("algorithmic-adam/copy")
	if err != nil {
		t.Fatal(err)
	}
	run, err := recipe.Run().Set(append([]string{"training.steps=500"}, set...)...)
	if err != nil {
		t.Fatal(err)
	}
	run.Name, run.Seed = "heads/"+name, seed
	config, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	return sweep.Result{
		Header: sweep.Header{
			Recipe: name, Seed: seed, Step: 500, BestStep: 400, Validation: validation, ChosenBy: sweep.ByEntropy, Stopped: "patience", Threads: 1,
			TrainedBy: sweep.Provenance{Version: "0.2.0", Commit: "01af341", Backend: "cpu:threads=1", CPU: "AMD EPYC"},
		},
		Measured: json.RawMessage("{}"), Config: config,
	}
}

// finishedHeads are the results of headsSearch: the mean validation of four heads is .3, that of two .35.
func finishedHeads(t *testing.T) []sweep.Result {
	return []sweep.Result{
		headsResult(t, "heads-4", 1, 0.4), headsResult(t, "heads-4", 2, 0.2),
		headsResult(t, "heads-2", 1, 0.1, "model.heads=2"), headsResult(t, "heads-2", 2, 0.6, "model.heads=2"),
	}
}

// readSearchFile reads one search with its results.
func readSearchFile(t *testing.T, name, content string, results []sweep.Result) ([]Search, error) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "searches")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".json"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if err := r.Save(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, ".DS_Store"), nil, 0o644); err != nil { // files of other kinds are no searches
		t.Fatal(err)
	}
	return ReadSearches(dir)
}

// The page of a table shows every trial of its searches with its values, and names the rows without a search; the front page counts rows.
// Caught when planted: a search on the page of another table; unfinished trials left out; an order by validation.
func TestSearchesSection(t *testing.T) {
	heads, err := readSearchFile(t, "heads", headsSearch, finishedHeads(t))
	if err != nil {
		t.Fatal(err)
	}
	rates, err := readSearchFile(t, "rates", ratesSearch, nil)
	if err != nil {
		t.Fatal(err)
	}
	pages, err := Render(Input{Searches: slices.Concat(rates, heads)}, "out", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	const by = "0.2.0+01af341, cpu:threads=1, AMD EPYC |\n"
	contains(t, string(pages.Files["table4.md"]),
		"### algorithmic-adam/copy: heads\n\nAll trials: `training.steps=500`. From its [results](searches/heads), which have the configurations; described in docs/log.md, 2026-01-02 · heads.\n\n"+
			"| trial | differs in | seed | updates | validation cross entropy, nats a token | trained by |\n|---|---|---|---|---|---|\n"+
			"| heads-4 |  | 1 | 500 | 0.4 | "+by+"| heads-4 |  | 2 | 500 | 0.2 | "+by+
			"| heads-2 | model.heads=2 | 1 | 500 | 0.1 | "+by+"| heads-2 | model.heads=2 | 2 | 500 | 0.6 | "+by+
			"| heads-1 | model.heads=1, training.schedule.peak=0.001 |  |  | not finished |  |\n\nSelected: heads-4, which the recipe has.\n\n",
		"No search is recorded for any column of algorithmic-lstm, algorithmic-lstm-plain, ", "algorithmic-neural-gpu, algorithmic, algorithmic-alike-transformer, ", " and algorithmic-coupled.\n")
	contains(t, string(pages.Files["table2.md"]),
		"**From docs/log.md only**, 2026-01-03 · rates: no result was kept", "| trial | differs in | seed | updates | validation accuracy | trained by |",
		"| peak=0.003 | training.schedule.cosine.peak=0.003 | 5 | 290 | 0.8 | build not recorded, cpu:threads=1 |\n", "No search is recorded for any column of agreement-lstm, agreement and agreement-adaptive.\n")
	contains(t, string(pages.Files["table7.md"]), "docs/log.md describes others in words.\n\nNo search is recorded for any row of this table.\n")
	contains(t, string(pages.Results), "[Searches](out/table2.md#searches) on validation data are recorded for 1 of 40 cells.", "[Searches](out/table7.md#searches) on validation data are recorded for 0 of 13 cells.")
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			_, section, _ := strings.Cut(text, "## Searches")
			t.Errorf("no %q in\n%.3000s", want, section)
		}
	}
}

// A file of a search has all fields and no others, names a cell of a table, and its trials and the selected one agree with the sweep.
// Caught when planted: json.Unmarshal in place of strictjson.Decode; Complete left out; the largest cross entropy as the best; the best single
// seed instead of the mean; a selected trial that is not compared with the recipe.
func TestReadSearchesRefuses(t *testing.T) {
	for _, c := range []struct{ old, new, says string }{
		{`"log"`, `"minutes": 3, "log"`, `unknown key "minutes"`}, {`, "log": "2026-01-03 · rates"`, ``, "log is missing"}, {`"2026-01-03 · rates"`, `""`, "log is empty"},
		{`"seed": 5, "step": 290`, `"seed": 5, "steps": 290`, `unknown key "steps"`}, {`"step": 290, `, ``, "trials[1].step is missing"},
		{`"grid": {`, `"grids": {`, `sweep: unknown key "grids"`}, {`"name": "rates"`, `"name": "peaks"`, `sweep.name is "peaks": it must be the file's, "rates"`},
		{`"agreement-transformer/natural-classes"`, `"agreement-trees/natural-classes"`, `sweep.base is "agreement-trees/natural-classes": no table has the row "agreement-trees"`},
		{`"agreement-transformer/natural-classes"`, `"agreement-transformer/natural"`, `column "natural" of table 2 is not known`}, {`"agreement-transformer/natural-classes"`, `{}`, "sweep.base must be the name"},
		{`"recipe": "peak=0.03"`, `"recipe": "peak=0.3"`, `the sweep has no trial "peak=0.3"`}, {`"seed": 5, "step": 290`, `"seed": 4, "step": 290`, "peak=0.003: seed is 4"},
		{`"seed": 5, "step": 290`, `"seed": 3, "step": 290`, "trials[1]: peak=0.003 with seed 3 is there twice"}, {`"step": 290`, `"step": 0`, "step is 0"},
		{`"validation": 0.7,`, `"validation": 1.7,`, "validation is 1.7, which is no validation accuracy"}, {`"validation": 0.7,`, `"validation": 0,`, "validation is 0"},
		{`{"backend": "cpu:threads=1"}`, `{}`, "trials[0]: peak=0.003: trained_by is empty"}, {`{"backend": "cpu:threads=1"}`, `{"commit": "a9019e5"}`, "trained_by.commit is given without version"},
		{`"training.schedule.cosine.peak"`, `"training.schedule.cosines.peak"`, `peak=0.003: key "training.schedule.cosines.peak" is not known`}, {`"training.steps=300"`, `"training.stepz=300"`, `"training.stepz" is not known`},
		{`"validation accuracy"`, `"accuracy"`, `measure is "accuracy"`}, {`"selected": "peak=0.02"`, `"selected": "peak=0.3"`, `selected: the sweep has no trial "peak=0.3"`},
		{`"selected": "peak=0.02"`, `"selected": "peak=0.003"`, `selected is "peak=0.003" with a validation accuracy of 0.75: "peak=0.02" has 0.85`},
		{`"validation": 0.8, "trained_by": {"backend": "cpu:threads=1"}}` + "\n", `"validation": 0.86, "trained_by": {"backend": "cpu:threads=1"}}` + "\n", `"peak=0.03" has 0.86`},
	} {
		refused(t, "rates", strings.Replace(ratesSearch, c.old, c.new, 1), ratesSearch, nil, c.says)
	}
	recipeHas := strings.NewReplacer("0.02", "0.01").Replace(ratesSearch)
	refused(t, "rates", recipeHas, ratesSearch, nil, `selected is "peak=0.01", but training.schedule.cosine.peak of agreement-transformer/natural-classes is 0.02`)
	refused(t, "rates", ratesSearch[:strings.Index(ratesSearch, `,
  "trials"`)]+"}", ratesSearch, nil, "it has no finished trial")
}

// Results of a search have the values of their trials, and differ in no field that no trial sets.
// Caught when planted: configurations that are not compared with the sweep, or only with the first one; a seed that is not compared.
func TestReadSearchesRefusesResults(t *testing.T) {
	if _, err := readSearchFile(t, "heads", headsSearch, finishedHeads(t)); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(r []sweep.Result){
		"heads-2-seed1: config: model.encoder_decoder.heads is 4: the sweep says 2": func(r []sweep.Result) { r[2] = headsResult(t, "heads-2", 1, 0.1) },
		"heads-2-seed1: config: training.steps is 600: the sweep says 500": func(r []sweep.Result) {
			r[2] = headsResult(t, "heads-2", 1, 0.1, "model.heads=2", "training.steps=600")
		},
		"heads-4-seed2: config: model.encoder_decoder.width is 96, that of heads-2-seed1 is 64":                                 func(r []sweep.Result) { r[1] = headsResult(t, "heads-4", 2, 0.2, "model.width=96") },
		"heads-4-seed2: config: training.schedule.cosine.peak is 0.01, that of heads-2-seed1 is 0.003: their trials do not set": func(r []sweep.Result) { r[1] = headsResult(t, "heads-4", 2, 0.2, "training.schedule.cosine.peak=0.01") },
		`heads-3-seed1: the sweep has no trial "heads-3"`:                                                                       func(r []sweep.Result) { r[2] = headsResult(t, "heads-3", 1, 0.1) },
		`heads-2-seed2.json: seed is 2, but config.seed is 1`:                                                                   func(r []sweep.Result) { r[3].Config = r[2].Config },
		"heads-4-seed2: config: model.encoder_decoder.heads is 8, that of heads-4-seed1 is 4":                                   func(r []sweep.Result) { r[1] = headsResult(t, "heads-4", 2, 0.2, "model.heads=8") },
		"heads-2: seed is 3: the sweep has [1 2]":                                                                               func(r []sweep.Result) { r[2] = headsResult(t, "heads-2", 3, 0.1, "model.heads=2") },
		`"heads-4" with a validation cross entropy of 0.30000000000000004: "heads-2" has 0.25`:                                  func(r []sweep.Result) { r[3].Validation = 0.4 },
		`heads-4-seed1.json: chosen_by is "validation accuracy, then cross entropy"`:                                            func(r []sweep.Result) { r[0].ChosenBy = sweep.ByAccuracy },
		"heads-2-seed2.json: trained_by.wall_seconds is -1":                                                                     func(r []sweep.Result) { r[3].TrainedBy.WallSeconds = -1 },
		`heads-2-seed1: config: name is "heads/heads-1" and seed 1: they must be "heads/heads-2" and 1`: func(r []sweep.Result) {
			r[2].Config = json.RawMessage(strings.Replace(string(r[2].Config), "heads/heads-2", "heads/heads-1", 1))
		},
	} {
		results := finishedHeads(t)
		change(results)
		refused(t, "heads", headsSearch, "", results, says)
	}
	byAccuracy := []sweep.Result{headsResult(t, "heads-4", 1, 0.4, "training.best_by_accuracy=true")}
	byAccuracy[0].ChosenBy = sweep.ByAccuracy
	refused(t, "heads", strings.Replace(headsSearch, `"training.steps=500"`, `"training.steps=500", "training.best_by_accuracy=true"`, 1), "", byAccuracy,
		`heads-4-seed1: chosen_by is "validation accuracy, then cross entropy"`)
	half := finishedHeads(t)[2:]
	refused(t, "heads", headsSearch, "", half, `selected is "heads-4", which has no finished trial`)
	refused(t, "heads", strings.Replace(headsSearch, "validation cross entropy", "validation accuracy", 1), "", finishedHeads(t),
		`heads-2-seed1: chosen_by is "validation cross entropy": it must be "validation accuracy, then cross entropy"`)
	refused(t, "rates", ratesSearch, "", finishedHeads(t), "it has trials and a folder of results")
	dir := t.TempDir()
	if err := half[0].Save(filepath.Join(dir, "searches", "heads")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSearches(dir); err == nil || !strings.Contains(err.Error(), "holds results of a search without") || !strings.HasSuffix(err.Error(), "heads.json: restore this file, or remove the folder") {
		t.Errorf("results without a search: %v", err)
	}
}

// A search by accuracy has the accuracies that its sweep measured on the validation examples: the highest is selected, whatever the cross entropy is.
// Caught when planted: the lowest selected, the cross entropy shown, the first metric taken, test examples accepted.
func TestSearchByAccuracy(t *testing.T) {
	search := strings.NewReplacer(`"training.steps=500"`, `"training.steps=500", "training.best_by_accuracy=true"`, "validation cross entropy", "validation accuracy",
		`"seeds"`, `"measure": {"validation": true}, "seeds"`).Replace(headsSearch)
	results := func(four, two float64) (list []sweep.Result) {
		for i, r := range finishedHeads(t) {
			set, accuracy := []string{"training.best_by_accuracy=true"}, four
			if r.Recipe == "heads-2" {
				set, accuracy = append(set, "model.heads=2"), two
			}
			r = headsResult(t, r.Recipe, r.Seed, r.Validation, set...)
			r.ChosenBy = sweep.ByAccuracy
			r.Measured = json.RawMessage(fmt.Sprintf(`{"examples": 9, "lengths": "", "metrics": [{"name": "other", "value": 1}, {"name": "accuracy", "value": %v}]}`, accuracy+0.01*float64(i%2)))
			list = append(list, r)
		}
		return list
	}
	list, err := readSearchFile(t, "heads", search, results(0.8, 0.7))
	if err != nil {
		t.Fatal(err)
	}
	if got := list[0].means(); math.Abs(got["heads-4"]-0.805) > 1e-12 || math.Abs(got["heads-2"]-0.705) > 1e-12 {
		t.Errorf("means %v", got)
	}
	refused(t, "heads", search, "", results(0.7, 0.8), `"heads-4" with a validation accuracy of 0.705`)
	refused(t, "heads", strings.Replace(search, `"validation": true`, `"validation": false`, 1), search, results(0.8, 0.7), "the sweep has no measure.validation")
	without := results(0.8, 0.7)
	without[0].Measured = json.RawMessage(`{"examples": 9, "lengths": "", "metrics": [{"name": "other", "value": 1}]}`)
	refused(t, "heads", search, "", without, "heads-4-seed1: it has no metric accuracy")
}

// refused checks that a file with results is an error in one line that names it and says what to do; so is a file of a result that says names. The
// file must not be good.
func refused(t *testing.T, name, content, good string, results []sweep.Result, says string) {
	t.Helper()
	if content == good {
		t.Fatalf("nothing was changed for %q", says)
	}
	remedy := ": restore the search and its results, or repeat it"
	if strings.Contains(says, "-seed") && strings.Contains(says, ".json: ") {
		remedy = ": remove the file to repeat the run"
	}
	_, err := readSearchFile(t, name, content, results)
	if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), filepath.Join("searches", name)) || !strings.HasSuffix(err.Error(), remedy) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want %q", err, says)
	}
}

// The published searches have entries in docs/log.md with the figures of all of their trials: cross entropies of results in millionths of a nat,
// and all others as the files have them. Caught when planted: a digit of a figure; a heading without its date.
func TestPublishedSearchesAreInTheLog(t *testing.T) {
	list, err := ReadSearches(root)
	if err != nil || len(list) == 0 {
		t.Fatalf("%d searches, %v", len(list), err)
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "docs", "log.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		_, entry, found := strings.Cut(string(data), "\n## "+s.Log+"\n")
		if !found {
			t.Errorf("%s: docs/log.md has no entry %q", s.file.Name, s.Log)
			continue
		}
		entry, _, _ = strings.Cut(entry, "\n## ")
		words := strings.FieldsFunc(strings.ReplaceAll(entry, ". ", " "), func(r rune) bool { return strings.ContainsRune(" |;\n()*", r) })
		for _, trial := range s.Trials {
			forms := []string{thousands(int(math.Round(1e6 * trial.Validation))), fmt.Sprintf("%.1f", 1e6*trial.Validation)}
			if !s.kept() || s.Measure == byAccuracy {
				forms = nil
				for _, digits := range []int{3, 4} {
					text := fmt.Sprintf("%.*f", digits, trial.Validation)
					forms = append(forms, text, strings.TrimPrefix(text, "0"))
				}
			}
			if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(forms, strings.TrimRight(w, ",.")) }) {
				t.Errorf("%s: %s is not in the entry %q: %v", s.file.Name, trial.Recipe, s.Log, forms)
			}
		}
	}
}
