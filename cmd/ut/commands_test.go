package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/runlog"
	"universal-transformer/task/table"
	"universal-transformer/viewer"
)

// Every command has help with examples.
func TestHelp(t *testing.T) {
	commands := newRoot().Commands()
	for _, c := range newRoot().Commands() {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range commands {
		if c.Hidden || c.Name() == "help" || strings.HasPrefix(c.CommandPath(), "ut completion") {
			continue // a name of an earlier version, or a command of cobra
		}
		help := succeeds(t, append(strings.Fields(c.CommandPath())[1:], "--help")...)
		for _, want := range []string{c.Long, "Usage:", "Examples:", "  " + c.CommandPath()} {
			if !strings.Contains(help, want) {
				t.Errorf("%s --help does not say %q", c.CommandPath(), want)
			}
		}
		for line := range strings.Lines(c.Long) {
			if len(line) > 101 {
				t.Errorf("%s --help has a line of %d characters: %s", c.CommandPath(), len(line), line)
			}
		}
	}
	if bare := succeeds(t); !strings.Contains(bare, "Start:") {
		t.Errorf("ut alone prints no commands: %s", bare)
	}
}

// Every recipe is listed under its group, with its summary and published figures. A family with many tasks has one line.
// Caught when planted: families that are always summed up; a group without its heading.
func TestList(t *testing.T) {
	text := succeeds(t, "list")
	for _, want := range []string{"\n  babi-1k-single/task01 .. task20 ", "start\n  demo ", "\ntable 4: copy, reverse and addition"} {
		if !strings.Contains("\n"+text, want) {
			t.Errorf("ut list lacks %q:\n%s", want, text)
		}
	}
	for _, r := range recipes.All() {
		if strings.HasSuffix(r.Family(), "-single") || strings.Contains(r.Family(), "-single-") {
			continue
		}
		at := strings.Index(text, "  "+r.Name+" ")
		if line, _, _ := strings.Cut(text[max(at, 0):], "\n"); at < 0 || !strings.Contains(line, r.Summary) || !strings.HasSuffix(line, r.Expect) {
			t.Errorf("the line of %s is %q", r.Name, line)
		}
	}
	var listed []struct{ Name, Group, Summary string }
	if err := json.Unmarshal([]byte(succeeds(t, "list", "memory-lstm-longer", "--json")), &listed); err != nil || len(listed) != 3 || listed[1].Name != "memory-lstm-longer/double" || listed[1].Group != "table 5" {
		t.Errorf("selected %+v, %v", listed, err)
	}
	if r := ut(t, "list", "nothing-like-it"); r.code != 2 || !strings.Contains(r.stderr, "nothing-like-it") {
		t.Errorf("a text that no recipe has: %d, %s", r.code, r.stderr)
	}
}

// Notes on a model do not say that it was skipped. Caught when planted: notes that begin with "skipped".
func TestNotesOfAModel(t *testing.T) {
	run := copied(t)
	replace(t, filepath.Join(run, "config.json"), `"log_every": 5`, `"log_every": 6`)
	if r := ut(t, "eval", run, "--count", "2"); r.code != 0 || r.stderr != "ut: note: "+run+": checkpoint of update 20 was trained under another config.json, which has been edited since: restore it; what may change can be set when the run is resumed\n" {
		t.Errorf("%+v", r)
	}
}

// train --config reads the output of show.
func TestShow(t *testing.T) {
	shownFamily := map[string]bool{}
	for _, e := range recipes.All() {
		if shownFamily[e.Family()] {
			continue
		}
		shownFamily[e.Family()] = true
		if r, err := experiment.Decode([]byte(succeeds(t, "show", e.Name))); err != nil || !reflect.DeepEqual(r, e.Run()) {
			t.Errorf("ut show %s is not the recipe: %v", e.Name, err)
		}
	}
	shown := succeeds(t, "show", "own-pairs", "--set", "model.width=6", "--set", "model.heads=3", "--set", "task.table.path=pairs.tsv")
	r, err := experiment.Parse([]byte(shown))
	if err != nil {
		t.Fatal(err)
	}
	model, of := r.Model.Value.(experiment.EncoderDecoder), r.Task.Value.(table.Table)
	if model.Width != 6 || model.Heads != 3 || of.Path != "pairs.tsv" {
		t.Errorf("--set gave %+v, %+v", model, of)
	}
}

func TestVersion(t *testing.T) {
	got := succeeds(t, "version")
	for _, want := range []string{"ut " + runlog.Version(), "go1.", "backends: cpu, go", "kernels of cpu: "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
}

// plan prints the cost of training and writes nothing.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command(program, append([]string{"plan", "demo", "--flops", "1e6", "--seconds", "0.01"}, tiny()...)...)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"experiment  demo: Universal Transformer, 1 steps, width 8, 2 heads\n", "1 batch an update, at most 20 updates\n", "parameters  1,", "memory      ", "operations  ",
		"here        ", "measured with ", "there       ", " at 1e+06 operations a second\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("does not say %q:\n%s", want, out)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v behind (%v)", left, err)
	}
}

// Training prints the run directory and a summary, depends only on its seed, and writes to runs/NAME by default.
func TestTrain(t *testing.T) {
	r := ut(t, append([]string{"train", "demo", "--seed", "7"}, tiny()...)...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, filepath.Join("runs", "demo")+": 20 updates ") {
		t.Fatalf("exit code %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	for _, want := range []string{"parameters", "teacher forcing: token accuracy 0.", "next: "} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("does not say %q: %s", want, r.stdout)
		}
	}
	for line := range strings.Lines(r.stderr) {
		if !strings.HasPrefix(line, "validation at update ") && !strings.HasPrefix(line, "update ") && !strings.HasPrefix(line, "graphs: ") &&
			line != "ut: note: training.schedule warms up until update 200, but training.steps is 20: the learning rate does not reach its peak\n" {
			t.Errorf("says %q on the standard error", line)
		}
	}
	dir := t.TempDir()
	for i, args := range [][]string{{"--seed", "7"}, {"--seed", "7"}, {"--seed", "8"}} {
		out := filepath.Join(dir, string(rune('a'+i)))
		succeeds(t, append(append([]string{"train", "demo", "--out", out}, args...), tiny()...)...)
	}
	metrics := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name, "metrics.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if metrics("a") != metrics("b") || metrics("a") == metrics("c") {
		t.Error("the same seed gives other metrics, or another seed the same")
	}
}

// A finished run is trained further.
func TestTrainFurther(t *testing.T) {
	dir := copied(t)
	if said := succeeds(t, "train", "--resume", dir, "--set", "training.steps=30", "--set", "training.keep=3"); !strings.Contains(said, "30 updates (all of the configuration)") {
		t.Errorf("it says %q", said)
	}
	if said := succeeds(t, "train", "--resume", dir); !strings.Contains(said, "30 updates (all of the configuration)") {
		t.Errorf("again it says %q", said)
	}
}

func TestEval(t *testing.T) {
	for want, args := range map[string][]string{
		"reverse, lengths as in training, 5 examples, greedy decoding":                 {},
		"attention on its token, over 4 right answers: mean 0.":                        {"--diagnose"},
		"reverse, length 7, 5 examples, teacher forcing":                               {"--length", "7", "--teacher-forced"},
		"reverse, length 7, half of them hard cases, 5 examples, greedy decoding":      {"--length", "7", "--hard"},
		"reverse, lengths 1..3, 5 examples, beam search of width 2, alpha 0.6":         {"--mix", "3", "--beam", "2"},
		"reverse, lengths as in training, 5 examples, beam search of width 3, alpha 1": {"--beam", "3", "--alpha", "1"},
		"reverse, length 6, 5 examples, greedy decoding":                               {"--beam", "1", "--length", "6"},
		" of 5 answers did not end and were cut off":                                   {"--max-length", "1", "--length", "7"},
	} {
		got := succeeds(t, append([]string{"eval", trained(t), "--count", "5"}, args...)...)
		for _, want := range []string{want, "checkpoint of update ", "token accuracy", "sequence accuracy", " of 5)", "95 % interval"} {
			if !strings.Contains(got, want) {
				t.Errorf("does not say %q:\n%s", want, got)
			}
		}
	}
}

func TestTrace(t *testing.T) {
	dir := copied(t)
	page := strings.TrimSpace(succeeds(t, "trace", dir, "--input", "123"))
	if want := filepath.Join(dir, "traces", "123.html"); page != want {
		t.Errorf("the page is %s, want %s", page, want)
	}
	if content, err := os.ReadFile(page); err != nil || !strings.Contains(string(content), "<html") {
		t.Errorf("no page: %v", err)
	}
	out := filepath.Join(t.TempDir(), "trace.json")
	if got := strings.TrimSpace(succeeds(t, "trace", dir, "--input", "123", "--json", "--out", out)); got != out {
		t.Errorf("the file is %s, want %s", got, out)
	}
	content, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if printed := succeeds(t, "trace", dir, "--input", "123", "--json", "--out", "-"); printed != string(content) {
		t.Error("--out - prints another trace than --out FILE writes")
	}
	trace, err := viewer.ReadJSON(strings.NewReader(string(content)))
	if err != nil || strings.Join(trace.Source, "") != "123" || trace.Experiment != "demo" {
		t.Errorf("the JSON is %+v, %v", trace, err)
	}
	if text := succeeds(t, "trace", dir, "--input", "123", "--text"); !strings.Contains(text, "Encoder") || strings.Contains(text, "\x1b") {
		t.Errorf("the text is %q", text)
	}
}

func TestTraceName(t *testing.T) {
	if got := traceName("12-ab_C"); got != "12-ab_C" {
		t.Errorf("%q", got)
	}
	safe := regexp.MustCompile(`^[0-9A-Za-z_-]{1,49}$`)
	seen := map[string]bool{}
	for _, input := range []string{"", "a b", "a/b", "../../x", "ö", ".", strings.Repeat("1", 100), strings.Repeat("1", 101)} {
		name := traceName(input)
		if !safe.MatchString(name) || seen[name] {
			t.Errorf("traceName(%q) = %q: no file name, or one that is taken", input, name)
		}
		seen[name] = true
	}
}

func TestExport(t *testing.T) {
	dir := copied(t)
	path := strings.TrimSpace(succeeds(t, "export", dir))
	if want := filepath.Join(dir, "export"); path != want {
		t.Errorf("exported to %s, want %s", path, want)
	}
	file, err := runlog.ReadExport(path, nil)
	if err != nil || len(file.Tensors) == 0 || file.Metadata["step"] == "" {
		t.Errorf("the export is %+v, %v", file, err)
	}
	for _, tensor := range file.Tensors {
		if strings.Contains(tensor.Name, "Adam") || strings.Contains(tensor.Name, "rng") {
			t.Errorf("%s is exported", tensor.Name)
		}
	}
}

// The error for a folder of runs says how to evaluate them, whatever its name is, with a command that a shell can read.
// Caught when planted: brackets taken for a pattern, a path without quotes.
func TestEvalOfAFolderOfRuns(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs [1]")
	if err := os.CopyFS(filepath.Join(folder, "a"), os.DirFS(trained(t))); err != nil {
		t.Fatal(err)
	}
	checkFailure(t, ut(t, "eval", folder), 1, "runs in it are "+filepath.Join(folder, "a")+"; to evaluate the runs in it: ut eval '"+folder+"'/*")
}
