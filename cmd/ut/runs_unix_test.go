//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A run that may not be read is named, and the exit code is 1; the others are listed. Nobody asks, because root may read everything.
// Caught when planted: an exit code of 0.
func TestRunsThatMayNotBeRead(t *testing.T) {
	root := t.TempDir()
	for above := root; above != filepath.Dir(os.TempDir()) && above != "/"; above = filepath.Dir(above) {
		_ = os.Chmod(above, 0o755) // what cannot be changed may be read already
	}
	if err := os.Chmod(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"open", "closed", "listed"} {
		if err := os.CopyFS(filepath.Join(root, "runs", name), os.DirFS(trained(t))); err != nil {
			t.Fatal(err)
		}
	}
	for name, mode := range map[string]os.FileMode{"closed": 0, "listed": 0o644} {
		path := filepath.Join(root, "runs", name)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
	}
	asNobody := func(args ...string) (string, string, int) {
		var stdout, stderr bytes.Buffer
		c := exec.Command(program, args...)
		c.Dir, c.Stdout, c.Stderr = root, &stdout, &stderr
		if os.Getuid() == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		_ = c.Run()
		return stdout.String(), stderr.String(), c.ProcessState.ExitCode()
	}
	stdout, stderr, code := asNobody("runs")
	const want = "ut: runs/closed cannot be read: permission denied\nut: runs/listed cannot be read: permission denied\nut: 2 folders cannot be read, and could hold runs\n"
	if code != 1 || stderr != want || strings.Count(stdout, "\n") != 2 || !strings.Contains(stdout, "runs/open") {
		t.Errorf("code %d, %q, %q", code, stdout, stderr)
	}
	if stdout, stderr, code := asNobody("runs", "runs/closed"); code != 1 || stdout != "" || stderr != "ut: runs/closed cannot be read: permission denied\n" {
		t.Errorf("code %d, %q, %q", code, stdout, stderr)
	}
	if stdout, stderr, code := asNobody("metrics", "runs"); code != 0 || stdout == "" || !strings.Contains(stderr, "ut: skipped: runs/closed cannot be read: permission denied\n") {
		t.Errorf("code %d, %.100q, %q", code, stdout, stderr)
	}
}
