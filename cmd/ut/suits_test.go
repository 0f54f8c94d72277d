package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// quickRun trains a tiny model in a directory of the given name.
func quickRun(t *testing.T, name, recipe string, more ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	args := []string{"train", recipe, "--out", dir}
	for _, set := range append(more, "model.width=8", "model.heads=2", "model.transition.filter=16", "model.halting={\"fixed\": {\"steps\": 2}}", "training.steps=10", "training.evaluate_every=10", "training.checkpoint_every=10") {
		args = append(args, "--set", set)
	}
	succeeds(t, args...)
	return dir
}

// textRun returns a language model, trained for a moment.
func textRun(t *testing.T) string {
	t.Helper()
	path := write(t, "t.txt", strings.Repeat("so much depends upon a red wheel barrow\n", 60))
	return quickRun(t, "text", "own-text", "task.path="+path, "task.length=16", "training.batch.boundaries=[15]")
}

// Flags that do not suit the model are an error before the data are read. Caught when planted: --errors, --diagnose and --cache checked after the
// evaluation or the data, and so lengths that the task's files do not offer.
func TestFlagsThatDoNotSuitTheModel(t *testing.T) {
	path := write(t, "t.txt", strings.Repeat("so much depends upon a red wheel barrow\n", 60))
	text, copier := quickRun(t, "text", "own-text", "task.path="+path, "task.length=16", "training.batch.boundaries=[15]"), copied(t)
	if err := os.Remove(path); err != nil { // so that data that are read are an error
		t.Fatal(err)
	}
	dir := t.TempDir()
	nowhere, grid := filepath.Join(dir, "nowhere"), pairsSweep(t, dir)
	if err := os.Remove(filepath.Join(dir, "pairs.tsv")); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"ut: --errors: " + path + " is evaluated by probabilities, so there are no answers\n":                {"eval", text, "--errors", filepath.Join(t.TempDir(), "x")},
		"ut: --diagnose: " + path + " is not answered by sequences: only decoded answers can be diagnosed\n": {"eval", text, "--diagnose"},
		"ut: --length is 5, but the lengths of this task are those of its files: leave it out\n":             {"eval", text, "--length", "5"},
		"ut: --mix is 3, but the lengths of this task are those of its files: leave it out\n":                {"depth", text, "--mix", "3"},
		"ut: --length is 7, but the lengths of this task are those of its files: leave it out\n":             {"data", "sample", text, "--split", "test", "--length", "7"},
		"ut: --hard is true, but this task has no hard cases: leave it out\n":                                {"eval", text, "--hard"},
		"a continuous cache needs a language model\n":                                                        {"eval", copier, "--cache", "tune", "--data", nowhere},
		"--split is \"all\": it must be training, validation or test\n":                                      {"data", "sample", text, "--split", "all"},
		"ut: training.pretrained: " + nowhere + " is not a run directory":                                    {"train", "own-text", "--set", "task.path=" + path, "--pretrained", nowhere},
		"ut: backend \"gpu\" is not known":                                                                   {"sweep", nowhere, "--backend", "gpu"},
		"ut: backend \"cpu:gpu\": option":                                                                    {"table", "run", "1", "--data", nowhere, "--backend", "cpu:gpu"},
		"products=int8 is for inference":                                                                     {"sweep", grid, "--backend", "cpu:scalar,products=int8"},
		filepath.Join(nowhere, "page.html") + " cannot be written":                                           {"trace", copier, "--input", "x", "--out", filepath.Join(nowhere, "page.html")},
	} {
		r := ut(t, args...)
		if checkFailure(t, r, r.code, want); r.code == 0 {
			t.Errorf("%v succeeds", args)
		}
	}
}

// What was measured is printed although another run does not suit the flags, and although wrong answers cannot be written.
// A folder that is no run is skipped, and one that does not exist is an error.
// Caught when planted: an end at the first run that flags do not suit; an error in place of the result.
func TestEvalPrintsWhatWasMeasured(t *testing.T) {
	run := trained(t)
	r := ut(t, "eval", run, textRun(t), run, "--count", "4", "--encoder-steps", "1")
	if r.code != 1 || strings.Count(r.stdout, "\n") != 3 || !strings.HasSuffix(r.stderr, "leave it out\nut: 1 of 3 runs could not be evaluated\n") {
		t.Errorf("%+v", r)
	}
	nowhere, folder := filepath.Join(t.TempDir(), "nowhere"), t.TempDir()
	r = ut(t, "eval", run, folder, nowhere, "--count", "4")
	if want := "ut: skipped: " + folder + " is not a run directory: it has no config.json\nut: " + nowhere + " is not a run directory: it does not exist\nut: 1 of 2 runs could not be evaluated\n"; r.code != 1 || strings.Count(r.stdout, "\n") < 2 || r.stderr != want {
		t.Errorf("%+v, want %q", r, want)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if r := ut(t, "eval", run, "--count", "4", "--errors", "/dev/full"); r.code != 1 || !strings.Contains(r.stdout, "sequence accuracy") || !strings.Contains(r.stderr, "no space left") {
		t.Errorf("%+v", r)
	}
}
