package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

func newExport() *cobra.Command {
	var run string
	c := &cobra.Command{
		Use:   "export RUN",
		Short: "Write weights and configuration for other programs",
		Long: `export writes the best checkpoint's parameters as model.safetensors, a config.json with the
configuration and its vocabularies and, for subwords, tokenizer.json to the folder export of the run
directory. It prints that path. docs/weights.md has every formula, docs/weights.py reads an export
with NumPy.

With --run: a new run directory with the weights, the configuration and the vocabularies only. It is
smaller, needs no data, and works with decode, translate, answer, classify, score and trace;
training cannot be resumed from it.`,
		Example: `  ut export runs/reverse
  ut export runs/reverse --run models/reverse`,
		Args: arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			return usingModel(c, args[0], "", func(t *pipeline.Model) error {
				path, err := run, error(nil)
				if run != "" {
					err = t.ExportRun(run)
				} else {
					path, err = t.Export()
				}
				if err == nil {
					_, err = fmt.Fprintln(c.OutOrStdout(), path)
				}
				return err
			})
		},
	}
	c.Flags().StringVar(&run, "run", "", "write a run `directory` that holds the weights only")
	return c
}
