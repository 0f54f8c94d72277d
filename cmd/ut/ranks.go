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

// onRanks makes a command that trains one of all ranks that mpirun or the like has launched: rank 0 does what is asked for, and alone reads
// and writes run directories and says anything; the others compute with it.
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
				return err // and leave: the launcher ends the others
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

// ranks is which of how many this process is.
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

// unsaid tells whether an error is one that every rank has, and rank 0 says. The others then end as if nothing had happened: a launcher that
// sees one fail ends the rest, before rank 0 has said it.
func unsaid(err error) bool {
	var wrong usageError
	var several *parallel.LaunchError
	rank, _ := parallel.Launched()
	return rank != 0 && (errors.As(err, &wrong) || errors.As(err, &several))
}
