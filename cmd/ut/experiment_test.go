package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment"
)

// stories is a folder with tasks 1 and 2 of bAbI's en, made up.
func stories(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	rooms := strings.Fields("kitchen garden office")
	for i, part := range []string{"train", "test"} {
		var b strings.Builder
		for n := range 60 {
			fmt.Fprintf(&b, "1 Mary went to the %s.\n2 John went to the %s.\n3 Where is Mary?\t%[1]s\t1\n", rooms[(n+i)%3], rooms[n/3%3])
		}
		for task := 1; task <= 2; task++ {
			path := filepath.Join(root, "en", fmt.Sprintf("qa%d_%s.txt", task, part))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

// gridded runs two tasks of a grid, a few updates each, below a folder.
func gridded(data, out string, more ...string) []string {
	args := []string{"experiment", "run", "babi-1k-single-adaptive", "--data", data, "--seeds", "1",
		"--runs", filepath.Join(out, "runs")}
	for _, s := range []string{"model.width=16", "training.steps=40", "training.evaluate_every=10", "training.batch.rows=16", "training.schedule.cosine.warmup=5"} {
		args = append(args, "--set", s)
	}
	return append(args, append([]string{"--tasks", "1,2"}, more...)...)
}

// Every run is done once: what is done is skipped, and says so; results are left as they were.
func TestExperimentRun(t *testing.T) {
	data, out := stories(t), t.TempDir()
	first := strings.Split(strings.TrimSpace(succeeds(t, gridded(data, out)...)), "\n")
	if len(first) != 2 || !strings.HasPrefix(first[1], "babi-1k-single-adaptive, bAbI en task 2, seed 1: validation error ") || !strings.Contains(first[1], "of 60 questions") {
		t.Fatalf("%q", first)
	}
	file := filepath.Join(out, "runs", "results", "babi-1k-single-adaptive", "task02-seed1.json")
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(before), data) {
		t.Error("the result tells where the data lie")
	}
	again := succeeds(t, gridded(data, out)...)
	if strings.Count(again, "(done before)") != 2 {
		t.Errorf("%q", again)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Error("a run that was done is done again")
	}
	if other := succeeds(t, gridded(data, out, "--set", "training.steps=30")...); strings.Count(other, "(done before, with another configuration: remove") != 2 {
		t.Errorf("%q", other)
	}
	more := succeeds(t, gridded(data, out, "--seeds", "2")...)
	if strings.Count(more, "(done before)") != 2 || strings.Count(more, "\n") != 4 {
		t.Errorf("with a second seed: %q", more)
	}
}

// Where all tasks are asked for, those without files are named and left out, and the rest is done; a stand-in is trained on, and the
// result says so.
func TestExperimentRunWithoutSomeFiles(t *testing.T) {
	data, out := stories(t), t.TempDir()
	r := ut(t, slices.DeleteFunc(gridded(data, out), func(a string) bool { return a == "--tasks" || a == "1,2" })...)
	if r.code != 1 || strings.Count(r.stderr, "ut: left out:") != 18 || !strings.HasSuffix(r.stderr, "18 tasks have no training file in "+data+"\n") || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("%+v", r)
	}
	train := filepath.Join(data, "en", "qa2_train.txt")
	standIn := filepath.Join(t.TempDir(), "qa2_partial.txt")
	if err := os.Rename(train, standIn); err != nil {
		t.Fatal(err)
	}
	args := append(slices.DeleteFunc(gridded(data, t.TempDir()), func(a string) bool { return a == "--tasks" || a == "1,2" }), "--tasks", "2")
	if r := ut(t, args...); r.code != 1 || !strings.Contains(r.stderr, "en/qa2_train.txt is missing") {
		t.Errorf("%+v", r)
	}
	if got := succeeds(t, append(args, "--stand-in", standIn)...); !strings.Contains(got, "task 2 trained on the stand-in qa2_partial.txt, seed 1") {
		t.Errorf("%q", got)
	}
	for want, name := range map[string]string{"must begin with the task": "partial.txt", "no such file": "qa2_gone.txt"} {
		if r := ut(t, append(args, "--stand-in", name)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%+v", r)
		}
	}
}

func TestExperimentList(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(succeeds(t, "experiment", "list")), "\n")
	if len(lines) != len(experiment.Grids) || !strings.HasPrefix(lines[0], "babi-10k-single ") {
		t.Errorf("%q", lines)
	}
}

func TestExperimentErrors(t *testing.T) {
	data := stories(t)
	for want, args := range map[string][]string{
		"what to do is missing: one of list, run":       {"experiment"},
		`"rum" is none of list, run`:                    {"experiment", "rum"},
		`did you mean "babi-1k-single"`:                 {"experiment", "run", "babi-1k-singel"},
		"EXPERIMENT is missing":                         {"experiment", "run"},
		`--tasks: "21" is no task`:                      {"experiment", "run", "babi-1k-single", "--tasks", "21"},
		"--tasks cannot be given with babi-1k-joint":    {"experiment", "run", "babi-1k-joint", "--tasks", "1"},
		"--seeds is 0":                                  {"experiment", "run", "babi-1k-single", "--seeds", "0"},
		"--data: stat data: no such file":               {"experiment", "run", "babi-1k-single"},
		"en/qa3_train.txt is missing: get the whole":    {"experiment", "run", "babi-1k-single", "--data", data, "--tasks", "3"},
		"did you mean \"task.babi.set\"":                {"train", "babi", "--set", "task.babi.sett=en"},
		"nowhere: no such file":                         {"train", "babi", "--set", "task.babi.path=nowhere"},
		"classifier.pool \"lst\" is not known: did y":   {"train", "babi", "--set", "model.classifier.pool=lst"},
		"model.untied_layers needs halting to be fixed": {"train", "babi", "--set", "model.classifier.untied=true", "--set", `model.halting={"length": {}}`},
	} {
		r := ut(t, args...)
		if r.code == 0 || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "\n") > 2 {
			t.Errorf("%q: exit code %d, %q, want %q", args, r.code, r.stderr, want)
		}
	}
}
