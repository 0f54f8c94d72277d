package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/unpack"
)

// A dataSet describes the files of a folder: their addresses, and their expected contents.
type dataSet struct {
	name, what string                      // "lambada", "LAMBADA"
	places     []string                    // addresses of archives, or of single files
	wanted     func(string) (string, bool) // maps a file of an archive, or an address, to a path below the folder
	files      []dataFile
}

// A dataFile is a file of a data set.
type dataFile struct {
	name     string
	what     string // "passages"
	expected int    // count in the published file; 0 if unknown
	group    string // files of a group are useful only together; "": always needed
	with     string // file that it is read with, in the same folder; "": none
	count    func(path string) (int, error)
}

// dataSetFlags holds the flags of ut data NAME.
type dataSetFlags struct{ dir, archive, from string }

// command returns the command ut data NAME.
func (d dataSet) command(long, example string) *cobra.Command {
	f := dataSetFlags{}
	c := &cobra.Command{
		Use: d.name, Short: "Get and check " + d.what, Long: long, Example: example, Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error { return d.run(c, f) }),
	}
	c.Flags().StringVar(&f.dir, "dir", filepath.Join("data", d.name), "`folder` with the files; downloads go here")
	c.Flags().StringVar(&f.archive, "archive", "", "unpack the files of this `archive` (.tar, .tar.gz, .tar.xz, .zip) into the folder")
	c.Flags().StringVar(&f.from, "from", "", "download from this `address` instead")
	return c
}

func (d dataSet) run(c *cobra.Command, f dataSetFlags) error {
	if info, err := os.Stat(f.dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--dir %s is a file: name a folder", f.dir)
	}
	switch {
	case f.archive != "" && f.from != "":
		return usagef("--archive and --from are both given: give only one of them")
	case f.archive != "":
		if err := d.unpack(c, f.dir, f.archive, f.archive); err != nil {
			return err
		}
	case f.from != "":
		if err := d.fetch(c, f.dir, f.from); err != nil {
			return err
		}
	case !d.there(f.dir):
		if err := d.fetchAll(c, f.dir); err != nil {
			return err
		}
	}
	return d.check(c, f.dir)
}

// there reports whether the folder has any of the files.
func (d dataSet) there(dir string) bool {
	for _, f := range d.files {
		if exists(filepath.Join(dir, f.name)) {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// fetchAll downloads from all addresses and reports failures. It returns an error if every download fails.
func (d dataSet) fetchAll(c *cobra.Command, dir string) error {
	got := 0
	for _, place := range d.places {
		err := d.fetch(c, dir, place)
		if c.Context().Err() != nil {
			return err
		}
		if err != nil {
			c.PrintErrln("ut:", oneLine(err))
			continue
		}
		got++
	}
	if got == 0 {
		return fmt.Errorf("%s could not be downloaded: get it another way, and name it with --archive, or put its files into %s", d.what, dir)
	}
	return nil
}

// fetch downloads one file, or an archive, which is unpacked and removed. Files that are there stay unless the new ones can be read.
func (d dataSet) fetch(c *cobra.Command, dir, place string) error {
	c.PrintErrln("downloading", place)
	download := func(file string) error {
		return fetch(c.Context(), place, file, func(string, string) error { return nil })
	}
	name, single := d.wanted(path.Base(place))
	if !single {
		return unpack.Stage(c.Context(), dir, func(staging string) error {
			archive := filepath.Join(staging, path.Base(place))
			if err := download(archive); err != nil {
				return err
			}
			return d.unpack(c, dir, archive, place)
		}, func(string) error { return nil })
	}
	return unpack.Stage(c.Context(), dir, func(staging string) error {
		if err := download(filepath.Join(staging, name)); err != nil {
			return err
		}
		if err := d.checkNew(dir, staging); err != nil {
			return fmt.Errorf("%s: %w", place, err)
		}
		return nil
	}, func(staging string) error {
		file := filepath.Join(dir, name)
		if err := os.Rename(filepath.Join(staging, name), file); err != nil {
			return atomicfile.Cause(file, err)
		}
		return nil
	})
}

// unpack unpacks the files of an archive, unless one of them cannot be read. name names the archive in errors.
func (d dataSet) unpack(c *cobra.Command, dir, archive, name string) error {
	_, err := unpack.Archive{
		Path: archive, Name: name, Wanted: d.wanted, Check: func(staging string) error { return d.checkNew(dir, staging) },
	}.Into(c.Context(), dir)
	return err
}

// checkNew returns an error that names the first file in a staging folder that cannot be read, to keep it from replacing one in dir. A file
// that is read together with another one is read with that of dir, and not checked if there is none.
func (d dataSet) checkNew(dir, staging string) error {
	for _, f := range d.files {
		path := filepath.Join(staging, f.name)
		if !exists(path) {
			continue
		}
		if with := filepath.Join(staging, f.with); f.with != "" && !exists(with) {
			data, err := os.ReadFile(filepath.Join(dir, f.with))
			if err != nil {
				continue
			}
			if err := os.WriteFile(with, data, 0o600); err != nil {
				return err
			}
			defer os.Remove(with)
		}
		if _, err := f.count(path); err != nil {
			return fmt.Errorf("%s: no file is replaced: get it again", strings.ReplaceAll(oneLine(err), staging+string(filepath.Separator), ""))
		}
	}
	return nil
}

// check reads every file and reports those that are missing or damaged.
func (d dataSet) check(c *cobra.Command, dir string) error {
	bad, some, groups := 0, false, map[string]bool{"": true}
	for _, f := range d.files {
		groups[f.group] = groups[f.group] || exists(filepath.Join(dir, f.name))
	}
	for _, f := range d.files {
		name := filepath.Join(dir, f.name)
		if !exists(name) {
			if groups[f.group] {
				c.PrintErrf("ut: %s is missing\n", name)
				bad++
			} else {
				c.PrintErrf("%s is missing; the other files work without it\n", name)
			}
			continue
		}
		n, err := f.count(name)
		if err != nil {
			c.PrintErrln("ut:", oneLine(err))
			bad++
			continue
		}
		some = true
		verdict := "as published"
		switch {
		case f.expected == 0:
			verdict = "not compared, as no published number is known"
		case n != f.expected:
			verdict = fmt.Sprintf("not the published file, which has %d", f.expected)
		}
		if _, err := fmt.Fprintf(c.OutOrStdout(), "%s: %d %s, %s\n", name, n, f.what, verdict); err != nil {
			return err
		}
	}
	if bad > 0 || !some {
		return fmt.Errorf("%s: files of %s are missing or damaged: get them again, with --archive or --from", dir, d.what)
	}
	return nil
}
