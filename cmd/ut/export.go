package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"universal-transformer/pipeline"
)

func newExport() *cobra.Command {
	return &cobra.Command{
		Use:   "export RUN",
		Short: "Write weights and configuration for other programs",
		Long: `export writes the best checkpoint's parameters as model.safetensors, and a config.json with the
configuration and its vocabularies, to the folder export of the run directory. It prints that path.`,
		Example: `  ut export runs/reverse`,
		Args:    arguments("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			return usingModel(c, args[0], "", func(t *pipeline.Model) error {
				path, err := t.Export()
				if err == nil {
					_, err = fmt.Fprintln(c.OutOrStdout(), path)
				}
				return err
			})
		},
	}
}
