package pipeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/training"
)

// Samples are inputs that the model reads as they are, as many as were asked for.
// Caught when planted: samples of unreadable inputs alone.
func TestSamples(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int{1, 5} {
		list := m.Samples(n)
		if len(list) != n {
			t.Errorf("%d samples, want %d", len(list), n)
		}
		for _, line := range list {
			if answers, err := m.Decode(t.Context(), []string{line}, pipeline.DecodeOptions{}); line == "" || err != nil || answers[0].Err != nil || len(answers[0].Unknown) > 0 {
				t.Errorf("%q: %+v, %v", line, answers, err)
			}
		}
	}
}

// A run on a file has no samples: it is used without its data, also where they are.
func TestSamplesOfAFile(t *testing.T) {
	dir, _ := briefly(t)
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if list := m.Samples(3); list == nil || len(list) != 0 {
		t.Errorf("samples %q", list)
	}
}

// A run whose only checkpoint is damaged says so, unlike one that has none yet, or not any more.
// Caught when planted: a single damaged checkpoint taken for none; an error that is not ErrNoCheckpoint, or not ErrDamaged; one that is
// marked as best, and is gone, taken for one that was never there.
func TestLoadWithoutIntactCheckpoint(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		": damaged: ": func(path string) error { return os.WriteFile(path, []byte("rubbish"), 0o600) },
		"has been saved yet: train longer, or resume the run": func(path string) error {
			return errors.Join(os.Remove(path), os.Remove(filepath.Join(filepath.Dir(path), "..", "best.json")))
		},
		"run: the checkpoint of update 1200 is missing: restore it": os.Remove,
		"best.json: damaged: ": func(path string) error {
			return errors.Join(os.Remove(path), os.WriteFile(filepath.Join(filepath.Dir(path), "..", "best.json"), []byte("{}"), 0o600))
		},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := os.CopyFS(dir, os.DirFS(copierDir)); err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "checkpoints", "*.safetensors"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%q, %v", files, err)
		}
		if err := spoil(files[0]); err != nil {
			t.Fatal(err)
		}
		_, err = pipeline.Load(dir, enginetest.Backend(t))
		if err == nil || !strings.Contains(err.Error(), name) || !errors.Is(err, runlog.ErrNoCheckpoint) || errors.Is(err, runlog.ErrDamaged) != strings.Contains(name, "damaged") ||
			strings.Contains(err.Error(), "train longer") != strings.Contains(name, "train longer") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Data that were moved are read where an assignment says; nothing else of a run can be assigned.
// Caught when planted: an assignment that is ignored.
func TestLoadWithMovedData(t *testing.T) {
	dir, r := briefly(t)
	path := filepath.Join(t.TempDir(), "moved.tsv")
	if err := os.Rename(r.Files()[0].Path, path); err != nil {
		t.Fatal(err)
	}
	for set, want := range map[string]string{"task.table.path=" + path: "", "seed=3": dir + ": "} {
		m, err := pipeline.LoadOptions{Set: []string{set}}.Load(dir, enginetest.Backend(t))
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Fatalf("%s: %v", set, err)
		}
		if err != nil {
			continue
		}
		defer m.Close()
		if e, err := m.Evaluate(t.Context(), pipeline.Protocol{TeacherForced: true}); err != nil || len(e.Examples) == 0 || m.Run.Files()[0].Path != path {
			t.Errorf("%d examples of %+v, %v", len(e.Examples), m.Run.Files(), err)
		}
	}
}

// A resumed run says which checkpoints it sets aside, and begins at the newest intact one. It says too if that one does not tell which
// vocabulary it was trained with.
// Caught when planted: a checkpoint that is set aside in silence.
func TestResumeSaysWhatItSetsAside(t *testing.T) {
	dir, _ := briefly(t)
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := log.Load(4)
	if err != nil {
		t.Fatal(err)
	}
	delete(c.Meta, training.VocabularyKey)
	newest := log.CheckpointPath(6)
	if err := errors.Join(log.SaveCheckpoint(4, c, 0), os.WriteFile(newest, []byte("rubbish"), 0o600), log.Close()); err != nil {
		t.Fatal(err)
	}
	var lines []string
	summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{Log: func(line string) { lines = append(lines, line) }})
	if err != nil || summary.Step != 6 {
		t.Fatalf("%+v, %v", summary, err)
	}
	said := strings.Join(lines, "\n")
	for _, want := range []string{newest + ": damaged: ", ": it is set aside", "checkpoint of update 4: an earlier version wrote it, and it does not say with which vocabulary it was trained"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	if _, err := os.Stat(newest + ".damaged"); err != nil {
		t.Error(err)
	}
}

// A run is resumed with data that were moved, and config.json says where they are.
func TestResumeWithMovedData(t *testing.T) {
	dir, r := briefly(t)
	path := filepath.Join(t.TempDir(), "moved.tsv")
	if err := os.Rename(r.Files()[0].Path, path); err != nil {
		t.Fatal(err)
	}
	summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}, "training.steps=8", "task.table.path="+path)
	if err != nil || summary.Step != 8 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if r, err := pipeline.ReadRun(dir); err != nil || r.Files()[0].Path != path || r.Training.Steps != 8 {
		t.Errorf("%+v, %v", r.Files(), err)
	}
}
