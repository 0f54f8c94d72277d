package report

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/sweep"
)

// curve is the JSON of two runs: of fixed depth 4, and adaptive with at most 3 steps.
const curve = `[
{"run": "a", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.9, "steps": 4},
 {"rule": "fixed", "setting": 1, "quality": 0.1, "steps": 1, "exit": "1 fixed step"},
 {"rule": "fixed", "setting": 3, "quality": 0.5, "steps": 3, "exit": "3 fixed steps"},
 {"rule": "fixed", "setting": 5, "quality": 0.95, "steps": 5, "exit": "5 fixed steps"},
 {"rule": "fixed", "setting": 8, "quality": 0.2, "steps": 8, "exit": "8 fixed steps"},
 {"rule": "confidence", "setting": 0.9, "quality": 0.8, "steps": 3.5, "exit": "confidence of at least 0.9", "extra_readouts": 2.5, "operations": 0.25},
 {"rule": "confidence", "setting": 0.5, "quality": 0.4, "steps": 2.5, "exit": "confidence of at least 0.5", "extra_readouts": 1.5, "operations": 0.25}]},
{"run": "b", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.7, "steps": 2.4},
 {"rule": "fixed", "setting": 2, "quality": 0.3, "steps": 2, "exit": "2 fixed steps"},
 {"rule": "limit", "setting": 2, "quality": 0.6, "steps": 1.9, "exit": "at most 2 steps"},
 {"rule": "limit", "setting": 1, "quality": 0.2, "steps": 1, "exit": "at most 1 step"}]}]`

// completed fills in the fields that runs and points have in files, where content leaves them out.
func completed(t *testing.T, content string) []byte {
	t.Helper()
	var runs []depthRun
	if err := json.Unmarshal([]byte(content), &runs); err != nil {
		t.Fatal(err)
	}
	for i := range runs {
		r := &runs[i]
		r.Version, r.Experiment, r.Checkpoint, r.Lengths = "0.2.0+72de2f9c7119", "demo", 100, "lengths as in training"
		for j := range r.Points {
			q := &r.Points[j]
			q.Metrics, q.Decoder, q.Seconds = []score.Metric{score.Figure(r.Metric, q.Quality)}, q.Steps, 0.5
		}
	}
	data, err := json.MarshalIndent(runs, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// depthPages renders the section of some files.
func depthPages(t *testing.T, content string) (section, details string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "results [1]") // no pattern
	if err := os.MkdirAll(filepath.Join(dir, "depth"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "depth", "x.json"), completed(t, content), 0o644); err != nil {
		t.Fatal(err)
	}
	files, err := ReadDepth(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{files: map[string][]byte{}, folder: "results"}
	p.depth(files)
	if p.files["depth-x.svg"] == nil {
		t.Error("no figure")
	}
	return p.text.String(), string(p.files["depth.md"])
}

// The sentences, the comparison and the points, worked out by hand: at 3 steps, three quarters of 4, confidence has 0.4 + (0.8 - 0.4) 0.5;
// at 1.8, the limit has 0.2 + (0.6 - 0.2) 0.8 / 0.9.
// Caught when planted: the point after for the point before; a gain of fewer steps.
func TestDepthSection(t *testing.T) {
	section, details := depthPages(t, curve)
	for _, want := range []string{
		"1 of 1 model of fixed depth answers better with any larger number of steps than in training", "Exit rules (docs/depth.md describes them) are compared at three quarters of the mean steps as trained, of encoder and decoder together, also without a test. The best rule is fixed or limit for b; confidence for a. Readouts after each step, which confidence, unchanged answers and divergence need, add 25.0 to 25 % of the operations of a pass.",
	} {
		if !strings.Contains(section, want) {
			t.Errorf("no %q in\n%s", want, section)
		}
	}
	for _, want := range []string{
		"- a, 4 steps: accuracy 0.9; 0.1 with 1, 0.5 with 3, 0.95 with 5 and 0.2 with 8.\n",
		"- b, adaptive: accuracy 0.7 with 2.40 steps on average; 0.2 in at most 1; 0.6 in at most 2; 0.3 if the state after 2 fixed steps is the answer, without the weighted mean.\n",
		"| a | accuracy | 0.9 | 4.00 | 3.00 | 0.5 | - | 0.6 | - | - |\n", "| b | accuracy | 0.7 | 2.40 | 1.80 | 0.5556 | - | - | - | - |\n", "a: t, 1,200 examples, m", "| as trained | 0.9 | 4.00 | - | - |", "| confidence of at least 0.9 | 0.8 | 3.50 | 2.50 | +25.0 % |", "![accuracy against depth: x](depth-x.svg)",
	} {
		if !strings.Contains(details, want) {
			t.Errorf("no %q in\n%s", want, details)
		}
	}
}

// Rules of models with an encoder and a decoder are compared at equal steps of both stacks, fixed steps of adaptive models count too, a rule is named
// only where it is clearly the best, and what readouts cost is said. By hand: at 3 steps, c has 0.9 with 3 fixed steps, which shorten both stacks;
// confidence has 0.8 at 2.5 steps of the decoder and 4 of the encoder, 3.25 in all, and 0.4 at 1.5, 2.75 in all, so 0.6. At 1.5 steps, d has
// .75 fixed, halfway from .7 to .8, and 0.7 with limits.
// Caught when planted: steps of the decoder alone; limits alone; the best rule of equals; no cost; fixed steps named for a run without other points.
func TestDepthOfBothStacks(t *testing.T) {
	const stacks = `[
{"run": "c", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.95, "steps": 4, "encoder_steps": 4},
 {"rule": "fixed", "setting": 3, "quality": 0.9, "steps": 3, "encoder_steps": 3, "exit": "3 fixed steps"},
 {"rule": "confidence", "setting": 0.9, "quality": 0.8, "steps": 2.5, "encoder_steps": 4, "exit": "confidence of at least 0.9", "extra_readouts": 2.5, "operations": 1.25},
 {"rule": "confidence", "setting": 0.5, "quality": 0.4, "steps": 1.5, "encoder_steps": 4, "exit": "confidence of at least 0.5", "extra_readouts": 1.5, "operations": 0.5}]},
{"run": "d", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.8, "steps": 2},
 {"rule": "fixed", "setting": 1, "quality": 0.7, "steps": 1, "exit": "1 fixed step"}, {"rule": "fixed", "setting": 2, "quality": 0.8, "steps": 2, "exit": "2 fixed steps"},
 {"rule": "limit", "setting": 2, "quality": 0.7, "steps": 1.5, "exit": "at most 2 steps"},
 {"rule": "divergence", "setting": 1, "quality": 0.749, "steps": 1.5, "exit": "divergence below 1", "extra_readouts": 1, "operations": 0.25}]},
{"run": "e", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [{"rule": "trained", "quality": 0.8, "steps": 4}]}]`
	section, details := depthPages(t, stacks)
	contains(t, section, "is fixed or limit for c. No rule is better than all others by 1 % for d and e. Readouts after each step, which confidence, unchanged answers and divergence need, add 25.0 to 125 % of the operations of a pass.")
	contains(t, details, "| c | accuracy | 0.95 | 4.00 | 3.00 | 0.9 | - | 0.6 | - | - |\n", "| d | accuracy | 0.8 | 2.00 | 1.50 | 0.75 | - | - | - | 0.749 |\n",
		"| exit | accuracy | encoder steps | decoder steps | extra readouts |", "| confidence of at least 0.9 | 0.8 | 4.00 | 2.50 | 2.50 | +125.0 % |", "m; configuration demo, 100 updates, measured by 0.2.0+72de2f9c7119")
}

// Folders that cannot be read are an error, and not results without depth curves, paired tests or searches; missing ones are none.
// Caught when planted: every error of reading the folder ignored.
func TestUnreadableFolders(t *testing.T) {
	missing, file := t.TempDir(), t.TempDir()
	for _, name := range []string{sweep.DepthFolder, sweep.PairedFolder, sweep.SearchesFolder} {
		if err := os.WriteFile(filepath.Join(file, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, read := range map[string]func(root string) (int, error){
		sweep.DepthFolder:    func(root string) (int, error) { list, err := ReadDepth(root); return len(list), err },
		sweep.PairedFolder:   func(root string) (int, error) { list, err := ReadPaired(root); return len(list), err },
		sweep.SearchesFolder: func(root string) (int, error) { list, err := ReadSearches(root); return len(list), err },
	} {
		if n, err := read(missing); n != 0 || err != nil {
			t.Errorf("missing %s: %d, %v", name, n, err)
		}
		if _, err := read(file); err == nil || !strings.Contains(err.Error(), filepath.Join(file, name)) {
			t.Errorf("%s is a file: %v", name, err)
		}
	}
}

// What cannot be read is not called damaged: it must be restored. Caught when planted, in each folder: what to do about damage, nothing to do.
func TestUnreadableFile(t *testing.T) {
	for folder, read := range map[string]func(string) error{
		sweep.DepthFolder:    func(root string) error { _, err := ReadDepth(root); return err },
		sweep.PairedFolder:   func(root string) error { _, err := ReadPaired(root); return err },
		sweep.HaltingFolder:  func(root string) error { _, err := ReadHalting(root); return err },
		sweep.SearchesFolder: func(root string) error { _, err := ReadSearches(root); return err },
		"algorithmic":        func(root string) error { _, err := ReadInput(root); return err },
	} {
		root := t.TempDir()
		path := filepath.Join(root, folder, "x.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink("nowhere", path)); err != nil { // even root cannot read it
			t.Skip(err)
		}
		if err := read(root); err == nil || !strings.HasPrefix(err.Error(), "open "+path+": ") || !strings.HasSuffix(err.Error(), ": restore the file, or make it readable") {
			t.Errorf("%s: %v", folder, err)
		}
	}
}

// A file has the schema of ut depth --json, all of it and nothing else, and values that agree with one another.
// Caught when planted: json.Unmarshal in place of strictjson.Decode; Complete left out; a quality that is not looked up.
func TestReadDepthRefuses(t *testing.T) {
	good := string(completed(t, curve))
	second := good[strings.Index(good, `"run": "b"`):]
	read := func(content string) error {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "depth"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "depth", "x.json"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadDepth(dir)
		return err
	}
	if err := read(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, says string }{
		{good, "[{", "ends before the value does"}, {good, "[]", "it has no runs"}, {good, good + "1", "data follows"},
		{`"run": "a",`, `"run": "a", "seed": 3,`, `unknown key "seed"`}, {`"exit": "at most 2 steps"`, `"exit": "at most 2 steps", "correct": 7`, `unknown key "correct"`},
		{`"checkpoint": 100,`, ``, "checkpoint is missing"}, {`"seconds": 0.5`, `"seconds": null`, "seconds"}, {`"quality": 0.7,`, ``, "quality is missing"},
		{`"run": "b"`, `"run": "a"`, `run is "a": every run has a name`}, {second, strings.ReplaceAll(second, "accuracy", "BLEU"), `b: metric is "BLEU", that of a is "accuracy"`},
		{`"version": "0.2.0+72de2f9c7119"`, `"version": ""`, "a: version, experiment"}, {`"examples": 1200`, `"examples": 0`, "a: checkpoint is 100 and examples 0"},
		{`"rule": "trained"`, `"rule": "fixed"`, "a does not begin with the point as trained"}, {`"rule": "confidence"`, `"rule": "luck"`, `a: points[5]: rule is "luck"`},
		{`"setting": 3,`, `"setting": -3,`, "a: points[2]: setting is -3"}, {`"setting": 3,`, `"setting": 1,`, "a: points[2]: fixed 1 is there twice"},
		{`"setting": 3,`, `"setting": 0,`, "a: points[2]: rule is fixed, setting 0"}, {`"quality": 0.5,`, `"quality": 0.9,`, "a: points[2]: quality is 0.9, which is not the accuracy of metrics"},
		{`"steps": 3.5,`, `"steps": 3,`, "a: points[5]: steps is 3: it must be encoder_steps, 0, or decoder_steps, 3.5"}, {`"seconds": 0.5`, `"seconds": -1`, "a: points[0]: seconds is -1"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%q is not in\n%s", c.old, good)
		}
		if err := read(bad); err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasSuffix(err.Error(), ": remove the file, or measure these models again") || !strings.Contains(err.Error(), "x.json") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.says)
		}
	}
}

func TestBetween(t *testing.T) {
	own := depthPoint{Quality: 1, Steps: 4}
	points := []depthPoint{{Quality: 0.2, Steps: 1}, {Quality: 0.6, Steps: 3}}
	for steps, want := range map[float64]float64{1: 0.2, 2: 0.4, 3: 0.6, 3.5: 0.8, 4: 1} {
		if got, ok := between(points, own, steps); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("at %v: %v, %v, want %v", steps, got, ok, want)
		}
	}
	if _, ok := between(points, own, 0.5); ok {
		t.Error("a rule reaches fewer steps than its first point")
	}
}
