package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/report"
)

// result is one run with so many wrong answers of 1000.
func result(experiment string, task int, seed uint64, validation, test int) report.Result {
	return report.Result{
		Version: "0.1.0", Experiment: experiment, Model: "a model", Task: task, Seed: seed, Data: "d", TrainedOn: 9000, Seconds: 120, Questions: 500, Threads: 2,
		Validation: report.Errors{Questions: 1000, Wrong: validation}, Tests: []report.Test{{Task: task, Errors: report.Errors{Questions: 1000, Wrong: test}}},
		Config: json.RawMessage("{}"),
	}
}

func page(t *testing.T, root string, results []report.Result) string {
	t.Helper()
	var b strings.Builder
	if err := report.Write(&b, results, root, filepath.Dir(root)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func says(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(page, want+"\n") {
			t.Errorf("no line ends in %q", want)
		}
	}
}

// The best seed is that of the lowest validation error, whatever its test says; mean and deviation are over all seeds. The numbers
// are by hand: 2.0, 1.0 and 9.0 % have mean 4 and deviation sqrt((4+9+25)/2) = 4.36.
// Caught when planted: the best by test error; the deviation of a population; a failed task not counted.
func TestBestByValidation(t *testing.T) {
	results := []report.Result{
		result("babi-10k-single-adaptive", 2, 1, 7, 20), result("babi-10k-single-adaptive", 2, 2, 9, 10), result("babi-10k-single-adaptive", 2, 3, 50, 90),
		result("babi-10k-single-adaptive", 19, 1, 80, 61),
	}
	results[3].StandIn = "qa19_partial.txt"
	results[3].Data = "a stand-in"
	got := page(t, t.TempDir(), results)
	says(t, got,
		"| 2 | two supporting facts | 0.0 | 2.0 | 0.2 ± 0.4 | 4.0 ± 4.4 | 3 | 2.0 | 500 |",
		"| 19 | path finding, trained on the stand-in qa19_partial.txt | 2.8 | 6.1 failed | 3.4 ± 4.0 | 6.1 | 1 | 2.0 | 500 |",
		"| 1 | single supporting fact | 0.0 | missing | 0.0 ± 0.0 | missing | 0 |  |  |",
		"Average 4.05 over 2 tasks, 1 failed; the paper: 0.21, 0 failed.",
		"|  | ours | 4.05 (1/2), 18 tasks missing, with a stand-in | missing | missing | missing |",
		"| UT with dynamic halting | paper | 0.21 (0/20) | 0.29 (0/20) | 4.55 (3/20) | 7.78 (5/20) |",
		"| Transformer | paper | 15.20 (10/20) | 22.10 (12/20) | 21.80 (5/20) | 26.80 (14/20) |",
		"Missing: no run of tasks 1, 2 or 3 is done.")
}

// A run on all tasks fills all rows, and its figures are shown once.
func TestJoint(t *testing.T) {
	r := result("babi-1k-joint", 0, 1, 7, 20)
	r.Tests = nil
	for task := 1; task <= 20; task++ {
		r.Tests = append(r.Tests, report.Test{Task: task, Errors: report.Errors{Questions: 1000, Wrong: 10 * task}})
	}
	root := t.TempDir()
	r.Experiment = "babi-1k-joint-adaptive"
	for _, figure := range []int{3, 5, 6, 7, 8} {
		path := filepath.Join(root, report.StoryFile(report.File("", r.Experiment, 0, 1), figure))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	got := page(t, root, []report.Result{r})
	if n := strings.Count(got, "![Figure "); n != 5 {
		t.Errorf("%d figures are shown, want 5", n)
	}
	r.Experiment = "babi-1k-joint"
	got = page(t, t.TempDir(), []report.Result{r})
	says(t, got, "|  | ours | missing | missing | missing | 10.50 (15/20) |", "| 20 | agents' motivations | - | 20.0 failed | - | 20.0 | 1 | 2.0 | 500 |")
}

// What the paper prints in two places agrees: the averages of appendix C's tables are those of table 1.
func TestPaperAgreesWithItself(t *testing.T) {
	for name, want := range map[string][2]float64{
		"babi-10k-single-adaptive": {0.21, 0.73}, "babi-10k-joint-adaptive": {0.29, 1.12}, "babi-1k-single-adaptive": {4.55, 6.34}, "babi-1k-joint-adaptive": {7.78, 11.21},
	} {
		best, mean := report.Averages(name)
		if math.Abs(best-want[0]) > 0.0051 || math.Abs(mean-want[1]) > 0.11 {
			t.Errorf("%s: averages %.3f and %.3f, the paper prints %v", name, best, mean, want)
		}
	}
}

// Moments by hand: steps 1, 1, 3 have mean 5/3 and deviation sqrt(8/9).
func TestPonder(t *testing.T) {
	var p report.Ponder
	p.Add([]int{1, 3})
	p.Add([]int{1})
	if n, mean, deviation := p.Moments(); n != 3 || p.Stories != 2 || math.Abs(mean-5./3) > 1e-12 || math.Abs(deviation-math.Sqrt(8./9)) > 1e-12 {
		t.Errorf("%+v: %d, %v, %v", p, n, mean, deviation)
	}
	if sum := p.Plus(report.Ponder{Stories: 1, Positions: []int{0, 5, 0, 1}}); !reflect.DeepEqual(sum.Positions, []int{2, 5, 1, 1}) || sum.Stories != 3 {
		t.Errorf("%+v", sum)
	}
}

// Ponder times stand under the number of supporting facts, of tasks 1 to 3 and of all; the histogram is well-formed and shown; so
// are figures of stories, where they are.
func TestPonderTimesAndFigures(t *testing.T) {
	root := filepath.Join(t.TempDir(), "results")
	one, five := result("babi-10k-single-adaptive", 1, 1, 0, 0), result("babi-10k-single-adaptive", 5, 1, 0, 0)
	one.Tests[0].Looks = []report.Look{{Stories: 2, Share: 0.25, Uniform: 0.2}, {Stories: 1, Share: 0.875, Uniform: 0.125}}
	one.Tests[0].Ponder = []report.Ponder{{Supports: 1, Stories: 1, Positions: []int{1, 1}}}
	five.Tests[0].Ponder = []report.Ponder{{Supports: 1, Stories: 2, Positions: []int{0, 0, 0, 2}}, {Supports: 3, Stories: 2, Positions: []int{4}}}
	results := []report.Result{one, five}
	for _, r := range results {
		if _, err := report.Save(root, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := report.Histograms(results, root); err != nil {
		t.Fatal(err)
	}
	svg, err := os.ReadFile(filepath.Join(root, "babi-10k-single-adaptive", report.HistogramFile))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, string(svg))
	if !strings.Contains(string(svg), "task 5: 2.0 ± 1.4") {
		t.Error("the histogram of task 5 is not there")
	}
	if err := os.WriteFile(filepath.Join(root, report.StoryFile("babi-10k-single-adaptive/task01-seed1.json", 5)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	says(t, page(t, root, results),
		"| paper | tasks | 2.3 ± 0.8 | 3.1 ± 1.1 | 3.8 ± 2.2 |",
		"| babi-10k-single-adaptive | 1 | 25 [20], 88 [12] |",
		"| babi-10k-single-adaptive | tasks 1, 2, 3 | 1.5 ± 0.5 | missing | missing |",
		"|  | questions of all tasks | 2.8 ± 1.3 | missing | 1.0 ± 0.0 |",
		"![Ponder times of babi-10k-single-adaptive, task by task](results/babi-10k-single-adaptive/ponder.svg)",
		"![Figure 5](results/babi-10k-single-adaptive/task01-seed1-figure5.svg)")
}

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// What is saved is read again; what was tampered with is one line that names the file.
func TestReadAll(t *testing.T) {
	root := t.TempDir()
	if none, err := report.ReadAll(filepath.Join(root, "gone")); err != nil || none != nil {
		t.Errorf("%v, %v", none, err)
	}
	b, a := result("babi-1k-joint", 2, 2, 1, 2), result("babi-1k-joint", 2, 1, 1, 2)
	for _, r := range []report.Result{b, a} {
		if _, err := report.Save(root, r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := report.ReadAll(root)
	if err != nil || len(got) != 2 || got[0].Seed != 1 || got[1].Seed != 2 || !reflect.DeepEqual(got[0].Tests, a.Tests) {
		t.Errorf("%+v, %v", got, err)
	}
	path := report.File(root, "babi-1k-joint", 2, 1)
	good, _ := os.ReadFile(path)
	for want, bad := range map[string]string{
		"no value": "", `did you mean "seconds"`: strings.Replace(string(good), `"seconds"`, `"secnds"`, 1),
		"2000 wrong answers of 1000": strings.Replace(string(good), `"wrong": 2`, `"wrong": 2000`, 1),
		"it was moved":               strings.Replace(string(good), `"seed": 1`, `"seed": 5`, 1),
		"no test":                    strings.Replace(string(good), string(good[strings.Index(string(good), `"tests"`):strings.Index(string(good), `"config"`)]), "\"tests\": [],\n  ", 1),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := report.ReadAll(root); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := report.Read(filepath.Join(root, "gone.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// The page says how models were trained, and of which tasks where not all are the same.
func TestHowModelsWereTrained(t *testing.T) {
	results := []report.Result{
		result("babi-10k-single", 1, 1, 0, 0), result("babi-10k-single", 2, 1, 0, 0), result("babi-10k-single", 2, 2, 0, 0),
		result("babi-1k-single", 1, 1, 0, 0),
	}
	decayed := json.RawMessage(`{"training": {"steps": 40000, "weight_decay": 0.1}}`)
	results[1].Config, results[2].Config = decayed, decayed
	results[3].Config = json.RawMessage(`{"training": {"steps": 5000}}`)
	says(t, page(t, t.TempDir(), results),
		"a model, 2 threads, version 0.1.0 (task 1); a model, at most 40000 updates, weight decay 0.1, 2 threads, version 0.1.0 (task 2).",
		"a model, at most 5000 updates, 2 threads, version 0.1.0.")
}
