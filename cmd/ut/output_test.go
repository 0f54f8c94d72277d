package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Output that cannot be written is an error of every command, also of those that print without looking at errors.
// Caught when planted: the error of help or of doctor that is dropped.
func TestOutputThatIsNotWritten(t *testing.T) {
	for _, args := range []string{"help", "help train", "train --help", "help halting", "--version", "version", "doctor", "doctor --json", "list", "table list", "show demo"} {
		var stderr bytes.Buffer
		if code := run(strings.Fields(args), full{}, &stderr); code != 1 || !strings.HasPrefix(stderr.String(), "ut: ") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%s: code %d, %q", args, code, stderr.String())
		}
	}
}

// A run in which nothing can be written names the flag that writes elsewhere. Caught when planted: the bare error of the file system.
func TestExportAndTraceElsewhere(t *testing.T) {
	dir := copied(t)
	for _, folder := range []string{"export", "traces"} { // files in place of the folders cannot be written for root either
		if err := os.RemoveAll(filepath.Join(dir, folder)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, folder), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	checkFailure(t, ut(t, "export", dir), 1, "export: not a directory: ", "with --out")
	checkFailure(t, ut(t, "export", dir, "--out", dir), 1, "is a run directory: name another folder")
	out := filepath.Join(t.TempDir(), "exported")
	if got := succeeds(t, "export", dir, "--out", out); got != out+"\n" {
		t.Errorf("exported to %q", got)
	}
	if entries, err := os.ReadDir(out); err != nil || len(entries) != 2 || entries[0].Name() != "config.json" || entries[1].Name() != "model.safetensors" {
		t.Errorf("the export has %v, %v", entries, err)
	}
	checkFailure(t, ut(t, "trace", dir, "--input", "12"), 1, "traces: not a directory: ", "with --out")
}

// The error of resuming a run that is read-only says what to do; other errors remain as they are. Root may write anywhere, so that the errors are
// made up.
// Caught when planted: advice for any file, or for a file that is missing.
func TestReadOnlyRun(t *testing.T) {
	for _, c := range []struct {
		path string
		err  syscall.Errno
		want string
	}{
		{"ro/lock", syscall.EACCES, "open ro/lock: permission denied: copy the run to a folder in which files can be written, and resume the copy"},
		{"ro/lock", syscall.EROFS, "open ro/lock: read-only file system: copy the run to a folder in which files can be written, and resume the copy"},
		{"ro/lock", syscall.ENOENT, "open ro/lock: no such file or directory"},
		{"pairs.tsv", syscall.EACCES, "open pairs.tsv: permission denied"},
	} {
		if got := writtenElsewhere(&os.PathError{Op: "open", Path: filepath.FromSlash(c.path), Err: c.err}, "ro"); got.Error() != c.want {
			t.Errorf("%v, want %s", got, c.want)
		}
	}
}

// A run whose configuration cannot be read is an error of ut info, which has nothing else to say, and a file is no directory for a run.
// Caught when planted: a description without a name and a task.
func TestInfoOfBrokenConfiguration(t *testing.T) {
	dir := copied(t)
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ut(t, "info", dir)
	checkFailure(t, r, 1, "ut: "+dir+": config.json: JSON: ")
	if r.stdout != "" {
		t.Errorf("it prints %q", r.stdout)
	}
	checkFailure(t, ut(t, "train", "demo", "--out", write(t, "dates.tsv", "x")), 1, "dates.tsv is a file, not a directory: choose another name")
}
