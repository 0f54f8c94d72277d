package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// standard is the name of the standard input and output in place of a file.
const standard = "-"

// standardFlag lets a flag that names a file have the value -.
func standardFlag(c *cobra.Command, name string) {
	if err := c.Flags().SetAnnotation(name, standard, nil); err != nil {
		panic(err) // the flag is defined just before
	}
}

// rejectStandard returns an error for a flag that names a file or a folder and has the value - without meaning the standard input or
// output.
func rejectStandard(c *cobra.Command) (err error) {
	c.Flags().Visit(func(f *pflag.Flag) {
		noun, _ := pflag.UnquoteUsage(f)
		_, meant := f.Annotations[standard]
		if f.Value.String() == standard && !meant && slices.Contains([]string{"file", "folder", "directory", "path"}, noun) {
			err = fmt.Errorf("--%s is -, which cannot be the standard input or output here: a %s of that name is ./-", f.Name, noun)
		}
	})
	return err
}

// A kept file or folder must not be overwritten.
type kept struct{ path, why string }

// keptData returns the files that a path of data names, as --data does: one or, separated by a comma, two parallel files.
func keptData(path, why string) (list []kept) {
	if path == "" {
		return nil
	}
	for _, name := range append(strings.Split(path, ","), path) {
		list = append(list, kept{name, why})
		if base, ok := strings.CutSuffix(name, ".text"); ok { // the verbs of agreement are beside the sentences
			list = append(list, kept{base + ".gold", why})
		}
	}
	return list
}

// keptRuns returns the files of runs, and the data they were trained on. Assignments say where data are now. A run that cannot be read has
// none; the command says what is wrong with it.
func keptRuns(assignments []string, runs ...string) (list []kept) {
	for _, dir := range runs {
		for _, path := range runlog.Files(dir) {
			list = append(list, kept{path, "which belongs to the run " + dir})
		}
		r, err := pipeline.ReadRunOfData(dir, nil)
		if err != nil {
			continue
		}
		if moved, err := r.WithMovedFiles(assignments...); err == nil {
			r = moved
		}
		for _, f := range r.Files() {
			if f.IsRun() {
				continue // OwnerOf knows its files
			}
			list = append(list, keptData(f.Path, "on which "+dir+" was trained")...)
		}
	}
	return list
}

// checkOutput returns an error, before any work, if the file that a flag names cannot be written, or if writing it would destroy a file of
// a run or one that must be kept, also through links. No path and - are valid.
func checkOutput(flag, out string, keep ...kept) error {
	if out == "" || out == standard {
		return nil
	}
	info, err := os.Stat(out)
	if err == nil && !info.Mode().IsRegular() {
		return writable(out) // a folder is an error, and a device keeps nothing
	}
	if dir, owned := runlog.OwnerOf(out); owned {
		return usagef("--%s %s would overwrite a file of the run %s: name another file", flag, out, dir)
	}
	for _, k := range keep {
		if err == nil && k.holds(out, info) {
			return usagef("--%s %s would overwrite %s, %s: name another file", flag, out, k.path, k.why)
		}
	}
	return writable(out)
}

// holds reports whether a file is the kept one, or in the kept folder.
func (k kept) holds(path string, info os.FileInfo) bool {
	own, err := os.Stat(k.path)
	if err != nil {
		return false
	}
	if !own.IsDir() {
		return os.SameFile(own, info)
	}
	if path, err = filepath.Abs(path); err != nil {
		return false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return false
	}
	for above := filepath.Dir(path); ; above = filepath.Dir(above) {
		if folder, err := os.Stat(above); err == nil && os.SameFile(own, folder) {
			return true
		}
		if above == filepath.Dir(above) {
			return false
		}
	}
}

// writable returns an error if a file cannot be written, so that a long evaluation does not fail at its end.
func writable(path string) error {
	if folder, err := os.Stat(filepath.Dir(path)); err != nil || !folder.IsDir() {
		return fmt.Errorf("%s cannot be written: the folder %s does not exist", path, filepath.Dir(path))
	}
	return atomicfile.Check(path)
}

// writeOutput writes the file that a flag names, or the standard output for -.
func writeOutput(c *cobra.Command, path string, content []byte) error {
	if path == standard {
		_, err := c.OutOrStdout().Write(content)
		return err
	}
	return atomicfile.Write(path, content)
}

// besides returns where results go besides the file that a flag names: the standard error, if that is the standard output.
func besides(c *cobra.Command, path string) io.Writer {
	if path == standard {
		return c.ErrOrStderr()
	}
	return c.OutOrStdout()
}
