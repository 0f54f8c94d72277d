package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/sweep"
)

// pairsSweep is a small sweep of a file of pairs: two variants, two seeds.
func pairsSweep(t *testing.T, dir string) (file string) {
	t.Helper()
	var pairs strings.Builder
	for _, a := range "abcdefgh" {
		for _, b := range "abcdefgh" {
			pairs.WriteString(string(a) + " " + string(b) + "\t" + string(b) + " " + string(a) + "\n")
		}
	}
	data := filepath.Join(dir, "pairs.tsv")
	text := `{
		"name": "tiny", "base": "own-pairs",
		"set": ["task.path=` + data + `", "training.steps=6", "training.evaluate_every=3", "training.checkpoint_every=3", "training.batch.tokens=64", "model.width=16", "model.halting.fixed.steps=2"],
		"variants": {"two": [], "one": ["model.halting={\"frozen\": {\"max_steps\": 2, \"epsilon\": 0.01}}"]}, "seeds": 2
	}`
	file = filepath.Join(dir, "tiny.json")
	for path, content := range map[string]string{data: pairs.String(), file: text} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// sweepOutput runs ut sweep; failed is its error message, or empty if it succeeded.
func sweepOutput(t *testing.T, args ...string) (text, failed string) {
	t.Helper()
	r := ut(t, append([]string{"sweep"}, args...)...)
	if r.code != 0 {
		return r.stdout, r.stderr
	}
	return r.stdout, ""
}

// What can hardly be meant is said once for each cell, while it has no result. Caught when planted: notes for each seed; notes on what is done.
func TestSweepRemarks(t *testing.T) {
	dir := t.TempDir()
	file := pairsSweep(t, dir)
	for i, want := range []int{2, 0} {
		r := ut(t, "sweep", file, "--out", filepath.Join(dir, "out"))
		if n := strings.Count(r.stderr, "ut: note: "); r.code != 0 || n != want || n > 0 && !strings.Contains(r.stderr, "ut: note: one: training.schedule warms up until update 200, but training.steps is 6: ") {
			t.Errorf("call %d: %+v", i+1, r)
		}
	}
}

// A folder in which nothing can be written is one error, and not one for each run. Caught when planted: a sweep that does not check.
func TestSweepIntoWhatCannotBeWritten(t *testing.T) {
	file := pairsSweep(t, t.TempDir())
	r := ut(t, "sweep", file, "--out", filepath.Join(file, "out"))
	if r.code != 1 || strings.Count(r.stderr, "not a directory") != 1 || !strings.HasSuffix(r.stderr, ": choose another folder with --out\n") {
		t.Errorf("%+v", r)
	}
}

// A sweep trains all runs, prints the table and writes the page. A second call trains nothing, and its JSON has the same figures.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	file, out := pairsSweep(t, dir), filepath.Join(dir, "out")
	if text, failed := sweepOutput(t, file, "--out", out, "--list"); failed != "" || text != "two-seed1: to be trained\none-seed1: to be trained\ntwo-seed2: to be trained\none-seed2: to be trained\n" {
		t.Fatalf("%q, %s", text, failed)
	}
	text, failed := sweepOutput(t, file, "--out", out, "--jobs", "2")
	if failed != "" || strings.Count(text, "6 updates in") != 4 || !strings.Contains(text, "best by validation") || !strings.Contains(text, "page: "+filepath.Join(out, "index.html")) {
		t.Fatalf("%s, %s", text, failed)
	}
	own := t.TempDir() // the page of something else stays; caught when planted: no check
	if err := os.WriteFile(filepath.Join(own, "index.html"), []byte("<h1>mine</h1>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failed := sweepOutput(t, file, "--out", own); !strings.Contains(failed, "index.html was not written by a sweep, which would overwrite it: choose another folder") {
		t.Errorf("a foreign page: %q", failed)
	}
	page, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || strings.Count(string(page), "<polyline") != 4 {
		t.Errorf("the page has %d curves, want 4; %v", strings.Count(string(page), "<polyline"), err)
	}
	text, failed = sweepOutput(t, file, "--out", out, "--json")
	var report sweepReport
	if failed != "" || json.Unmarshal([]byte(text), &report) != nil || len(report.Cells) != 2 {
		t.Fatalf("%s, %s", text, failed)
	}
	if c := report.Cells[0]; c.Cell != "two" || len(c.Seeds) != 2 || c.Missing != 0 || c.Metrics[0].N != 2 || c.Validation.Mean <= 0 || report.Cells[0].Best == report.Cells[1].Best {
		t.Errorf("%+v", report.Cells)
	}

	steps := report.Cells[1].Metric("decoder steps")
	if steps.N != 2 || steps.Mean < 1 || steps.Mean > 2 || report.Cells[1].Metric("encoder steps").N != 2 || report.Cells[0].Metric("decoder steps").N != 0 {
		t.Errorf("mean steps of adaptive halting alone: %+v", report.Cells)
	}

	edited, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	refusesOtherMeasure(t, string(edited), file, out)
	if err := os.WriteFile(file, []byte(strings.Replace(string(edited), "steps=6", "steps=7", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failed := sweepOutput(t, file, "--out", out); !strings.Contains(failed, "has a result of another configuration: remove it and "+filepath.Join(out, "two-seed1")) {
		t.Errorf("an edited file: %s", failed)
	}
	if err := os.WriteFile(file, edited, 0o600); err != nil {
		t.Fatal(err)
	}
	copied, err := os.ReadFile(filepath.Join(out, "results", "two-seed2.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(out, "results", "two-seed1.json"), copied, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, failed := sweepOutput(t, file, "--out", out); !strings.Contains(failed, filepath.Join(out, "results", "two-seed1.json")+" has a result of another configuration: remove it and "+filepath.Join(out, "two-seed1")) {
		t.Errorf("a copy of another seed's result: %s", failed)
	}
}

// refusesOtherMeasure checks that a finished sweep is not reported as measured in another way, nor listed so. It leaves the file edited.
func refusesOtherMeasure(t *testing.T, text, file, out string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(strings.Replace(text, `"seeds": 2`, `"seeds": 3, "measure": {"count": 3}`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = `was measured with {}, but measure is {"count":3}`
	if _, failed := sweepOutput(t, file, "--out", out); !strings.Contains(failed, filepath.Join(out, "results", "two-seed1.json")+" "+want+": remove it to measure its run again, or choose another folder\n") {
		t.Errorf("another measure: %s", failed)
	}
	if list, failed := sweepOutput(t, file, "--out", out, "--list"); !strings.Contains(failed, "4 runs have files that cannot be used, as listed") || strings.Count(list, want) != 4 || strings.Count(list, "to be trained") != 2 {
		t.Errorf("another measure listed: %q, %s", list, failed)
	}
}

// Results and started runs that cannot be used are all named before anything is trained, and by --list.
// Caught when planted: only results checked; --list that succeeds, or stops at the first; the first problem alone named.
func TestSweepNamesAllProblems(t *testing.T) {
	dir := t.TempDir()
	file, out := pairsSweep(t, dir), filepath.Join(dir, "out")
	if text, failed := sweepOutput(t, file, "--out", out); failed != "" {
		t.Fatalf("%s, %s", text, failed)
	}
	result := func(name string) string { return filepath.Join(out, "results", name+".json") }
	if err := errors.Join(os.WriteFile(result("two-seed1"), []byte(`{"recipe": "two"`), 0o600), os.WriteFile(result("one-seed2"), nil, 0o600),
		os.Remove(result("one-seed1")), os.RemoveAll(filepath.Join(out, "one-seed1")), os.Rename(filepath.Join(out, "two-seed1"), filepath.Join(out, "one-seed1"))); err != nil {
		t.Fatal(err)
	}
	wants := []string{
		result("two-seed1") + ": ", result("one-seed2") + ": ",
		filepath.Join(out, "one-seed1") + " holds a run of another configuration: remove it, or choose another folder of runs",
	}
	text, failed := sweepOutput(t, file, "--out", out)
	list, listed := sweepOutput(t, file, "--out", out, "--list")
	for _, want := range wants {
		if strings.Count(failed, "ut: "+want) != 1 || strings.Count(list, want) != 1 {
			t.Errorf("%q, %s\n%s", want, failed, list)
		}
	}
	if strings.Count(failed, ": remove the file to repeat the run\n") != 2 || !strings.HasSuffix(failed, file+": nothing was trained, because of the 3 problems above\n") || text != "" {
		t.Errorf("%q, %s", text, failed)
	}
	if !strings.Contains(list, "two-seed2: token accuracy ") || listed != "ut: "+file+": 3 runs have files that cannot be used, as listed\n" {
		t.Errorf("%s, %s", list, listed)
	}
}

// Mistakes give one line that names the file and the fix.
func TestSweepMistakes(t *testing.T) {
	dir := t.TempDir()
	file := pairsSweep(t, dir)
	if _, failed := sweepOutput(t, file, "--jobs", "0"); !strings.Contains(failed, "--jobs is 0: it must be at least 1") {
		t.Error(failed)
	}
	if err := os.WriteFile(file, []byte(`{"name": "x", "base": "own-pair"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failed := sweepOutput(t, file); !strings.Contains(failed, file) || !strings.Contains(failed, `did you mean "own-pairs"`) {
		t.Error(failed)
	}
	if _, failed := sweepOutput(t, filepath.Join(dir, "gone.json")); !strings.Contains(failed, "gone.json") {
		t.Error(failed)
	}
}

// The example of the help is a valid file.
func TestSweepHelpIsValid(t *testing.T) {
	begin, end := strings.Index(sweepHelp, "  {\n"), strings.Index(sweepHelp, "\n  }\n")
	if begin < 0 || end < begin {
		t.Fatal("the help has no example")
	}
	f, err := sweep.ParseFile([]byte(sweepHelp[begin : end+len("\n  }\n")]))
	if err != nil || len(f.Variants) != 3 || len(f.Seeds) != 3 {
		t.Errorf("%+v, %v", f, err)
	}
}

// Mistakes in the data or in what is measured are found before the first run, and with --list, and name the field.
// Caught when planted: no check before training; only the first variant checked.
func TestSweepChecksBefore(t *testing.T) {
	dir := t.TempDir()
	file, out := pairsSweep(t, dir), filepath.Join(dir, "out")
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[string]string{
		`"seeds": 2, "measure": {"file": "nope.tsv"}`:   "tiny.json: measure.file: open nope.tsv: no such file or directory",
		`"seeds": 2, "measure": {"length": 40}`:         "tiny.json: measure.length is 40, but the lengths of this task are those of its files",
		`"seeds": 2, "measure": {"from": 3, "mix": 40}`: "tiny.json: measure.mix is 40, but",
		`"seeds": 2, "grid": {"task.path": ["` + filepath.ToSlash(filepath.Join(dir, "pairs.tsv")) + `", "nope.tsv"]}`: "path=nope.tsv: open nope.tsv: no such file or directory: set task.table.path",
		`"seeds": 2, "grid": {"training.pretrained": ["nope"]}`:                                                        "training.pretrained: nope is not a run directory",
		`"seeds": 2, "grid": {"training.validation_lengths": [{"from": 60, "to": 70}]}`:                                "training.validation_lengths.to is 70, but",
	} {
		if err := os.WriteFile(file, []byte(strings.Replace(string(good), `"seeds": 2`, change, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{file, "--out", out}, {file, "--out", out, "--list"}} {
			text, failed := sweepOutput(t, args...)
			if !strings.Contains(failed, want) || strings.Contains(text, "updates in") {
				t.Errorf("%q: %s, %q, want %q", args, text, failed, want)
			}
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s: training began", change)
		}
	}
}
