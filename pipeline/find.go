package pipeline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/runlog"
)

// FindRuns returns the run directories in a folder and the folders below it, in the order of their paths; the folder itself may be one.
func FindRuns(folder string) ([]string, error) {
	if isRun(folder) {
		return []string{folder}, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		switch info, err := os.Stat(path); {
		case err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), "."):
		case e.Type()&fs.ModeSymlink != 0 && !isRun(path): // it might lead back
		default:
			below, err := FindRuns(path)
			if err != nil && !errors.Is(err, fs.ErrPermission) {
				return nil, err
			}
			list = append(list, below...)
		}
	}
	return list, nil
}

// isRun reports whether a directory holds a run. Exports also have a configuration, but no metrics.
func isRun(dir string) bool {
	if _, err := runlog.Open(dir); err != nil {
		return false
	}
	for _, name := range []string{"metrics.jsonl", "checkpoints"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
