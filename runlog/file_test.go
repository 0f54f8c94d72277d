package runlog

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A disk that fills up in the middle of a file leaves the file that was there, and nothing else.
func TestReplaceOnAFullDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	if err := writeFile(path, []byte("before")); err != nil {
		t.Fatal(err)
	}
	err := replace(path, func(w io.Writer) error {
		if _, err := w.Write([]byte("aft")); err != nil {
			t.Fatal(err)
		}
		return syscall.ENOSPC
	})
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "before" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left over: %v", entries)
	}
	if err := writeFile(path, []byte("after")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if got, _ := os.ReadFile(path); err != nil || string(got) != "after" || info.Mode().Perm() != 0o644 {
		t.Errorf("the file holds %q with mode %v, %v", got, info.Mode(), err)
	}
}
