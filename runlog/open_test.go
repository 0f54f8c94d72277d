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

// What is opened and is no run is named. Caught when planted: a file reported as a missing folder.
func TestOpenRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "runs [1]") // no pattern
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "c" {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name, "config.json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	runs := "; runs in it are " + filepath.Join(folder, "a") + ", " + filepath.Join(folder, "b") + ", " + filepath.Join(folder, "d") + " and 1 more"
	for path, want := range map[string]string{folder: runs, file: "is not a run directory: it is a file", t.TempDir(): "is not a run directory: it has no config.json", filepath.Join(folder, "nowhere"): "is not a run directory: it does not exist"} {
		if _, err := runlog.Open(path); !errors.Is(err, runlog.ErrNotRun) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := runlog.Open(file + "/below"); err == nil || errors.Is(err, runlog.ErrNotRun) {
		t.Errorf("a path below a file: %v", err)
	}
}

// A run is in use while it is written, and asking does not keep writers away. Its second Close does nothing.
// Caught when planted: the lock of the question kept; a run without a lock file in use.
func TestInUse(t *testing.T) {
	r := create(t)
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if !reader.InUse() {
		t.Error("a run that is written is not in use")
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Errorf("closed twice: %v", err)
	}
	for range 3 {
		if reader.InUse() {
			t.Error("a closed run is in use")
		}
		again, err := runlog.Resume(r.Dir())
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
	}
	if err := os.Remove(filepath.Join(r.Dir(), "lock")); err != nil {
		t.Fatal(err)
	}
	if reader.InUse() {
		t.Error("a run without a lock file is in use")
	}
}

// The bounds of steps and of the number of checkpoints that are kept; 0 keeps all. Nothing may follow damaged metrics.
func TestBoundsOfCheckpoints(t *testing.T) {
	r := create(t)
	save(t, r, 0, 0, 1, 2, 3)
	there(t, r, 0, 1, 2, 3)
	if err := r.SaveCheckpoint(-1, checkpoint(t, 1), 0); err == nil || !strings.Contains(err.Error(), "checkpoint of update -1, keeping 0") {
		t.Errorf("step -1: %v", err)
	}
	save(t, r, 4, 4)
	there(t, r, 1, 2, 3, 4)
	if err := r.MarkBest(0); err == nil || !strings.Contains(err.Error(), "cannot mark update 0 as best") {
		t.Errorf("a mark of a checkpoint that was removed: %v", err)
	}
	if _, marked, err := r.Marked(); marked || err != nil {
		t.Errorf("marked %v, %v", marked, err)
	}
	if err := r.Truncate(2); err != nil {
		t.Fatal(err)
	}
	there(t, r, 1, 2)
	if err := r.AppendMetrics(map[string]any{"step": 0}); err != nil {
		t.Errorf("step 0: %v", err)
	}
	info, err := os.Stat(metricsPath(r))
	if err != nil || r.MetricsSize() != info.Size() {
		t.Errorf("%d bytes, the file has %v, %v", r.MetricsSize(), info.Size(), err)
	}
}

// Exports of any directory: without metadata, without reading the configuration. Objects without members are written and read.
func TestExportElsewhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "export")
	if err := runlog.WriteExport(dir, &safetensors.File{}, struct{}{}); err != nil {
		t.Fatal(err)
	}
	f, err := runlog.ReadExport(dir, nil)
	if err != nil || f.Metadata["version"] != runlog.Version() {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := runlog.ReadExport(dir, &struct{}{}); err != nil {
		t.Error(err)
	}
	if err := runlog.WriteExport(dir, &safetensors.File{}, 3); err == nil || !strings.Contains(err.Error(), "int does not encode to a JSON object") {
		t.Errorf("a number: %v", err)
	}
	if err := runlog.WriteExport(dir, &safetensors.File{}, map[string]int{"version": 1}); err == nil || !strings.Contains(err.Error(), `"version" is reserved`) {
		t.Errorf("a version: %v", err)
	}
}
