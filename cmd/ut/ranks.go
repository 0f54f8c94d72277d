package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/provenance"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// onRanks runs a training command on all ranks that mpirun or a similar launcher has started. Rank 0 runs the command: it alone reads and
// writes run directories and prints. The other ranks only compute with it.
func onRanks(backend *string, lead func(c *cobra.Command, args []string, group *parallel.Group) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		group, err := joined(c)
		if err != nil {
			return err
		}
		if group == nil {
			return nil // rank 0 reports why
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

// joined returns the group of the ranks that were started with this command, all of the same program. If they differ, rank 0 gets the
// error, and the other ranks nil and no error: a launcher that sees a rank fail ends the rest, before rank 0 has printed it.
func joined(c *cobra.Command) (*parallel.Group, error) {
	group, err := parallel.Join(func(line string) { c.PrintErrln("ut:", line) })
	if separate := (*parallel.SeparateError)(nil); errors.As(err, &separate) {
		err = fmt.Errorf("%w: start them with srun --mpi=pmix, or use a build without MPI to train them independently", err)
	}
	if err != nil || group.Size() == 1 {
		return group, err
	}
	own, err := traits(c, os.Args[1:])
	if err = group.Agree(err); err == nil {
		var notes []string
		notes, err = group.Introduce(own)
		for _, note := range notes {
			if group.Rank() == 0 {
				c.PrintErrln("ut: note:", note)
			}
		}
	}
	var known *parallel.RankError
	if !errors.As(err, &known) {
		return group, err
	}
	if broken := group.Close(); broken != nil || group.Rank() == 0 {
		return nil, errors.Join(err, broken)
	}
	return nil, nil
}

// traits describes this process to the other ranks: what it runs, by which program, on which processor.
func traits(c *cobra.Command, args []string) ([]parallel.Trait, error) {
	program, err := programDigest()
	if err != nil {
		return nil, fmt.Errorf("the program cannot be compared with that of other ranks: %w", err)
	}
	line := sha256.Sum256([]byte(strings.Join(args, "\x00")))
	const same = "copy one binary to all hosts"
	return []parallel.Trait{
		{Name: "command", Value: c.CommandPath(), Fix: "start the same command on all ranks"},
		{Name: "version", Value: runlog.Version(), Fix: same},
		{Name: "program's SHA-256", Value: program, Fix: same},
		{Name: "processor's kernels", Value: cpu.Kernels(), Fix: "use hosts with the same kind of processor, because sums depend on the kernels"},
		{Name: "processor", Value: provenance.CPU(), Fix: "the first update checks that both compute the same", Noted: true},
		{Name: "command line", Value: hex.EncodeToString(line[:]), Fix: "that of rank 0 counts, except for --backend", Noted: true},
	}, nil
}

// programDigest returns the beginning of the SHA-256 of the running program, also if its file has been replaced since it started.
func programDigest() (string, error) {
	file, err := os.Open("/proc/self/exe")
	if err != nil { // not Linux
		path, err := os.Executable()
		if err != nil {
			return "", err
		}
		if file, err = os.Open(path); err != nil {
			return "", err
		}
	}
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	return hex.EncodeToString(sum.Sum(nil)[:8]), err
}

// ranks returns the rank of this process and the number of ranks. It is an error if not all of them run this command.
func ranks(c *cobra.Command) (rank, size int, err error) {
	if !parallel.WithMPI {
		rank, size = parallel.Launched()
		return rank, size, nil
	}
	rank, _ = parallel.Launched()
	group, err := joined(c)
	if err != nil || group == nil {
		return rank, 0, err
	}
	return group.Rank(), group.Size(), group.Close()
}
