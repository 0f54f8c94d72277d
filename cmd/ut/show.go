package main

import "github.com/spf13/cobra"

func newShow() *cobra.Command {
	var sets []string
	c := &cobra.Command{
		Use:   "show RECIPE",
		Short: "Print the complete configuration of a recipe",
		Long:  `show prints every field of a recipe as JSON, in the form that ut train --config reads.`,
		Example: `  ut show algorithmic/reverse
  ut show algorithmic/reverse --set model.width=64 --set model.heads=2 > mine.json
  ut train --config mine.json`,
		Args: arguments("RECIPE"),
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
