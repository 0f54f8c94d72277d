package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/parallel"
	"universal-transformer/runlog"
)

// versions is the JSON of version.
type versions struct {
	Version  string   `json:"version"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Backends []string `json:"backends"`
	Default  string   `json:"default_backend"`
	SIMD     bool     `json:"simd"`
	MPI      bool     `json:"mpi"`
	Ranks    int      `json:"ranks"`
	Refused  []string `json:"cpu_refuses"`
	Replayed []string `json:"cpu_replays"`
}

func newVersion() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and backends",
		Long: `version prints what this program is and was built with.

With --json: an object with the fields
  version          release, and commit where known
  go, platform     Go version; operating system/processor
  backends         names for --backend
  default_backend  the one that is taken without --backend
  simd             true if vector instructions were compiled in (GOEXPERIMENT=simd)
  mpi              true if MPI was compiled in (-tags mpi or mpich)
  ranks            processes that mpirun or the like has launched together
  cpu_refuses      operations that the backend cpu does not do
  cpu_replays      number types whose graphs it hands to the backend go`,
		Example: `  ut version
  ut version --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			v := thisVersion()
			rank, size, err := ranks()
			if v.Ranks = size; err != nil || rank != 0 {
				return err
			}
			if asJSON {
				return writeJSON(c.OutOrStdout(), v)
			}
			return v.print(c.OutOrStdout())
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// print writes what it is for people.
func (v versions) print(w io.Writer) error {
	compiled := func(is bool, how string) string {
		if is {
			return "compiled in"
		}
		return "not compiled in: build with " + how
	}
	_, err := fmt.Fprintf(w, "ut %s\n%s, %s\nbackends: %s (default %s)\nSIMD: %s\nMPI: %s; ranks: %d\ncpu does not do: %s\ncpu hands graphs of these types to go: %s\n",
		v.Version, v.Go, v.Platform, strings.Join(v.Backends, ", "), v.Default, compiled(v.SIMD, "GOEXPERIMENT=simd"), compiled(v.MPI, "-tags mpi"), v.Ranks,
		strings.Join(v.Refused, ", "), strings.Join(v.Replayed, ", "))
	return err
}

func thisVersion() versions {
	v := versions{
		Version: runlog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Backends: slices.Sorted(slices.Values(compute.List())), Default: engine.Default, MPI: parallel.WithMPI,
	}
	operations, types := cpu.Unsupported()
	for _, op := range operations {
		v.Refused = append(v.Refused, op.String())
	}
	for _, t := range types {
		v.Replayed = append(v.Replayed, t.String())
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "GOEXPERIMENT" && slices.Contains(strings.Split(s.Value, ","), "simd") {
				v.SIMD = true
			}
		}
	}
	return v
}
