package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/report"
)

func newReport() *cobra.Command {
	root, out := "", ""
	c := &cobra.Command{
		Use:   "report",
		Short: "Write the page of results, the paper's figures beside ours",
		Long: `report reads the results that ut experiment run left, and writes a page of them: table 1 and the
tables of appendix C with the paper's figures beside ours, ponder times, attention on supporting
facts, and the figures of single stories. What is missing says so. Figures go beside the results.`,
		Example: `  ut report
  ut report --results results    (the published ones)
  ut report --out page.md`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				out = filepath.Join(filepath.Dir(root), "RESULTS.md")
			}
			if _, err := os.Stat(root); err != nil {
				return fmt.Errorf("--results: %w: ut experiment run makes results", err)
			}
			results, err := report.ReadAll(root)
			if err != nil {
				return err
			}
			if err := report.Histograms(results, root); err != nil {
				return err
			}
			var page bytes.Buffer
			if err := report.Write(&page, results, root, filepath.Dir(out)); err != nil {
				return err
			}
			if err := atomicfile.Write(out, page.Bytes()); err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.OutOrStdout(), "%s, of %d results\n", out, len(results))
			return err
		},
	}
	c.Flags().StringVar(&root, "results", filepath.Join("runs", "results"), "`folder` of results")
	c.Flags().StringVar(&out, "out", "", "`file` to write (default RESULTS.md beside the folder of results)")
	return c
}
