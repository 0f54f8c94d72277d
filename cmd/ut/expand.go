package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

// expandRuns returns the run directories that arguments name, each once. A folder stands for the runs in it. What check rejects is reported
// and skipped; it is an error if nothing else is named. Paths that do not exist are an error, too.
func expandRuns(c *cobra.Command, args []string, check func(dir string) error) (dirs []string, err error) {
	var known []os.FileInfo
	var skipped []error
	if err := checkExist(args); err != nil {
		return nil, err
	}
	for _, arg := range args {
		found, err := pipeline.FindRuns(arg)
		var unreadable pipeline.UnreadableError
		if errors.As(err, &unreadable) {
			skipped = append(skipped, unreadable...)
		} else if err != nil || len(found) == 0 {
			found = []string{arg} // check says what is wrong
		}
		for _, dir := range found {
			if err := check(dir); err != nil {
				skipped = append(skipped, err)
				continue
			}
			info, err := os.Stat(dir)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(known, func(k os.FileInfo) bool { return os.SameFile(k, info) }) {
				dirs, known = append(dirs, dir), append(known, info)
			}
		}
	}
	if len(dirs) == 0 && len(skipped) == 1 {
		return nil, skipped[0]
	}
	for _, err := range skipped {
		c.PrintErrln("ut: skipped:", oneLine(err))
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("none of %s is a run that can be read", strings.Join(args, ", "))
	}
	return dirs, nil
}

// checkExist returns an error that names all paths that do not exist.
func checkExist(paths []string) error {
	missing := slices.DeleteFunc(slices.Clone(paths), exists)
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s does not exist: name a run directory or a folder of runs", missing[0])
	}
	return fmt.Errorf("%s do not exist: name run directories or folders of runs", strings.Join(missing, ", "))
}

// readable returns an error if the configuration of a run cannot be read.
func readable(dir string) error {
	_, err := pipeline.ReadRun(dir)
	return err
}
