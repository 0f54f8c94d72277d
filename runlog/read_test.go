package runlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
)

// makeUnreadable replaces a file by a link to itself, which cannot be opened.
func makeUnreadable(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(path), path); err != nil {
		t.Skip(err)
	}
}

// A folder in the place of a file of a run is damage of that file. Caught when planted: an error of no kind.
func TestFolderInPlaceOfAFile(t *testing.T) {
	r := create(t)
	x, err := safetensors.New("x", []int{1}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int64{1, 2} {
		if err := r.SaveBest(step, &runlog.Checkpoint{Tensors: []safetensors.Tensor{x}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	var v map[string]any
	for _, c := range []struct {
		name string
		read func() error
	}{
		{"config.json", func() error { return r.Config(&v) }},
		{"vocabulary.json", func() error { return r.ReadJSON("vocabulary.json", &v) }},
		{"tokenizer.json", func() error { _, err := r.ReadFile("tokenizer.json"); return err }},
		{"checkpoints/step-000000002.safetensors", func() error { _, err := r.Load(2); return err }},
		{"best.json", func() error { _, err := r.Best(); return err }},
		{"metrics.jsonl", func() error { _, err := r.Metrics(); return err }},
	} {
		path := filepath.Join(r.Dir(), filepath.FromSlash(c.name))
		if err := errors.Join(os.RemoveAll(path), os.Mkdir(path, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := c.read(); !errors.Is(err, runlog.ErrDamaged) || err.Error() != path+": damaged: it is a folder: restore the file" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if c, refused, err := r.Latest(); err != nil || c.Step != 1 || len(refused) != 1 || refused[0].Reason != "damaged: it is a folder: restore the file" {
		t.Errorf("%+v, %v", refused, err)
	}
}

// A file of another version that this one cannot read is of another version, and not damaged. One of this version, or of none, is damaged.
// Caught when planted: damage whoever wrote the file; another version whoever wrote it.
func TestFileOfAnotherVersion(t *testing.T) {
	r := create(t)
	for _, c := range []struct {
		name, text string
		version    bool
	}{
		{"config.json", `{"version": "0.9.0", "later": 1}`, true},
		{"config.json", `{"version": "0.9.0", "width": "text"}`, true},
		{"config.json", `{"version": "` + runlog.Version() + `", "later": 1}`, false},
		{"config.json", `{"later": 1}`, false},
		{"config.json", `{"version": "0.9.0", "later"`, false},
		{"vocabulary.json", `{"version": "0.9.0", "later": 1}`, true},
		{"vocabulary.json", `{"version": "0.9.0", "width": "text"}`, false},
	} {
		var v struct {
			Width int `json:"width"`
		}
		path := filepath.Join(r.Dir(), c.name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := r.ReadJSON(c.name, &v)
		if err == nil || !strings.HasPrefix(err.Error(), path+": ") || errors.Is(err, runlog.ErrVersion) != c.version || errors.Is(err, runlog.ErrDamaged) == c.version {
			t.Errorf("%s %s: %v", c.name, c.text, err)
		}
		if want := "written by another version, 0.9.0, and this is " + runlog.Version() + ": use that version"; c.version && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s %s: %v", c.name, c.text, err)
		}
	}
}
