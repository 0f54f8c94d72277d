package pipeline_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// copied returns a copy of a run directory.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// intoFolder replaces a file by a folder.
func intoFolder(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }

// If the best checkpoint is not marked, it is the one that the newest checkpoint names; if that cannot be read, the newest. A note says so.
// Caught when planted: the newest checkpoint, in silence; the newest although another one is named; an error if that one is gone; the newest in the
// information about the run.
func TestLoadWithoutMark(t *testing.T) {
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	r.Training.Schedule, r.Training.Stop = experiment.Schedule{Value: schedule.Constant{LearningRate: 1e-30}}, schedule.Stop{Patience: 1}
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil { // update 2 is the best, 4 the newest
		t.Fatal(err)
	}
	named, newest := "using that of update 2 instead, which the checkpoint of update 4 names as the best", "using the newest checkpoint instead"
	for name, c := range map[string]struct {
		spoil func(mark, best string) error
		step  int64
		notes []string // parts of the only note
	}{
		"as written":         {func(string, string) error { return nil }, 2, nil},
		"no mark":            {func(mark, _ string) error { return os.Remove(mark) }, 2, []string{"no checkpoint is marked as best: ", named}},
		"a damaged mark":     {func(mark, _ string) error { return os.WriteFile(mark, []byte("{}"), 0o600) }, 2, []string{`key "step" is missing: `, named}},
		"a folder as mark":   {func(mark, _ string) error { return intoFolder(mark) }, 2, []string{"it is a folder: restore the file: ", named}},
		"neither":            {func(mark, best string) error { return errors.Join(os.Remove(mark), os.Remove(best)) }, 4, []string{"no checkpoint of update 2: ", newest}},
		"a damaged best":     {func(_, best string) error { return os.WriteFile(best, nil, 0o600) }, 4, []string{"step-000000002.safetensors: damaged: ", newest}},
		"a folder as best":   {func(_, best string) error { return intoFolder(best) }, 4, []string{"it is a folder: restore the file: ", newest}},
		"a missing best":     {func(_, best string) error { return os.Remove(best) }, 4, []string{"marks update 2 as best: ", newest}},
		"a mark of update 9": {func(mark, _ string) error { return os.WriteFile(mark, []byte(`{"step": 9}`), 0o600) }, 2, []string{"marks update 9 as best: ", named}},
	} {
		to := copied(t, dir)
		if err := c.spoil(filepath.Join(to, "best.json"), filepath.Join(to, "checkpoints", "step-000000002.safetensors")); err != nil {
			t.Fatal(err)
		}
		m, err := pipeline.Load(to, enginetest.Backend(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if m.Step != c.step || len(m.Notes) != min(1, len(c.notes)) {
			t.Errorf("%s: update %d, want %d; notes %q", name, m.Step, c.step, m.Notes)
		}
		if i, err := pipeline.ReadInfo(to); err != nil || i.Unmarked != "" && i.Used != c.step || i.Unmarked == "" && i.Best == nil {
			t.Errorf("%s: information %+v, %v, want update %d", name, i, err, c.step)
		}
		for _, part := range c.notes {
			if text := strings.Join(m.Notes, "; "); strings.Count(text, part) != 1 {
				t.Errorf("%s: %q, want %q once", name, text, part)
			}
		}
		m.Close()
	}
}

// A run without a validation has no best checkpoint, which is not worth a note. Caught when planted: a note.
func TestLoadBeforeTheFirstValidation(t *testing.T) {
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := pipeline.Train(ctx, enginetest.Backend(t), r, dir, pipeline.Callbacks{Progress: func(training.Progress) { cancel() }}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.Step != 1 || len(m.Notes) > 0 {
		t.Errorf("update %d, notes %q", m.Step, m.Notes)
	}
}

// A folder in the place of a file that a model needs is damage. Caught when planted: an error of no kind; the advice to use another version.
func TestLoadWithFolders(t *testing.T) {
	dir, _ := briefly(t)
	for _, file := range []string{"config.json", "vocabulary.json", "paths.json"} {
		to := copied(t, dir)
		path := filepath.Join(to, file)
		if err := intoFolder(path); err != nil {
			t.Fatal(err)
		}
		_, err := pipeline.Load(to, enginetest.Backend(t))
		if !errors.Is(err, runlog.ErrDamaged) || !strings.HasSuffix(err.Error(), path+": damaged: it is a folder: restore the file") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A run of another version that this one cannot read is of another version, whose number the error has, and not damaged.
// Caught when planted: damage for what cannot be decoded, for what is not valid, and for vocabularies.
func TestLoadOfAnotherVersion(t *testing.T) {
	dir, _ := briefly(t)
	stamp := `"version": "` + runlog.Version() + `"`
	for _, c := range []struct{ file, from, to string }{
		{"config.json", `"seed"`, `"later": 1, "seed"`},
		{"config.json", `"fixed"`, `"later"`},
		{"config.json", `"width": 8`, `"width": "narrow"`},
		{"config.json", `"width": 8`, `"width": -8`},
		{"vocabulary.json", `"target"`, `"later": 1, "target"`},
	} {
		for _, version := range []string{"0.9.0", "0.2.0+0123456789ab", runlog.Version()} {
			to := copied(t, dir)
			rewrite(t, filepath.Join(to, c.file), stamp, `"version": "`+version+`"`, c.from, c.to)
			_, err := pipeline.Load(to, enginetest.Backend(t))
			if other := version != runlog.Version(); errors.Is(err, runlog.ErrVersion) != other || errors.Is(err, runlog.ErrDamaged) == other ||
				strings.Contains(err.Error(), "written by another version, "+version+", and this is "+runlog.Version()+": use that version") != other {
				t.Errorf("%s of %s: %s: %v", c.file, version, c.to, err)
			}
		}
	}
}
