package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/quantity"
	"universal-transformer/paper/report"
	"universal-transformer/sweep"
)

func newTableReport() *cobra.Command {
	root, out := "", ""
	c := &cobra.Command{
		Use:   "report",
		Short: "Write pages that compare results with the paper's",
		Long: `report reads the results of ut table run and the tests of ut table paired and writes a page: a
verdict on every table and claim of the paper, and the tables in the paper's layout. Pages with all
measurements and figures, one per table, are written next to the results. They show the sweeps in
the folder searches of the results. A test whose BLEU is not that of the results of its runs is an
error.`,
		Example: `  ut table report
  ut table report --results results    (the published ones)
  ut table report --out page.md`,
		Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error {
			if out == "" {
				out = filepath.Join(filepath.Dir(root), "RESULTS.md")
			}
			switch info, err := os.Stat(root); {
			case err != nil:
				return fmt.Errorf("--results: %w: ut table run writes results", err)
			case !info.IsDir():
				return fmt.Errorf("--results: %s is a file: name a folder of results", root)
			}
			if err := checkOutput("out", out, resultsIn(root)...); err != nil {
				return err
			}
			return tableReport(c, root, out)
		}),
	}
	c.Flags().StringVar(&root, "results", filepath.Join("runs", "results"), "`folder` of results")
	c.Flags().StringVar(&out, "out", "", "`file` to write (default RESULTS.md next to the folder of results)")
	return c
}

// resultsIn returns the results below a folder, which the page must not overwrite.
func resultsIn(root string) (list []kept) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // an error is one of reading the results, too
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".json" {
			list = append(list, kept{path, "a result"})
		}
		return nil
	})
	return list
}

// tableReport reads the results below root and writes the page out, and further pages and figures below root.
func tableReport(c *cobra.Command, root, out string) error {
	in, err := report.ReadInput(root)
	if errors.Is(err, sweep.ErrRuns) {
		return fmt.Errorf("%w; ut table run writes results to a folder of their own", err)
	}
	if err != nil {
		return err
	}
	if len(in.Results) == 0 {
		return fmt.Errorf("%s has no results: ut table run writes them", root)
	}
	folder, err := filepath.Rel(filepath.Dir(out), root)
	if err != nil {
		folder = root
	}
	pages, err := report.Render(in, folder, func(file string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
		return err == nil
	})
	if err != nil {
		return err
	}
	for file, content := range pages.Files {
		path := filepath.Join(root, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := atomicfile.Write(path, content); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(out, pages.Results); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s and %s in %s, from %s\n", out, quantity.Regular(len(pages.Files), "files"), root, quantity.Regular(len(in.Results), "results"))
	return err
}
