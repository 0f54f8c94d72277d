package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/internal/strictjson"
)

// parent makes c a command that only has subcommands.
func parent(c *cobra.Command, below ...*cobra.Command) {
	c.AddCommand(below...)
	onlyBelow(c, below...)
}

// onlyBelow makes it an error to call c without one of its subcommands.
func onlyBelow(c *cobra.Command, below ...*cobra.Command) {
	var names []string
	for _, b := range below {
		names = append(names, b.Name())
	}
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fmt.Errorf("subcommand missing: one of %s", strings.Join(names, ", "))
		}
		if near, ok := strictjson.Nearest(args[0], names); ok {
			return fmt.Errorf("%q is not known: did you mean %q?", args[0], near)
		}
		return fmt.Errorf("%q is none of %s", args[0], strings.Join(names, ", "))
	}
	c.RunE = func(*cobra.Command, []string) error { return nil }
}
