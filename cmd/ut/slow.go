package main

import (
	"sync"
	"time"

	"github.com/spf13/cobra"
)

// slow is the time after which work that cannot say how much is left says how long it has taken, and stillEvery that between such lines.
const (
	slow       = 2 * time.Second
	stillEvery = 10 * time.Second
)

// sayingTime wraps a command whose work cannot say how much of it is left: it says how long that has taken.
func sayingTime(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		clock := time.NewTicker(slow)
		defer clock.Stop()
		ended := make(chan struct{})
		var said sync.WaitGroup
		said.Go(func() {
			for start := time.Now(); ; {
				select {
				case <-ended:
					return
				case now := <-clock.C:
					clock.Reset(stillEvery)
					c.PrintErrf("computing: %s so far\n", now.Sub(start).Round(time.Second))
				}
			}
		})
		defer said.Wait()
		defer close(ended)
		return run(c, args)
	}
}
