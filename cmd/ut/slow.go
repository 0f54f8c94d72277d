package main

import (
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/internal/elapsed"
)

// sayingTime wraps a command whose work cannot say how much of it is left: it says how long that has taken.
func sayingTime(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		stop := elapsed.Report(func(d time.Duration) { c.PrintErrf("computing: %s so far\n", d) })
		defer stop()
		return run(c, args)
	}
}
