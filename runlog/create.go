package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"universal-transformer/internal/atomicfile"
)

// Create makes a run directory, including its parents, and opens it for writing. The directory may exist if it is empty. The error is
// ErrExists if it holds a run, also ErrInUse if a process writes that, and another one if it holds anything else. config must encode to a
// JSON object and is written to config.json.
func Create(dir string, config any) (*Run, error) {
	content, err := withVersion(config)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if err := checkVacant(dir); err != nil {
		return nil, err
	}
	_, missing := os.Stat(dir)
	r := &Run{dir: dir, made: missing != nil}
	if err := os.MkdirAll(r.path(checkpointDir), 0o755); err != nil {
		return nil, fmt.Errorf("cannot create run directory: %w", err)
	}
	if r.lock, err = acquire(r.path(lockFile)); err != nil {
		return nil, err
	}
	if err := r.writeFirstFiles(content); err != nil {
		failed := r.Close
		if !errors.Is(err, ErrExists) { // a configuration without anything else would stand in the way of the next Create
			failed = r.Discard
		}
		return nil, errors.Join(fmt.Errorf("cannot create run directory: %w", err), failed())
	}
	return r, nil
}

// Discard closes a run that [Create] made, and removes everything that this package has written in its directory, and the directory if
// Create made it and it is empty then. If the directory or its lock was replaced meanwhile, nothing is removed.
func (r *Run) Discard() error {
	if r.lock == nil {
		return errReader
	}
	if same, err := r.stillNamed(r.lock, lockFile); err != nil || !same {
		return errors.Join(err, r.Close())
	}
	failed := errors.Join(r.closeFiles(), r.removeUnfinished()) // Windows removes no open file
	for _, folder := range []struct {
		path string
		ours func(name string) bool
	}{
		{r.path(checkpointDir), func(name string) bool { _, ok := stepOf(name); return ok }},
		{r.dir, func(name string) bool {
			return isRunFile(name) || name == metricsFile || IsEventFile(name)
		}},
	} {
		entries, err := os.ReadDir(folder.path)
		failed = errors.Join(failed, err)
		for _, e := range entries {
			if folder.ours(e.Name()) {
				failed = errors.Join(failed, os.Remove(filepath.Join(folder.path, e.Name())))
			}
		}
	}
	failed = errors.Join(failed, r.Close())
	if err := os.Remove(r.path(lockFile)); !errors.Is(err, fs.ErrNotExist) { // which releasing it removes where the file itself is the lock
		failed = errors.Join(failed, err)
	}
	_ = os.Remove(r.path(checkpointDir)) // fails if it is not empty
	if r.made {
		_ = os.Remove(r.dir)
	}
	return failed
}

// writeFirstFiles writes the first files of a locked directory, unless another Create has just written them.
func (r *Run) writeFirstFiles(config []byte) error {
	if _, err := os.Stat(r.path(configFile)); err == nil {
		return fmt.Errorf("%s %w", r.dir, ErrExists)
	}
	if err := r.removeUnfinished(); err != nil {
		return err
	}
	if err := atomicfile.Write(r.path(configFile), config); err != nil {
		return err
	}
	return r.openMetrics()
}

// CheckVacant returns an error if [Create] cannot make a run in the directory: something else is there, or nothing can be written there. It leaves
// nothing behind.
func CheckVacant(dir string) error {
	if err := checkVacant(dir); err != nil {
		return err
	}
	if err := atomicfile.CheckNew(filepath.Join(dir, configFile)); err != nil {
		return fmt.Errorf("cannot create run directory: %w", err)
	}
	return nil
}

// checkVacant returns an error if the directory cannot hold a new run. Remains of an interrupted Create are accepted.
func checkVacant(dir string) error {
	if dir == "" {
		return errNoName
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("cannot create run directory: %s is a file, not a directory: choose another name", dir)
	}
	if err := checkNotWithin(dir, resolved(dir)); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot create run directory: %w", err)
	}
	holds := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	if holds(configFile) && holds(modelFile) && !holds(checkpointDir) {
		return fmt.Errorf("%s holds an export: choose another directory", dir)
	}
	if lock := filepath.Join(dir, lockFile); holds(configFile) && inUse(lock) {
		return fmt.Errorf("%s %w, which is %w%s: wait until that has ended, or choose another directory", dir, ErrExists, ErrInUse, byHolder(lock))
	}
	if holds(configFile) {
		return fmt.Errorf("%s %w: resume it, or choose another directory", dir, ErrExists)
	}
	ours := []string{checkpointDir, traceDir, exportDir, lockFile}
	for _, e := range entries {
		if !slices.Contains(ours, e.Name()) && !IsUnfinished(e.Name()) {
			return fmt.Errorf("%s is not empty (it has %s): choose a new directory", dir, e.Name())
		}
		if content, _ := os.ReadDir(filepath.Join(dir, e.Name())); len(content) > 0 {
			return fmt.Errorf("%s is not empty (it has files in %s): choose a new directory", dir, e.Name())
		}
	}
	return nil
}
