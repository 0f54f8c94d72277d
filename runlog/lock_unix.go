//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// acquire takes the lock at path. The kernel holds it (flock), so it goes when its process does, however that ends: a
// lock file that is left over locks nothing, and a process number that is used again cannot mislead. The number in
// the file is for people.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is %w by process %s", filepath.Dir(path), ErrInUse, holder(path))
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = fmt.Fprintf(f, "%d\n", os.Getpid())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// holder is the process number in a lock file.
func holder(path string) string {
	content, err := os.ReadFile(path)
	if number := strings.TrimSpace(string(content)); err == nil && number != "" {
		return number
	}
	return "unknown"
}

// release leaves the file: removing it could remove the one that the next process has just locked.
func release(f *os.File) error { return f.Close() }
