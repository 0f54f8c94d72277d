//go:build unix

package runlog

import (
	"path/filepath"
	"syscall"
	"testing"
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
