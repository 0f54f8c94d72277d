package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/runlog"
)

// FindRuns returns the run directories in a folder and the folders below it, in the order of their paths; the folder itself may be one. A
// folder that may not be read, and so could hold runs, is an [UnreadableError]; the runs of the others are returned with it.
func FindRuns(folder string) ([]string, error) {
	var f finder
	err := f.find(folder)
	if err == nil && len(f.unreadable) > 0 {
		err = UnreadableError(f.unreadable)
	}
	return f.runs, err
}

// An UnreadableError lists the errors of folders that may not be read.
type UnreadableError []error

func (e UnreadableError) Error() string { return errors.Join(e...).Error() }

func (e UnreadableError) Unwrap() []error { return e }

// finder collects what FindRuns finds.
type finder struct {
	runs       []string
	unreadable []error
}

// refused records an error of permissions, and reports whether it is one.
func (f *finder) refused(folder string, err error) bool {
	if !errors.Is(err, fs.ErrPermission) {
		return false
	}
	f.unreadable = append(f.unreadable, fmt.Errorf("%s cannot be read: %w", folder, fs.ErrPermission))
	return true
}

func (f *finder) find(folder string) error {
	is, err := holdsRun(folder)
	if f.refused(folder, err) {
		return nil
	}
	if is {
		f.runs = append(f.runs, folder)
		return nil
	}
	entries, err := os.ReadDir(folder)
	if f.refused(folder, err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch info, err := os.Stat(path); {
		case strings.HasPrefix(e.Name(), "."), f.refused(path, err), err != nil, !info.IsDir():
		case e.Type()&fs.ModeSymlink != 0 && !isRun(path): // it might lead back
		default:
			if err := f.find(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRun reports whether a directory holds a run that can be read.
func isRun(dir string) bool {
	is, _ := holdsRun(dir)
	return is
}

// holdsRun reports whether a directory holds a run. Exports also have a configuration, but no metrics. The error is that of a directory
// that cannot be read.
func holdsRun(dir string) (bool, error) {
	if _, err := runlog.Open(dir); err != nil {
		return false, err
	}
	for _, name := range []string{"metrics.jsonl", "checkpoints"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true, nil
		}
	}
	return false, nil
}
