package main

import "github.com/spf13/cobra"

// lineWriter returns a function that writes lines to the standard error of a command.
func lineWriter(c *cobra.Command) func(line string) {
	return func(line string) { c.PrintErrln(line) }
}
