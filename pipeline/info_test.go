package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training/schedule"
)

// A run is finished, interrupted, running or damaged; the figures are those of the checkpoint that loads.
// Caught when planted: a stop that counts after the steps were raised, a damaged newest checkpoint beside an intact best one, metrics of
// another step, updates without a checkpoint that finish a run.
func TestInfo(t *testing.T) {
	dir, _ := briefly(t)
	backend := enginetest.Backend(t)
	read := func(dir string) pipeline.Info {
		t.Helper()
		i, err := pipeline.ReadInfo(dir)
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	m, err := pipeline.Load(dir, backend)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	i := read(dir)
	if i.Status != pipeline.Finished || i.Step != 6 || i.Steps != 6 || i.Best == nil || i.Best.Step != m.Step || i.Parameters != m.Parameters() || i.Parameters == 0 || i.Problem != "" || !i.Data[0].Found {
		t.Errorf("%+v", i)
	}
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := log.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	best := slices.IndexFunc(rows, func(r runlog.Row) bool { return r.Step() == m.Step && r["split"] == "validation" })
	if want, _ := rows[best].Number("cross_entropy"); !slices.Contains(i.Best.Metrics, pipeline.Figure{Name: "cross_entropy", Value: want}) || want == 0 {
		t.Errorf("cross entropy %v, want %v", i.Best.Metrics, want)
	}
	if got := read(dir).Status; got != pipeline.Running {
		t.Errorf("while it is written, the status is %s", got)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	checkpoints, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name, content string) func(string) error {
		return func(dir string) error { return os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600) }
	}
	loads := map[string]bool{"newest checkpoint cut": true, "newest checkpoint cut, an earlier one is the best": true, "best checkpoint cut": true, "metrics": true, "mark": true} // another checkpoint is used
	for name, c := range map[string]struct {
		change func(dir string) error
		status string
		says   string
	}{
		"more steps": {func(dir string) error {
			return edit(filepath.Join(dir, "config.json"), `"steps": 6`, `"steps": 60`)
		}, pipeline.Interrupted, ""},
		"the last checkpoint not saved": {func(dir string) error {
			markBest(t, dir, 4)
			return os.Remove(filepath.Join(dir, "checkpoints", "step-000000006.safetensors"))
		}, pipeline.Interrupted, ""},
		"newest checkpoint cut": {func(dir string) error {
			return os.Truncate(filepath.Join(dir, "checkpoints", filepath.Base(checkpoints[len(checkpoints)-1])), 100)
		}, pipeline.Damaged, "step-000000006"},
		"newest checkpoint cut, an earlier one is the best": {func(dir string) error {
			markBest(t, dir, 4)
			return os.Truncate(filepath.Join(dir, "checkpoints", filepath.Base(checkpoints[len(checkpoints)-1])), 100)
		}, pipeline.Damaged, "step-000000006"},
		"best checkpoint cut": {func(dir string) error {
			markBest(t, dir, 4)
			return os.Truncate(filepath.Join(dir, "checkpoints", "step-000000004.safetensors"), 100)
		}, pipeline.Damaged, "step-000000004"},
		"all checkpoints cut, none marked": {func(dir string) error {
			for _, path := range checkpoints {
				if err := os.Truncate(filepath.Join(dir, "checkpoints", filepath.Base(path)), 100); err != nil {
					return err
				}
			}
			return os.Remove(filepath.Join(dir, "best.json"))
		}, pipeline.Damaged, "step-000000006"},
		"no vocabulary": {func(dir string) error { return os.Remove(filepath.Join(dir, "vocabulary.json")) }, pipeline.Damaged, "vocabulary.json: no such file or directory: restore the file"},
		"a token twice": {put("vocabulary.json", `{"target": {"tokens": ["a", "a"]}}`), pipeline.Damaged, "is already token 0: restore the file"},
		"metrics":       {func(dir string) error { return edit(filepath.Join(dir, "metrics.jsonl"), `"step":4`, `"step":3`) }, pipeline.Damaged, "metrics.jsonl:"},
		"mark":          {func(dir string) error { return edit(filepath.Join(dir, "best.json"), `"step"`, `"stop"`) }, pipeline.Damaged, "best.json"},
		"no tokens":     {put("vocabulary.json", "{}"), pipeline.Damaged, `vocabulary.json: key "target" is missing: restore the file`},
		"one side":      {put("vocabulary.json", `{"target": {"tokens": ["a"]}}`), pipeline.Damaged, `vocabulary.json: key "source" does not fit the model, Universal Transformer`},
		"no name":       {put("config.json", "{}"), pipeline.Damaged, "config.json: name is empty"},
		"no JSON":       {put("config.json", "{"), pipeline.Damaged, "config.json: JSON: "},
		"configuration": {func(dir string) error { return edit(filepath.Join(dir, "config.json"), `"task"`, `"tusk"`) }, pipeline.Damaged, "config.json"},
	} {
		to := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		if err := c.change(to); err != nil {
			t.Fatal(err)
		}
		if c.status == pipeline.Damaged && !loads[name] {
			if _, err := pipeline.Load(to, backend); !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: Load returns %v, want %q", name, err, c.says)
			}
		}
		if i := read(to); i.Status != c.status || !strings.Contains(i.Problem, c.says) || c.says == "" && i.Problem != "" || strings.Contains(i.Problem, "\n") {
			t.Errorf("%s: %+v", name, i)
		}
	}
	// Caught when planted: the remedy for the configuration only; errors that are not ErrDamaged.
	for _, file := range []string{"vocabulary.json", "paths.json"} {
		for content, want := range map[string]string{
			"": "there is no value: restore the file", `{"relative_to`: "ends before the value does: restore the file", "{]": ": restore the file", "\"\xff\"": "not valid UTF-8: restore the file",
		} {
			to := filepath.Join(t.TempDir(), "run")
			if err := errors.Join(os.CopyFS(to, os.DirFS(dir)), put(file, content)(to)); err != nil {
				t.Fatal(err)
			}
			if _, err := pipeline.Load(to, backend); !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), filepath.Join(to, file)+": ") || !strings.HasSuffix(err.Error(), want) {
				t.Errorf("%s with %q: %v, want %q", file, content, err, want)
			}
		}
	}
	for content, want := range map[string]string{"": ": restore the file", "{]": ": restore the file", "\"\xff\"": ": restore the file", `{"nome": "x"}`: `did you mean "name"?: restore the file`,
		`{"version": "0.9.0", "nome": "x"}`: `did you mean "name"?: the file is written by another version, 0.9.0, and this is ` + runlog.Version()} {
		to := filepath.Join(t.TempDir(), "run")
		if err := errors.Join(os.CopyFS(to, os.DirFS(dir)), put("config.json", content)(to)); err != nil {
			t.Fatal(err)
		}
		if _, err := pipeline.ReadRun(to); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
		if i, err := pipeline.ReadInfo(to); err != nil || !strings.Contains(i.Problem, want) {
			t.Errorf("%q: %+v, %v, want %q", content, i, err, want)
		}
	}
	if _, err := pipeline.ReadInfo(t.TempDir()); err == nil {
		t.Error("an empty folder is described")
	}
}

// A stop that was reached ends a run until its configuration changes.
func TestInfoOfStoppedRun(t *testing.T) {
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	r.Training.Schedule.Value, r.Training.Stop = schedule.Constant{LearningRate: 1e-30}, schedule.Stop{Patience: 1}
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	i, err := pipeline.ReadInfo(dir)
	if err != nil || i.Status != pipeline.Finished || i.Stopped != "patience" || i.Step != 4 || i.Steps != 6 || i.Newest.Step != 4 || i.Best.Step != 2 || !slices.Equal(i.Checkpoints, []int64{2, 4}) {
		t.Errorf("%+v, %v", i, err)
	}
	if _, ok := i.Newest.Figure("learning_rate"); ok { // that of training rows
		t.Errorf("the newest validation is %+v", i.Newest)
	}
	if i.Seconds <= 0 || i.CPUSeconds <= 0 || i.Backend == "" || i.Experiment != "copier" || i.Task != "table" || !strings.Contains(i.Model, "8") {
		t.Errorf("%+v", i)
	}
	if err := edit(filepath.Join(dir, "config.json"), `"patience": 1`, `"patience": 2`); err != nil {
		t.Fatal(err)
	}
	if i, err := pipeline.ReadInfo(dir); err != nil || i.Status != pipeline.Interrupted || i.Stopped != "" {
		t.Errorf("with more patience: %+v, %v", i, err)
	}
}

// edit replaces a text in a file, which must have it.
func edit(path, old, with string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(data), old) {
		return os.ErrNotExist
	}
	return os.WriteFile(path, []byte(strings.Replace(string(data), old, with, 1)), 0o600)
}

// A run without a marked checkpoint says why. Caught when planted: a mark that cannot be read and counts as missing; metrics that are missing and
// count as no validation.
func TestInfoWithoutMark(t *testing.T) {
	r, trained := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	r.Training.CheckpointEvery, r.Training.EvaluateEvery = 2, 6
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, trained, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		remove []string
		mark   string // the content of best.json
		want   string
	}{
		{nil, `{"step": 2}`, ""},
		{[]string{"best.json"}, "", "best.json is missing"},
		{[]string{"best.json", "metrics.jsonl"}, "", "best.json is missing"},
		{nil, `{"step": 2`, "best.json cannot be read"},
		{[]string{"best.json", "metrics.jsonl", "checkpoints/step-000000006.safetensors"}, "", "there was no validation yet"},
		{[]string{"best.json", "checkpoints"}, "", ""},
	} {
		dir := copied(t, trained)
		for _, name := range c.remove {
			if err := os.RemoveAll(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				t.Fatal(err)
			}
		}
		if c.mark != "" {
			if err := os.WriteFile(filepath.Join(dir, "best.json"), []byte(c.mark), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if i, err := pipeline.ReadInfo(dir); err != nil || i.Unmarked != c.want || c.want != "" && i.Best != nil {
			t.Errorf("without %q, marked by %q: %+v, %v, want %q", c.remove, c.mark, i, err, c.want)
		}
	}
	m, err := pipeline.Load(trained, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	weights := filepath.Join(t.TempDir(), "weights")
	if err := errors.Join(m.ExportRun(weights), os.Remove(filepath.Join(weights, "best.json"))); err != nil {
		t.Fatal(err)
	}
	if i, err := pipeline.ReadInfo(weights); err != nil || i.Unmarked != "best.json is missing" {
		t.Errorf("weights: %+v, %v", i, err)
	}
}
