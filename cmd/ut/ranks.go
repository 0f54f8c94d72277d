package main

import (
	"errors"
	"io"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/pipeline"
)

// onRanks runs a training command on all ranks that mpirun or a similar launcher has started. Rank 0 runs the command: it alone reads and
// writes run directories and prints. The other ranks only compute with it.
func onRanks(backend *string, lead func(c *cobra.Command, args []string, group *parallel.Group) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		group, err := parallel.Join()
		if err != nil {
			return err
		}
		if group.Rank() != 0 {
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			if err := pipeline.Assist(c.Context(), func() (compute.Backend, error) { return engine.New(*backend) }, group); err != nil {
				return err // the launcher ends the other ranks
			}
			return group.Close()
		}
		err = lead(c, args, group)
		if broken := pipeline.Release(group); broken != nil {
			return errors.Join(err, broken)
		}
		return errors.Join(err, group.Close())
	}
}

// ranks returns the rank of this process and the number of ranks.
func ranks() (rank, size int, err error) {
	if !parallel.WithMPI {
		rank, size = parallel.Launched()
		return rank, size, nil
	}
	group, err := parallel.Join()
	if err != nil {
		return 0, 0, err
	}
	return group.Rank(), group.Size(), group.Close()
}

// silent reports whether an error is one that all ranks have and rank 0 prints. The other ranks then exit with code 0, because a launcher
// that sees a rank fail ends the rest, before rank 0 has printed the error.
func silent(err error) bool {
	var wrong usageError
	var several *parallel.LaunchError
	rank, _ := parallel.Launched()
	return rank != 0 && (errors.As(err, &wrong) || errors.As(err, &several))
}
