package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"
	"universal-transformer/internal/unpack"
)

// A dataSet is files of a folder: where they come from, and what they should hold.
type dataSet struct {
	name, what string                      // "lambada", "LAMBADA"
	places     []string                    // addresses of archives, or of single files
	wanted     func(string) (string, bool) // the place of a file of an archive, or of an address, below the folder
	files      []dataFile
}

// A dataFile is a file of a data set.
type dataFile struct {
	name     string
	what     string // "passages"
	expected int    // how many there are in the published file
	group    string // files that are of use together only; "": the rest is of no use without it
	count    func(path string) (int, error)
}

// dataSetFlags is what ut data NAME is told.
type dataSetFlags struct{ dir, archive, from string }

// command makes ut data NAME.
func (d dataSet) command(long, example string) *cobra.Command {
	f := dataSetFlags{}
	c := &cobra.Command{
		Use: d.name, Short: "Get and check " + d.what, Long: long, Example: example, Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error { return d.run(c, f) }),
	}
	c.Flags().StringVar(&f.dir, "dir", filepath.Join("data", d.name), "`folder` that has the files, or shall have them")
	c.Flags().StringVar(&f.archive, "archive", "", "unpack the files of this `archive` (.tar, .tar.gz, .tar.xz, .zip) into the folder")
	c.Flags().StringVar(&f.from, "from", "", "fetch from this `address` instead")
	return c
}

func (d dataSet) run(c *cobra.Command, f dataSetFlags) error {
	if info, err := os.Stat(f.dir); err == nil && !info.IsDir() {
		return fmt.Errorf("--dir %s is a file: name a folder", f.dir)
	}
	switch {
	case f.archive != "" && f.from != "":
		return usagef("--archive and --from are both given: give one of them")
	case f.archive != "":
		if _, err := unpack.Into(f.dir, f.archive, d.wanted); err != nil {
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

// there tells whether the folder has any of the files.
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

// fetchAll fetches what is at the places. What cannot be fetched is named.
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
		return fmt.Errorf("%s could not be fetched: get it by other means, and name it with --archive, or put its files into %s", d.what, dir)
	}
	return nil
}

// fetch fetches one file, or an archive, which is unpacked and removed.
func (d dataSet) fetch(c *cobra.Command, dir, place string) error {
	c.PrintErrln("fetching", place)
	name := path.Base(place)
	if own, ok := d.wanted(name); ok {
		return fetch(c.Context(), place, filepath.Join(dir, own), func(string, string) error { return nil })
	}
	archive := filepath.Join(dir, name)
	if err := fetch(c.Context(), place, archive, func(string, string) error { return nil }); err != nil {
		return err
	}
	defer os.Remove(archive)
	_, err := unpack.Into(dir, archive, d.wanted)
	return err
}

// check reads every file and says what is not as it should be.
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
				c.PrintErrf("%s is not there, which the rest does not need\n", name)
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
		verdict := "as it should be"
		if f.expected > 0 && n != f.expected {
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
