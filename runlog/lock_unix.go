//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package runlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// acquire takes the lock at path. The kernel holds it (flock) and releases it when the process ends, however it ends: a leftover lock
// file locks nothing, and a reused process number cannot mislead. The process number and the host in the file are for messages only.
func acquire(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := exclude(f, path); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s is %w%s", filepath.Dir(path), ErrInUse, byHolder(path))
		}
		return nil, fmt.Errorf("cannot lock %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		host, _ := os.Hostname() // unknown if it is empty
		_, err = fmt.Fprintf(f, "%d\n%s\n", os.Getpid(), host)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// exclude locks a file for one writer. Readers lock it for a moment to see whether there is a writer; exclude tries again as long as
// there are only readers, for about a second at most.
func exclude(f *os.File, path string) error {
	var err error
	for range 1000 {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || inUse(path) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return err
}

// holder returns the process number in a lock file, with the host if it is there: earlier versions did not write it.
func holder(path string) string {
	content, err := os.ReadFile(path)
	number, host, _ := strings.Cut(strings.TrimSpace(string(content)), "\n")
	switch {
	case err != nil || number == "":
		return "unknown"
	case host == "":
		return number
	}
	return number + " on " + host
}

// byHolder names the process that has locked the file at path, for errors.
func byHolder(path string) string { return " by process " + holder(path) }

// release closes the file but does not remove it, because another process may have locked it already.
func release(f *os.File) error { return f.Close() }

// InUse reports whether a process is writing the run.
func (r *Run) InUse() bool { return inUse(r.path(lockFile)) }

// inUse reports whether a writer has locked a file.
func inUse(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // releases the shared lock
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}
