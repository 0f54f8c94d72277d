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
	checkFailure(t, ut(t, "export", dir), 1, "export: not a directory: ", "with --run")
	checkFailure(t, ut(t, "trace", dir, "--input", "12"), 1, "traces: not a directory: ", "with --out")
}
