package pipeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/table"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// brief is a run of a few updates on a table of the given lines.
func brief(t *testing.T, lines string) experiment.Run {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pairs.tsv")
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	r := copier()
	r.Task = experiment.Task{Value: table.Table{Path: path, HeldOut: 0.3}}
	model := r.Model.Value.(experiment.EncoderDecoder)
	model.Halting = experiment.Halting{Value: halting.Fixed{Steps: 1}}
	model.Width = 8
	r.Model.Value = model
	r.Training.Steps, r.Training.Schedule = 6, experiment.Schedule{Value: schedule.Constant{LearningRate: 1e-3}}
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 2, 2, 2
	r.Training.Batch, r.Training.Stop = experiment.Batch{Rows: 4}, schedule.Stop{}
	return r
}

// pairs is numbers and their digits as letters, a to j.
func pairs() string {
	var b strings.Builder
	for i := range 60 {
		number := fmt.Sprint(i * 7)
		fmt.Fprintf(&b, "%s\t%s\n", number, strings.Map(func(r rune) rune { return r - '0' + 'a' }, number))
	}
	return b.String()
}

// briefly trains such a run.
func briefly(t *testing.T) (dir string, r experiment.Run) {
	t.Helper()
	r, dir = brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// markBest marks a checkpoint as the best.
func markBest(t *testing.T, dir string, step int64) {
	t.Helper()
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.MarkBest(step), log.Close()); err != nil {
		t.Fatal(err)
	}
}

// rewrite replaces pieces of a file, each all over.
func rewrite(t *testing.T, path string, oldNew ...string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.NewReplacer(oldNew...).Replace(string(data))
	if changed == string(data) {
		t.Fatalf("%s has none of %q", path, oldNew)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// failing gives the error of a load and of a resume.
func failing(t *testing.T, dir string) map[string]error {
	t.Helper()
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err == nil {
		m.Close()
	}
	_, resumed := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{})
	return map[string]error{"load": err, "resume": resumed}
}

// What a checkpoint was trained with shows when it has been changed: tokens that change places, another configuration of the same
// shapes, other data.
// Caught when planted: any of the seals not looked at, a vocabulary that a resume does not compare, an error of loading that is not ErrDamaged.
func TestSealsAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(dir string, r experiment.Run)
		load   string // parts of the errors; empty where there is none
		resume string
	}{
		"nothing": {func(string, experiment.Run) {}, "", ""},
		"tokens": {func(dir string, _ experiment.Run) { rewrite(t, dir+"/vocabulary.json", `"a"`, `"b"`, `"b"`, `"a"`) },
			"another vocabulary", "vocabulary.json has been changed"},
		"data":  {func(_ string, r experiment.Run) { rewrite(t, r.Task.Value.(table.Table).Path, "a", "x") }, "", "data have changed"},
		"heads": {func(dir string, _ experiment.Run) { rewrite(t, dir+"/config.json", `"heads": 2`, `"heads": 4`) }, "another config.json", "another config.json"},
		"seed":  {func(dir string, _ experiment.Run) { rewrite(t, dir+"/config.json", `"seed": 1`, `"seed": 2`) }, "another config.json", "another config.json"},
		"beta2": {func(dir string, _ experiment.Run) { rewrite(t, dir+"/config.json", `"beta2": 0.997`, `"beta2": 0.998`) }, "", "has been edited since"},
		"invalid": {func(dir string, _ experiment.Run) { rewrite(t, dir+"/config.json", `"heads": 2`, `"heads": 3`) }, "config.json: model.encoder_decoder.heads is 3",
			"config.json: model.encoder_decoder.heads is 3"},
		"steps": {func(dir string, _ experiment.Run) { rewrite(t, dir+"/config.json", `"steps": 6`, `"steps": 8`) }, "", "has been edited since"},
	} {
		dir, r := briefly(t)
		test.spoil(dir, r)
		for what, err := range failing(t, dir) {
			want := map[string]string{"load": test.load, "resume": test.resume}[what]
			if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s, %s: %v, want %q", name, what, err, want)
			}
			if what == "load" && err != nil && !errors.Is(err, runlog.ErrDamaged) {
				t.Errorf("%s: %v is not ErrDamaged", name, err)
			}
		}
	}
}

// A changed field of the task that changes the vocabulary is found in config.json, not in the data.
func TestTaskWithAnotherVocabulary(t *testing.T) {
	r := brief(t, pairs())
	r.Task = experiment.Task{Value: algorithmic.Reverse{Digits: algorithmic.Digits{Base: 10, MaxLength: 3}}}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	rewrite(t, dir+"/config.json", `"base": 10`, `"base": 11`)
	for what, err := range failing(t, dir) {
		if err == nil || !strings.Contains(err.Error(), "config.json") {
			t.Errorf("%s: %v, want an error that names config.json", what, err)
		}
	}
}

// A run whose vocabulary.json and data were changed alike does not agree with its weights.
// Caught when planted: a seal that only vocabulary.json is held to.
func TestVocabularyAndDataChangedAlike(t *testing.T) {
	dir, r := briefly(t)
	rewrite(t, r.Task.Value.(table.Table).Path, "a", "b", "b", "a")
	rewrite(t, dir+"/vocabulary.json", `"a"`, `"b"`, `"b"`, `"a"`)
	for what, err := range failing(t, dir) {
		if err == nil || !strings.Contains(err.Error(), "another vocabulary") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A mark of the best that leads nowhere is noted, and the newest checkpoint used; one that cannot be opened stops a load.
// Caught when planted: a missing checkpoint that is not reported; a damaged one that is reported twice.
func TestBestThatIsGone(t *testing.T) {
	dir, _ := briefly(t)
	if err := os.WriteFile(dir+"/best.json", []byte(`{"step": 5}`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Step != 6 || len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "best.json marks update 5 as best") || !strings.Contains(m.Notes[0], "newest") {
		t.Errorf("step %d with notes %q", m.Step, m.Notes)
	}
	markBest(t, dir, 6)
	path := filepath.Join(dir, "checkpoints", "step-000000006.safetensors")
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-1)
	}
	if err != nil {
		t.Fatal(err)
	}
	cut, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer cut.Close()
	if cut.Step != 4 || len(cut.Notes) != 1 || !strings.Contains(cut.Notes[0], "the file is cut off") || strings.Contains(cut.Notes[0], "tensor ") {
		t.Errorf("step %d with notes %q", cut.Step, cut.Notes)
	}
	if err := errors.Join(os.Remove(dir+"/best.json"), os.Symlink("best.json", dir+"/best.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Load(dir, enginetest.Backend(t)); err == nil || !strings.Contains(err.Error(), "best.json") {
		t.Errorf("a mark that cannot be read: %v", err)
	}
}

// The newest checkpoint is used where it is asked for, whatever was marked best. Caught when planted: LoadNewest that takes the best.
func TestLoadNewest(t *testing.T) {
	dir, _ := briefly(t)
	markBest(t, dir, 4)
	for step, load := range map[int64]func(string, compute.Backend) (*pipeline.Model, error){4: pipeline.Load, 6: pipeline.LoadOptions{Newest: true}.Load} {
		m, err := load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		if m.Step != step || len(m.Notes) > 0 {
			t.Errorf("step %d with notes %q, want step %d", m.Step, m.Notes, step)
		}
		m.Close()
	}
}

// A checkpoint of a version without these seals is used, with a note, and goes on.
// Caught when planted: a missing seal that is taken for another one, or passed over in silence.
func TestUnsealedCheckpoint(t *testing.T) {
	dir, _ := briefly(t)
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := log.Latest()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{training.VocabularyKey, training.ConfigurationKey, training.EngineKey} {
		delete(c.Meta, key)
	}
	if err := errors.Join(log.SaveCheckpoint(c.Step, c, 0), log.MarkBest(c.Step), log.Close()); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if len(m.Notes) != 1 || !strings.Contains(m.Notes[0], "does not say with which vocabulary") {
		t.Errorf("notes %q", m.Notes)
	}
	said := ""
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{Log: func(line string) { said += line }}); err != nil || !strings.Contains(said, "does not say") {
		t.Errorf("%q, %v", said, err)
	}
}

// A model whose run has a part of its configuration edited that answers do not depend on is used, and that is said: its export has that
// part, too.
// Caught when planted: an edit that is passed over in silence, one that a resume made which is complained of.
func TestEditedTrainingIsNoted(t *testing.T) {
	dir, _ := briefly(t)
	notes := func() []string {
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		m.Close()
		return m.Notes
	}
	if got := notes(); len(got) > 0 {
		t.Errorf("as it was trained: %q", got)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=8"); err != nil {
		t.Fatal(err)
	}
	if got := notes(); len(got) > 0 {
		t.Errorf("trained further: %q", got)
	}
	rewrite(t, dir+"/config.json", `"beta2": 0.997`, `"beta2": 0.998`)
	if got := notes(); len(got) != 1 || !strings.Contains(got[0], "another config.json, which has been edited since") {
		t.Errorf("edited: %q", got)
	}
}

// A run all of whose checkpoints are damaged, or gone, is not begun again over what is left of it.
// Caught when planted: training that starts again; metrics or checkpoints that are removed before it is refused.
func TestNoCheckpointLeftIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, []byte("rubbish"), 0o600) },
		"gone":    os.Remove,
	} {
		dir, _ := briefly(t)
		paths, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
		}
		before := everything(t, dir)
		_, err = pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{})
		var lost *pipeline.LostError
		if !errors.As(err, &lost) || lost.Dir != dir || !strings.Contains(err.Error(), map[string]string{"damaged": "damaged", "gone": ": the checkpoint of update 6 is missing: restore it, or train again in another directory; "}[name]) || !strings.Contains(err.Error(), "nothing is changed") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if after := everything(t, dir); !maps.Equal(before, after) {
			t.Errorf("%s: there were %v, there are %v", name, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
		}
	}
}

// everything is what is in the files of a directory but its lock.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == "lock" {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
