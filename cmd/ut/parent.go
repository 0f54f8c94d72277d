package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// parent makes c a command that only has subcommands.
func parent(c *cobra.Command, below ...*cobra.Command) {
	var names []string
	for _, b := range below {
		names = append(names, b.Name())
	}
	c.AddCommand(below...)
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("subcommand missing: one of %s", strings.Join(names, ", "))
		}
		return fmt.Errorf("%q is none of %s", args[0], strings.Join(names, ", "))
	}
	c.RunE = func(*cobra.Command, []string) error { return nil }
}
