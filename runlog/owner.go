package runlog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// OwnerOf returns the run directory that the file at a path belongs to, also through symbolic links, whether the file exists or not: a file
// that this package writes in a run directory, in its checkpoints or in its export. Other files in a run directory, such as traces, belong
// to no run.
func OwnerOf(path string) (dir string, ok bool) {
	path = resolved(path)
	folder, name := filepath.Split(path)
	folder = filepath.Clean(folder)
	switch above := filepath.Dir(folder); {
	case holdsRun(folder) && ownsName(name):
		return folder, true
	case filepath.Base(folder) == checkpointDir && holdsRun(above):
		return above, true
	case filepath.Base(folder) == exportDir && holdsRun(above) && slices.Contains(exportFiles, name):
		return above, true
	}
	return "", false
}

// CheckFolder returns an error if other files must not be written in a folder, which need not exist: a run directory, or a folder in the
// checkpoints, traces or export of one.
func CheckFolder(dir string) error {
	at := resolved(dir)
	if holdsRun(at) {
		return fmt.Errorf("%s is a run directory: name another folder", dir)
	}
	return checkNotWithin(dir, at)
}

// CheckExport is like [CheckFolder] for a folder that the run is exported to. That may be the run's own.
func (r *Run) CheckExport(dir string) error {
	if resolved(dir) == resolved(r.ExportDir()) {
		return nil
	}
	return CheckFolder(dir)
}

// checkNotWithin returns an error if a folder, which is at a resolved path, is or lies in one of the folders of a run.
func checkNotWithin(dir, at string) error {
	for above := filepath.Dir(at); above != at; at, above = above, filepath.Dir(above) {
		if name := filepath.Base(at); slices.Contains([]string{checkpointDir, traceDir, exportDir}, name) && holdsRun(above) {
			return fmt.Errorf("%s lies in the %s of the run %s: name another folder", dir, name, above)
		}
	}
	return nil
}

// Files returns the files of a run directory, in the folder itself and in its checkpoints; none if it cannot be read.
func Files(dir string) (list []string) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() && ownsName(e.Name()) {
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	checkpoints, _ := os.ReadDir(filepath.Join(dir, checkpointDir))
	for _, e := range checkpoints {
		list = append(list, filepath.Join(dir, checkpointDir, e.Name()))
	}
	return list
}

// ownsName reports whether a file of this name in a run directory is one of the run.
func ownsName(name string) bool {
	return isRunFile(name) || IsEventFile(name) || slices.Contains([]string{metricsFile, lockFile, checkpointDir, traceDir, exportDir}, name)
}

// holdsRun reports whether a folder holds a run, also one without its configuration or its metrics.
func holdsRun(dir string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	return has(metricsFile) || has(configFile) && has(checkpointDir)
}

// resolved returns an absolute path without symbolic links, as far as it exists.
func resolved(path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	rest := ""
	for at := whole; ; at = filepath.Dir(at) {
		if found, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(found, rest)
		}
		if at == filepath.Dir(at) {
			return whole
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
