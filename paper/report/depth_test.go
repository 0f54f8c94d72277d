package report

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// curve is the JSON of two runs: of fixed depth 4, and adaptive with at most 3 steps.
const curve = `[
{"run": "a", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.9, "steps": 4},
 {"rule": "fixed", "setting": 1, "quality": 0.1, "steps": 1, "exit": "1 fixed steps"},
 {"rule": "fixed", "setting": 3, "quality": 0.5, "steps": 3, "exit": "3 fixed steps"},
 {"rule": "fixed", "setting": 5, "quality": 0.95, "steps": 5, "exit": "5 fixed steps"},
 {"rule": "fixed", "setting": 8, "quality": 0.2, "steps": 8, "exit": "8 fixed steps"},
 {"rule": "confidence", "setting": 0.9, "quality": 0.8, "steps": 3.5, "exit": "confidence of at least 0.9", "extra_readouts": 2.5, "operations": 0.25},
 {"rule": "confidence", "setting": 0.5, "quality": 0.4, "steps": 2.5, "exit": "confidence of at least 0.5", "extra_readouts": 1.5, "operations": 0.25}]},
{"run": "b", "task": "t", "method": "m", "metric": "accuracy", "examples": 1200, "points": [
 {"rule": "trained", "quality": 0.7, "steps": 2.4},
 {"rule": "fixed", "setting": 2, "quality": 0.3, "steps": 2, "exit": "2 fixed steps"},
 {"rule": "limit", "setting": 2, "quality": 0.6, "steps": 1.9, "exit": "at most 2 steps"},
 {"rule": "limit", "setting": 1, "quality": 0.2, "steps": 1, "exit": "at most 1 steps"}]}]`

// depthPages renders the section of some files.
func depthPages(t *testing.T, content string) (section, details string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "depth"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "depth", "x.json"), []byte(content), 0o644); err != nil {
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
		"1 of 1 model of fixed depth answers better with any larger number of steps than in training", "At three quarters of the mean steps as trained, the best rule is fixed or limit for b; confidence for a.",
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

func TestReadDepthRefuses(t *testing.T) {
	for content, want := range map[string]string{"[{]": "x.json", `[{"run": "a", "points": []}]`: "a does not begin with the point as trained"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "depth"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "depth", "x.json"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadDepth(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", content, err, want)
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
