package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stories returns a folder with invented tasks 1 and 2 of bAbI's en.
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

// gridded returns the arguments that run two cells of a row, a few updates each, below a folder.
func gridded(data, out string, more ...string) []string {
	args := []string{"table", "run", "1", "--rows", "babi-1k-single-adaptive", "--data", data, "--seeds", "1",
		"--runs", filepath.Join(out, "runs")}
	for _, s := range []string{"model.width=16", "training.steps=40", "training.evaluate_every=20", "training.batch.rows=16", "training.schedule.cosine.warmup=5"} {
		args = append(args, "--set", s)
	}
	return append(args, append([]string{"--columns", "1,2"}, more...)...)
}

// Every run is trained once. Finished runs are skipped with a message, and their results do not change.
func TestTableRun(t *testing.T) {
	data, out := stories(t), t.TempDir()
	first := strings.Split(strings.TrimSpace(succeeds(t, gridded(data, out)...)), "\n")
	if len(first) != 2 || !strings.HasPrefix(first[1], "babi-1k-single-adaptive/task02-seed1: validation error ") || !strings.Contains(first[1], "of 60 questions") {
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
	if other := ut(t, gridded(data, out, "--set", "training.steps=30")...); other.code != 1 || strings.Count(other.stdout, "(done before, with another configuration: remove") != 2 ||
		!strings.Contains(other.stderr, "2 runs have a result of another configuration, and not trained: remove the results in "+filepath.Join(out, "runs", "results")+", or choose another folder with --results") {
		t.Errorf("%+v", other)
	}
	if dry := ut(t, gridded(data, out, "--set", "training.steps=30", "--dry-run")...); dry.code != 0 || strings.Count(dry.stderr, ": done before, with another configuration: remove its result") != 2 {
		t.Errorf("%+v", dry)
	}
	if set := resultOf(t, out, "task01-seed1")["set"]; !reflect.DeepEqual(set, []any{"model.width=16", "training.steps=40", "training.evaluate_every=20", "training.batch.rows=16", "training.schedule.cosine.warmup=5"}) {
		t.Errorf("the result says that it was trained with %v", set)
	}
	more := succeeds(t, gridded(data, out, "--seeds", "2")...)
	if strings.Count(more, "(done before)") != 2 || strings.Count(more, "\n") != 4 {
		t.Errorf("with a second seed: %q", more)
	}
}

// Seeds are given in --seeds alone, and a folder of results that cannot be read is an error with --dry-run, too.
func TestTableRunRefuses(t *testing.T) {
	data, out := stories(t), t.TempDir()
	if r := ut(t, gridded(data, out, "--set", "seed=4")...); r.code != 2 || !strings.Contains(r.stderr, "--set has the field seed: give seeds in --seeds") {
		t.Errorf("%+v", r)
	}
	file := filepath.Join(data, "en", "qa1_train.txt")
	want := "2 of 2 runs failed; the first: babi-1k-single-adaptive/task01-seed1: open " + filepath.Join(file, "babi-1k-single-adaptive", "task01-seed1.json") + ": not a directory"
	for _, more := range [][]string{{"--dry-run"}, nil} {
		if r := ut(t, gridded(data, out, append(more, "--results", file)...)...); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%q: %+v", more, r)
		}
	}
}

// Parallel runs give the same results, with the requested seeds. Logged lines begin with the name of their run.
func TestTableJobs(t *testing.T) {
	data, one, two := stories(t), t.TempDir(), t.TempDir()
	succeeds(t, gridded(data, one, "--seeds", "2-3")...)
	r := ut(t, gridded(data, two, "--seeds", "2,3", "--jobs", "2")...)
	if r.code != 0 || strings.Count(r.stdout, "\n") != 4 {
		t.Fatalf("%+v", r)
	}
	for line := range strings.Lines(r.stderr) {
		if strings.Contains(line, "validation at update") && !strings.HasPrefix(line, "babi-1k-single-adaptive/task0") {
			t.Errorf("%q names no run", line)
		}
	}
	for _, name := range []string{"task01-seed2", "task01-seed3", "task02-seed2", "task02-seed3"} {
		a, b := resultOf(t, one, name), resultOf(t, two, name)
		if !reflect.DeepEqual(a["measured"], b["measured"]) || a["best_step"] != b["best_step"] || b["threads"] != 1. {
			t.Errorf("%s: side by side %v, alone %v", name, b, a)
		}
	}
}

// asRecipes makes results of shortened runs those of the recipes: ut table report leaves out runs with other values.
func asRecipes(t *testing.T, results string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(results, "*", "*-seed*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	set := regexp.MustCompile(`(?s)  "set": \[.*?\],\n`)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, set.ReplaceAll(data, nil), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// resultOf reads a result.
func resultOf(t *testing.T, out, name string) (result map[string]any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(out, "runs", "results", "babi-1k-single-adaptive", name+".json"))
	if err == nil {
		err = json.Unmarshal(data, &result)
	}
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestParseSeeds(t *testing.T) {
	for text, want := range map[string][]uint64{"3": {1, 2, 3}, "1": {1}, "4-6": {4, 5, 6}, "1,3": {1, 3}, "7,": nil, "2-3, 9": {2, 3, 9}, "2-3,3": nil, "18446744073709551614-18446744073709551615": {1<<64 - 2, 1<<64 - 1}, "0": nil, "3-2": nil, "a": nil, "1-9999999": nil, "-1": nil, "": nil} {
		if got, err := parseSeeds(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestJobBackend(t *testing.T) {
	for name, want := range map[string]string{"": "cpu:threads=1", "cpu": "cpu:threads=1", "cpu:avx2": "cpu:avx2,threads=1", "cpu:threads=3": "cpu:threads=3", "go": "go"} {
		if got, _ := jobBackend(name, 2); got != want {
			t.Errorf("a job of two on %q has %q, want %q", name, got, want)
		}
		if got, _ := jobBackend(name, 1); got != name {
			t.Errorf("one job on %q has %q", name, got)
		}
	}
	for name, want := range map[string]int{"cpu:avx2": 1, "cpu:threads=3": 3} {
		if _, got := jobBackend(name, 2); got != want {
			t.Errorf("%q has %d threads, want %d", name, got, want)
		}
	}
}

// everyTask returns the arguments without --columns.
func everyTask(args []string) []string {
	return slices.DeleteFunc(args, func(a string) bool { return a == "--columns" || a == "1,2" })
}

// If no tasks are selected, those without files are reported and skipped, and the others are trained. A stand-in is used.
func TestTableRunWithoutSomeFiles(t *testing.T) {
	data, out := stories(t), t.TempDir()
	r := ut(t, everyTask(gridded(data, out))...)
	if r.code != 1 || strings.Count(r.stderr, ": name the data with --data or --stand-in\n") != 18 || !strings.HasSuffix(r.stderr, "18 cells lack a data file, all others are done: the lines above name the flags\n") || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("%+v", r)
	}
	train := filepath.Join(data, "en", "qa2_train.txt")
	standIn := filepath.Join(t.TempDir(), "qa2_partial.txt")
	if err := os.Rename(train, standIn); err != nil {
		t.Fatal(err)
	}
	args := append(everyTask(gridded(data, t.TempDir())), "--columns", "2")
	if r := ut(t, args...); r.code != 1 || !strings.Contains(r.stderr, "en/qa2_train.txt is missing") {
		t.Errorf("%+v", r)
	}
	if got := succeeds(t, append(args, "--stand-in", standIn)...); !strings.HasPrefix(got, "babi-1k-single-adaptive/task02-seed1: ") {
		t.Errorf("%q", got)
	}
	for want, name := range map[string]string{"must begin with the task": "partial.txt", "no such file": "qa2_gone.txt"} {
		if r := ut(t, append(args, "--stand-in", name)...); r.code == 0 || !strings.Contains(r.stderr, want) {
			t.Errorf("%+v", r)
		}
	}
}

// A failed run is reported by name, and the others are trained. The error of a single run, or of the backend, is printed once.
// Caught when planted: a failure that is printed when it happens and at the end.
func TestTableFailure(t *testing.T) {
	data, out := stories(t), t.TempDir()
	damaged := filepath.Join(out, "runs", "results", "babi-1k-single-adaptive", "task01-seed1.json")
	if err := os.MkdirAll(filepath.Dir(damaged), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(damaged, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ut(t, gridded(data, out)...)
	if r.code != 1 || !strings.Contains(r.stderr, "ut: babi-1k-single-adaptive/task01-seed1: "+damaged) || !strings.Contains(r.stderr, "ut: 1 of 2 runs failed; the first: ") || strings.Count(r.stdout, "\n") != 1 {
		t.Errorf("%+v", r)
	}
	r = ut(t, append(everyTask(gridded(data, out)), "--columns", "1")...)
	if want := "ut: babi-1k-single-adaptive/task01-seed1: " + damaged; r.code != 1 || strings.Count(r.stderr, want) != 1 {
		t.Errorf("%+v", r)
	}
	r = ut(t, append(gridded(data, t.TempDir()), "--backend", "cpu:threads=none", "--jobs", "2")...)
	if r.code != 1 || strings.Count(r.stderr, "threads=none") != 1 || strings.Contains(r.stderr, "seed1") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
}

// The list of a table has every row, and ut show knows the names of the cells in --json.
func TestTableList(t *testing.T) {
	all := succeeds(t, "table", "list")
	for n, want := range []string{"bAbI", "agreement", "LAMBADA", "Copy, reverse", "double", "programs", "Translation"} {
		if !strings.Contains(all, want) {
			t.Errorf("table %d is not in the list: %s", n+1, all)
		}
	}
	six := succeeds(t, "table", "list", "6")
	for _, want := range []string{"  programs-lstm ", "  programs-adaptive ", "programs-wide ", ": program, control\n"} {
		if !strings.Contains(six, want) {
			t.Errorf("the list lacks %q: %s", want, six)
		}
	}
	var tables []struct {
		Table   int
		Recipes []string
	}
	if err := json.Unmarshal([]byte(succeeds(t, "table", "list", "5", "--json")), &tables); err != nil || len(tables) != 1 || tables[0].Table != 5 || !slices.Contains(tables[0].Recipes, "memory-lstm/double") {
		t.Errorf("%+v, %v", tables, err)
	}
}

func TestTableErrors(t *testing.T) {
	data := stories(t)
	for want, args := range map[string][]string{
		"subcommand missing: one of list, run, paired, report":             {"table"},
		`"rum" is not known: did you mean "run"?`:                          {"table", "rum"},
		`did you mean "babi-1k-single"`:                                    {"table", "run", "1", "--rows", "babi-1k-singel"},
		"TABLE is missing":                                                 {"table", "run"},
		`column "task21" of table 1 is not known`:                          {"table", "run", "1", "--rows", "babi-1k-single", "--columns", "21"},
		`column task01 is not known in row babi-1k-joint, which has joint`: {"table", "run", "1", "--rows", "babi-1k-joint", "--columns", "1"},
		`--seeds: "0" is not a number of seeds (3), a range`:               {"table", "run", "1", "--rows", "babi-1k-single", "--seeds", "0"},
		"--jobs is 0": {"table", "run", "1", "--rows", "babi-1k-single", "--jobs", "0"},
		"lambada_test_plain_text.txt: no such file":                                      {"table", "run", "3"},
		"or its archive: name the data with --data: ut data babi":                        {"table", "run", "1", "--rows", "babi-1k-single"},
		"qa3_simulated.txt: no such file or directory: name the data with --simulated\n": {"table", "run", "1", "--rows", "babi-10k-simulated", "--data", data},
		"en/qa3_train.txt is missing: get the whole":                                     {"table", "run", "1", "--rows", "babi-1k-single", "--data", data, "--columns", "3"},
		"did you mean \"task.babi.set\"":                                                 {"train", "babi-10k-single/task01", "--set", "task.babi.sett=en"},
		"nowhere: no such file":                                                          {"train", "babi-10k-single/task01", "--set", "task.babi.path=nowhere"},
		"classifier.pool \"lst\" is not known: did y":                                    {"train", "babi-10k-single/task01", "--set", "model.classifier.pool=lst"},
		"model.classifier.untied_layers needs fixed halting":                             {"train", "babi-10k-single/task01", "--set", "model.untied_layers=true", "--set", `model.halting={"length": {}}`},
	} {
		r := ut(t, args...)
		if r.code == 0 || !strings.Contains(r.stderr, want) || strings.Count(r.stderr, "\n") > 2 {
			t.Errorf("%q: exit code %d, %q, want %q", args, r.code, r.stderr, want)
		}
	}
}
