//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"universal-transformer/internal/atomicfile"
)

// A new file has the permissions that os.WriteFile would give it, and one that existed keeps its own.
// Caught when planted: 0644 whatever the umask and the old file; the temporary file's 0600.
func TestMode(t *testing.T) {
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for umask, want := range map[int]fs.FileMode{0: 0o644, 0o022: 0o644, 0o027: 0o640, 0o077: 0o600} {
		syscall.Umask(umask)
		if err := atomicfile.Write(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		check(t, path, "new", want)
		for _, mode := range []fs.FileMode{0o600, 0o664, 0o755} {
			if err := errors.Join(os.Chmod(path, mode), atomicfile.Write(path, []byte("old"))); err != nil {
				t.Fatal(err)
			}
			check(t, path, "old", mode)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// The file that a link leads to is replaced, in its own folder, and the link remains. A link to nothing becomes a file.
// Caught when planted: the link replaced; the temporary file beside the link, from where it may not be renamed to another file system.
func TestLink(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	target, link, chain := filepath.Join(other, "target"), filepath.Join(dir, "link"), filepath.Join(dir, "chain")
	if err := errors.Join(os.Mkdir(other, 0o700), os.WriteFile(target, []byte("before"), 0o600), os.Symlink(filepath.Join("other", "target"), link), os.Symlink(link, chain)); err != nil {
		t.Fatal(err)
	}
	defer func(before func(*os.File) error) { atomicfile.Sync = before }(atomicfile.Sync)
	atomicfile.Sync = func(f *os.File) error {
		if folder := filepath.Dir(f.Name()); folder != other && f.Name() != other {
			t.Errorf("%s is written", f.Name())
		}
		return nil
	}
	for _, path := range []string{link, chain} {
		if err := errors.Join(atomicfile.Check(path), atomicfile.Write(path, []byte(path))); err != nil {
			t.Fatal(err)
		}
		check(t, target, path, 0o600)
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link now: %v", path, err)
		}
	}
	atomicfile.Sync = func(*os.File) error { return nil }
	if err := errors.Join(os.Remove(target), atomicfile.Write(link, []byte("new"))); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(link); err != nil || !info.Mode().IsRegular() {
		t.Errorf("a link to nothing: %v, %v", info, err)
	}
}

// check compares a file's content and permissions.
func check(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	got, err := os.ReadFile(path)
	info, problem := os.Stat(path)
	if err != nil || problem != nil || string(got) != content || info.Mode().Perm() != mode {
		t.Errorf("%s holds %q with %v, want %q with %v; %v", path, got, info.Mode().Perm(), content, mode, err)
	}
}
