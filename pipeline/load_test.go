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

// A run whose only checkpoint is damaged says so, unlike one that has none.
// Caught when planted: a single damaged checkpoint taken for none.
func TestLoadWithoutIntactCheckpoint(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"no checkpoint can be used: ": func(path string) error { return os.WriteFile(path, []byte("rubbish"), 0o600) },
		"train longer":                os.Remove,
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
		if err == nil || !strings.Contains(err.Error(), name) || errors.Is(err, runlog.ErrNoCheckpoint) != (name == "train longer") {
			t.Errorf("%q: %v", name, err)
		}
	}
}
