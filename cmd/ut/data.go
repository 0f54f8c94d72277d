package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"universal-transformer/internal/quantity"
	"universal-transformer/task/babi"
)

func newData() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "Get and check the data of the paper's tasks, and see examples",
		Long: `data downloads the data sets of the paper's tasks and checks every file; ut data sample prints
examples of a task.`,
		Example: `  ut data babi --dir data
  ut data lambada --archive lambada-dataset.tar.gz
  ut data sample algorithmic/reverse --count 5`,
	}
	parent(c, newDataBabi(), newDataLinzen(), newDataLambada(), newDataGutenberg(), newDataSample())
	return c
}

// babiPlaces lists the addresses of the distribution.
var babiPlaces = []string{
	"http://www.thespermwhale.com/jaseweston/babi/" + babi.Archive,
	"https://s3.amazonaws.com/text-datasets/babi_tasks_1-20_v1-2.tar.gz",
}

func newDataBabi() *cobra.Command {
	dir, from := "", ""
	c := &cobra.Command{
		Use:   "babi",
		Short: "Get and check the bAbI tasks",
		Long: `babi checks the official distribution of the bAbI tasks in a folder: ` + babi.Archive + `,
or the folder tasks_1-20_v1-2 itself, or an archive of it (.tar.gz, .tar.xz). If there is none, it
is downloaded.

The tasks are by Weston et al., 2015, under the licence CC BY 3.0; their home is
https://research.facebook.com/downloads/babi/. These addresses are tried:
  ` + babiPlaces[0] + `
  ` + babiPlaces[1],
		Example: `  ut data babi --dir data
  ut data babi --dir ~/downloads/tasks_1-20_v1-2`,
		Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error {
			path, err := findBabi(c, dir, from)
			if err != nil {
				return err
			}
			return checkBabi(c, path)
		}),
	}
	c.Flags().StringVar(&dir, "dir", "data", "`folder` with the distribution; downloads go here")
	c.Flags().StringVar(&from, "from", "", "download from this `address` instead")
	return c
}

// findBabi returns where the distribution is below dir. It downloads a missing one.
func findBabi(c *cobra.Command, dir, from string) (string, error) {
	path := filepath.Join(dir, babi.Archive)
	if from == "" {
		_, err := babi.Open(dir)
		if err == nil {
			return dir, nil
		}
		info, missing := os.Stat(dir)
		empty := missing == nil && info.IsDir() && errors.Is(err, babi.ErrNone)
		if !empty && !errors.Is(missing, fs.ErrNotExist) {
			return "", err // the folder holds a damaged distribution or something else; a download would hide that
		}
	}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return "", fmt.Errorf("--dir %s is a file: name a folder", dir)
	}
	places := babiPlaces
	if from != "" {
		places = []string{from}
	}
	for _, place := range places {
		c.PrintErrln("downloading", place)
		err := fetch(c.Context(), place, path, isBabi)
		if err == nil {
			return path, nil
		}
		if c.Context().Err() != nil {
			return "", err
		}
		c.PrintErrln("ut:", oneLine(err))
	}
	return "", fmt.Errorf("the distribution could not be downloaded: get %s another way, and put it into %s", babi.Archive, dir)
}

// isBabi returns an error if a downloaded file is not the distribution.
func isBabi(from, path string) error {
	if _, err := babi.Open(path); err != nil {
		return fmt.Errorf("%s: the downloaded file is not bAbI: %w", from, errors.Unwrap(err))
	}
	return nil
}

// checkBabi reads every file and reports those that are missing or damaged.
func checkBabi(c *cobra.Command, path string) error {
	d, err := babi.Open(path)
	if err != nil {
		return err
	}
	good, bad, questions := 0, 0, 0
	for _, f := range d.Check() {
		questions += f.Questions
		if !f.Bad() {
			good++
			continue
		}
		bad++
		c.PrintErrln("ut:", oneLine(errors.New(f.String())))
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s: as published: %s with %s, not as published: %d\n", path, quantity.Regular(good, "files"), quantity.Regular(questions, "questions"), bad)
	if err == nil && bad > 0 {
		err = fmt.Errorf("%s: tasks whose files are missing or damaged cannot be run: get the distribution again", path)
	}
	return err
}
