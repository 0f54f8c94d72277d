//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// acquire takes the lock at path: the existence of the file is the lock. If a process was killed, its lock must be removed by hand.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%s is %w: if no process writes it, remove %s", filepath.Dir(path), ErrInUse, path)
	}
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(f, "%d\n", os.Getpid()); err != nil {
		return nil, errors.Join(err, release(f))
	}
	return f, nil
}

func release(f *os.File) error { return errors.Join(f.Close(), os.Remove(f.Name())) }

// byHolder names no process, as it may have been killed.
func byHolder(string) string { return "" }

// InUse reports whether a process is writing the run.
func (r *Run) InUse() bool { return inUse(r.path(lockFile)) }

// inUse reports whether there is a lock file.
func inUse(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
