//go:build unix

package runlog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/tensorboard"
)

// A line that cannot be written in full is taken back.
func TestAppendOnAFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.AppendMetrics(map[string]int{"step": 1}); err != nil {
		t.Fatal(err)
	}
	var before, after syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skipf("no limit on the size of files here: %v", err)
	}
	after = before
	after.Cur = uint64(r.size) + 5
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &after); err != nil {
		t.Skipf("no limit on the size of files here: %v", err)
	}
	failed := r.AppendMetrics(map[string]int{"step": 2, "more": 12345})
	saved := r.SaveCheckpoint(2, &Checkpoint{}, 1)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if failed == nil || saved == nil {
		t.Errorf("beyond the limit: a line %v, a checkpoint %v", failed, saved)
	}
	if err := r.AppendMetrics(map[string]int{"step": 3}); err != nil {
		t.Fatal(err)
	}
	rows, err := r.Metrics()
	if err != nil || len(rows) != 2 || rows[1].Step() != 3 {
		t.Errorf("rows %v, %v", rows, err)
	}
	if steps, err := r.Steps(); err != nil || len(steps) != 0 {
		t.Errorf("checkpoints %v, %v", steps, err)
	}
}

// An event that cannot be written in full is taken back, and the next one follows those before it.
// Caught when planted: a size that does not grow; a file that is not opened for appending.
func TestEventOnAFullDisk(t *testing.T) {
	r, err := Create(filepath.Join(t.TempDir(), "run"), map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	event := func(step int64) tensorboard.Event {
		return tensorboard.Event{Step: step, Scalars: []tensorboard.Scalar{{Tag: "a", Value: 1}}}
	}
	var before, after syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Skipf("no limit on the size of files here: %v", err)
	}
	limited := func(size int64, do func() error) error {
		after = before
		after.Cur = uint64(size)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &after); err != nil {
			t.Skipf("no limit on the size of files here: %v", err)
		}
		failed := do()
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
			t.Fatal(err)
		}
		return failed
	}
	if err := limited(5, func() error { return r.AppendEvent(event(1)) }); err == nil {
		t.Error("a file of events is begun beyond the limit")
	}
	if files, err := r.eventFiles(); err != nil || len(files) != 0 {
		t.Errorf("%v is left, %v", files, err)
	}
	want := []int64{1, 2}
	for _, step := range want {
		if err := r.AppendEvent(event(step)); err != nil {
			t.Fatal(err)
		}
	}
	for step := int64(3); step < 6; step++ {
		if err := limited(r.eventsSize+5, func() error { return r.AppendEvent(event(step)) }); err == nil {
			t.Errorf("event %d is written beyond the limit", step)
		}
		if err := r.AppendEvent(event(10 * step)); err != nil {
			t.Fatal(err)
		}
		want = append(want, 10*step)
	}
	all, err := r.Events()
	var steps []int64
	for _, e := range all {
		if e.HasValues() {
			steps = append(steps, e.Step)
		}
	}
	if err != nil || !slices.Equal(steps, want) {
		t.Errorf("events %v, want %v, %v", steps, want, err)
	}
	file := r.events
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the file of events is still open: %v", err)
	}
}

// All folders and files of a run can be read by everybody, as the umask allows.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	above := filepath.Join(t.TempDir(), "above")
	r, err := Create(filepath.Join(above, "run"), map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		if err := filepath.WalkDir(above, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if want := map[bool]fs.FileMode{true: 0o755, false: 0o644}[e.IsDir()]; info.Mode().Perm() != want {
				t.Errorf("%s has the mode %v, want %v", path, info.Mode().Perm(), want)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	written := errors.Join(r.AppendMetrics(map[string]int{"step": 1}), r.AppendEvent(tensorboard.Event{Step: 1}), r.SaveCheckpoint(1, &Checkpoint{}, 1), r.MarkBest(1))
	if err := errors.Join(written, r.Close()); err != nil {
		t.Fatal(err)
	}
	check()
	for _, dir := range []string{checkpointDir, traceDir, exportDir, lockFile} {
		if err := os.RemoveAll(r.path(dir)); err != nil {
			t.Fatal(err)
		}
	}
	again, err := Resume(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.WriteTrace("t.html", nil); err != nil {
		t.Fatal(err)
	}
	if err := again.WriteExportFile("x", nil); err != nil {
		t.Fatal(err)
	}
	check()
	if err := os.RemoveAll(r.path(exportDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := again.WriteExport(&safetensors.File{}, struct{}{}); err != nil {
		t.Fatal(err)
	}
	check()
}

// A file that cannot be written because the other process, which has the lock now, removed it unfinished, is an error about the lock.
func TestLockLostWhileAFileIsWritten(t *testing.T) {
	r, err := Create(filepath.Join(t.TempDir(), "run"), map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	gone := filepath.Join(r.Dir(), "gone", "file")
	if err := r.write(gone, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("with the lock: %v", err)
	}
	if err := os.Remove(filepath.Join(r.Dir(), lockFile)); err != nil {
		t.Fatal(err)
	}
	if err := r.write(gone, nil); !errors.Is(err, ErrLockLost) {
		t.Errorf("without the lock: %v", err)
	}
	reader := &Run{dir: r.Dir()}
	if err := reader.write(gone, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader: %v", err)
	}
}

// A pipe in place of a file of the run is replaced, and not waited for; a checkpoint that is a link to nothing is none;
// the folder of checkpoints is made again if it is gone.
// Caught when planted: writing to the pipe; links counted without looking where they lead.
func TestPipesAndLinks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	r, err := Create(dir, map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for step := int64(1); step <= 2; step++ {
		if err := r.SaveCheckpoint(step, &Checkpoint{}, 2); err != nil {
			t.Fatal(err)
		}
	}
	best := filepath.Join(dir, bestFile)
	if err := errors.Join(syscall.Mkfifo(best, 0o600), r.MarkBest(2)); err != nil {
		t.Fatal(err)
	}
	if step, marked, err := r.Marked(); step != 2 || !marked || err != nil {
		t.Errorf("in place of a pipe: %d, %v, %v", step, marked, err)
	}
	for step, to := range map[int64]string{3: "nowhere", 5: r.CheckpointPath(2)} {
		if err := os.Symlink(to, r.CheckpointPath(step)); err != nil {
			t.Fatal(err)
		}
	}
	if steps, err := r.Steps(); err != nil || !slices.Equal(steps, []int64{1, 2, 5}) {
		t.Errorf("checkpoints %v, %v", steps, err)
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, checkpointDir)), r.SaveCheckpoint(6, &Checkpoint{}, 2)); err != nil {
		t.Errorf("after the folder was removed: %v", err)
	}
	if steps, err := r.Steps(); err != nil || !slices.Equal(steps, []int64{6}) {
		t.Errorf("checkpoints %v, %v", steps, err)
	}
}
