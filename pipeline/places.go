package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/experiment"
	"universal-transformer/runlog"
)

// This file finds the data of a run that was moved, or that is used from another working directory than the one it was trained in.

// dataRootFile records the directory that relative paths in config.json start from.
const dataRootFile = "paths.json"

type recordedRoot struct {
	RelativeTo string `json:"relative_to"` // the working directory in which training began, relative to the run directory
}

// writeDataRoot records the working directory. A directory on another volume has no relative path; nothing is recorded then.
func writeDataRoot(log *runlog.Run) error {
	here, err := os.Getwd()
	if err != nil {
		return nil //nolint:nilerr // the data were found without it
	}
	dir, err := filepath.Abs(log.Dir())
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	relative, err := filepath.Rel(dir, here)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return log.WriteJSON(dataRootFile, recordedRoot{filepath.ToSlash(relative)})
}

// dataRoot returns the directory in which relative paths of the run begin; "" if it is not recorded, as in runs of earlier versions.
func dataRoot(log *runlog.Run) (string, error) {
	var p recordedRoot
	err := log.ReadJSON(dataRootFile, &p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return filepath.Join(log.Dir(), filepath.FromSlash(p.RelativeTo)), err
}

// withFoundFiles returns a run that names its data where they are. A relative path begins in the working directory of training, relative to
// the run directory, or else in the present one. Data that are in none of these places are looked for in the run directory and in the two
// folders above it, by as much of their path as fits; a run directory is not taken for data. Data that are not where they were in training
// are reported; the path of data that are nowhere is the first of these places. Paths that are not those of the configuration begin in the
// present working directory, or are absolute where they lead out of it.
func withFoundFiles(log *runlog.Run, r experiment.Run, report func(string)) (experiment.Run, error) {
	from, err := dataRoot(log)
	if err != nil {
		return r, err
	}
	return r.WithFiles(func(f experiment.File) string {
		usual := []string{f.Path}
		if from != "" && !filepath.IsAbs(f.Path) {
			usual = []string{filepath.Join(from, f.Path), f.Path}
		}
		for i, path := range append(usual, candidatePaths(log.Dir(), f.Path)...) {
			if _, err := os.Stat(path); err != nil || i >= len(usual) && (path == filepath.Clean(log.Dir()) || !f.IsRun() && isRun(path)) {
				continue
			}
			if i > 0 && report != nil {
				report(fmt.Sprintf("%s: %s is not where it was: using %s", log.Dir(), absolute(usual[0]), absolute(path)))
			}
			if here := fromHere(path, f.Path); i < len(usual) && sameFile(here, path) {
				return here
			}
			return path
		}
		return fromHere(usual[0], f.Path)
	}), nil
}

// fromHere returns a path as it is written if it is the same from the present working directory, else as one that begins there, or as an
// absolute one if it leads out of it.
func fromHere(path, written string) string {
	relative := relativeTo(".", path)
	switch {
	case path == written || relative == filepath.Clean(written):
		return written
	case filepath.IsLocal(relative):
		return relative
	}
	return absolute(path)
}

// sameFile reports whether two paths, one of which may lead through symbolic links in another way, are those of one file.
func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	second, problem := os.Stat(b)
	return err == nil && problem == nil && os.SameFile(first, second)
}

// absolute returns a path as an absolute one, if the working directory is known.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}

// candidatePaths lists where the data of a run that was moved may be: with the longest part of their path first.
func candidatePaths(dir, path string) (list []string) {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	elements := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	for i, first := range elements {
		if first == "" || first == ".." {
			continue
		}
		part := filepath.Join(elements[i:]...)
		for _, folder := range []string{"", "..", filepath.Join("..", "..")} {
			list = append(list, filepath.Join(dir, folder, part))
		}
	}
	return list
}

// withMovedFiles returns the run with other places of its files, as assignments name them from the working directory.
func withMovedFiles(log *runlog.Run, r experiment.Run, assignments []string) (experiment.Run, error) {
	changed, err := r.WithMovedFiles(assignments...)
	if err != nil {
		return r, err
	}
	from, err := dataRoot(log)
	if err != nil || from == "" {
		return changed, err
	}
	before := map[string]string{}
	for _, f := range r.Files() {
		before[f.Field] = f.Path
	}
	return changed.WithFiles(func(f experiment.File) string {
		if f.Path == before[f.Field] || filepath.IsAbs(f.Path) {
			return f.Path
		}
		return relativeTo(from, f.Path)
	}), nil
}

// relativeTo returns a path of the working directory as one that begins in another folder, or the absolute path if there is none.
func relativeTo(folder, path string) string {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return absolute
	}
	relative, err := filepath.Rel(folder, absolute)
	if err != nil {
		return absolute
	}
	return relative
}

// ReadRunOfData returns the configuration of a run directory, which names its data where they are. It reports data that were moved.
func ReadRunOfData(dir string, report func(line string)) (experiment.Run, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return experiment.Run{}, err
	}
	r, err := readRun(log, experiment.Extensions{})
	if err != nil {
		return r, err
	}
	return withFoundFiles(log, r, report)
}
