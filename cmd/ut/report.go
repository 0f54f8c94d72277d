package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/paper"
)

func newReport() *cobra.Command {
	root, out := "", ""
	c := &cobra.Command{
		Use:   "report",
		Short: "Write a page of results, next to the paper's",
		Long: `report reads the results of ut experiment run and writes a page: a summary of all of the paper's
tables and figures, and a section for each table with results. Missing results are listed. Figures
are written next to the results.`,
		Example: `  ut report
  ut report --results results    (the published ones)
  ut report --out page.md`,
		Args: arguments(),
		RunE: prompt(func(c *cobra.Command, _ []string) error {
			if out == "" {
				out = filepath.Join(filepath.Dir(root), "RESULTS.md")
			}
			switch info, err := os.Stat(root); {
			case err != nil:
				return fmt.Errorf("--results: %w: ut experiment run makes results", err)
			case !info.IsDir():
				return fmt.Errorf("--results: %s is a file: name a folder of results", root)
			}
			return report(c, root, out)
		}),
	}
	c.Flags().StringVar(&root, "results", filepath.Join("runs", "results"), "`folder` of results")
	c.Flags().StringVar(&out, "out", "", "`file` to write (default RESULTS.md beside the folder of results)")
	return c
}

// report writes the page of the results below root, and the figures that are drawn for it.
func report(c *cobra.Command, root, out string) error {
	results, err := paper.ReadAll(root)
	if err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("%s has no results: ut experiment run makes them", root)
	}
	page := paper.Render(results, root, filepath.Dir(out))
	for file, drawing := range page.Figures {
		if err := atomicfile.Write(filepath.Join(root, file), drawing); err != nil {
			return err
		}
	}
	if err := atomicfile.Write(out, page.Bytes()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s, of %d results\n", out, len(results))
	return err
}
