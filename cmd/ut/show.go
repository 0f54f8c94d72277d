package main

import "github.com/spf13/cobra"

func newShow() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "show EXPERIMENT",
		Short: "Print the complete configuration of an experiment",
		Long: `show prints every field of an experiment as JSON, in the form that train --config reads. Save it,
edit it, train it.`,
		Example: `  ut show reverse
  ut show reverse --set model.width=64 --set model.heads=2 > mine.json
  ut train --config mine.json`,
		Args: arguments("EXPERIMENT"),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := configured(args[0], "", sets)
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(r.Complete())
			return err
		},
	}
	setFlag(c, &sets)
	return c
}
