package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/runlog"
)

// versions is the JSON of ut version.
type versions struct {
	Version  string          `json:"version"`
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Backends []string        `json:"backends"`
	Default  string          `json:"default_backend"`
	Kernels  string          `json:"cpu_kernels"`
	MPI      bool            `json:"mpi"`
	Ranks    int             `json:"ranks"`
	BFloat16 string          `json:"cpu_bfloat16"`
	Int8     string          `json:"cpu_int8"`
	Refused  []string        `json:"cpu_refuses"`
	Replayed []string        `json:"cpu_replays"`
	Plugins  []engine.Plugin `json:"xla_plugins,omitempty"`
}

func newVersion() *cobra.Command {
	asJSON := false
	c := &cobra.Command{
		Use:   "version",
		Short: "Print version, Go version and backends",
		Long: `version prints the program's version, how it was built, and the backends of this machine.

With --json: an object with the fields
  version          release, and commit where known
  go, platform     Go version; operating system/processor
  backends         names for --backend
  default_backend  the backend used without --backend
  cpu_kernels      kernels of --backend cpu on this processor: avx512, avx2, neon, or
                   scalar, which is plain loops
  mpi              true if MPI was compiled in (-tags mpi or mpich)
  ranks            number of processes that mpirun or a similar launcher has started
  cpu_bfloat16     kernels of --backend cpu:products=bf16 on this processor; empty if it has none
  cpu_int8         the same of --backend cpu:products=int8, for inference
  cpu_refuses      operations that the backend cpu does not support
  cpu_replays      number types whose graphs it runs on the backend go
  xla_plugins      if XLA is compiled in (docs/accelerators.md): name, path, platform and devices of
                   each plugin, or the problem of one that cannot be used`,
		Example: `  ut version
  ut version --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			v := thisVersion()
			rank, size, err := ranks(c)
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

// print writes the version as text.
func (v versions) print(w io.Writer) error {
	compiled := func(ok bool, how string) string {
		if ok {
			return "compiled in"
		}
		return "not compiled in: build with " + how
	}
	for _, line := range []string{
		"ut " + v.Version, v.Go + ", " + v.Platform,
		fmt.Sprintf("backends: %s (default %s)", strings.Join(v.Backends, ", "), v.Default),
		"kernels of cpu: " + v.Kernels,
		"cpu:products=bf16: " + cmp.Or(v.BFloat16, "not on this processor, or not compiled in"),
		"cpu:products=int8: " + cmp.Or(v.Int8, "not on this processor, or not compiled in"),
		fmt.Sprintf("MPI: %s; ranks: %d", compiled(v.MPI, "-tags mpi"), v.Ranks),
		"cpu does not support: " + strings.Join(v.Refused, ", "),
		"cpu runs graphs with these operations or types on go: " + strings.Join(v.Replayed, ", "),
	} {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	for _, p := range v.Plugins {
		if _, err := fmt.Fprintln(w, pluginLine(p)); err != nil {
			return err
		}
	}
	return nil
}

// pluginLine describes an XLA plugin.
func pluginLine(p engine.Plugin) string {
	if p.Problem != "" {
		return fmt.Sprintf("xla:%s: %s cannot be used: %s", p.Name, p.Path, p.Problem)
	}
	return fmt.Sprintf("xla:%s: %s, platform %s, devices: %s", p.Name, p.Path, p.Platform, strings.Join(p.Devices, ", "))
}

func thisVersion() versions {
	v := versions{
		Version: runlog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Backends: engine.Names(), Default: engine.Default, Kernels: cpu.Kernels(), BFloat16: cpu.BFloat16(), Int8: cpu.Int8(), MPI: parallel.WithMPI, Plugins: engine.Plugins(),
	}
	for _, op := range cpu.Replayed() {
		v.Replayed = append(v.Replayed, op.String())
	}
	operations, types := cpu.Unsupported()
	for _, op := range operations {
		v.Refused = append(v.Refused, op.String())
	}
	for _, t := range types {
		v.Replayed = append(v.Replayed, t.String())
	}
	return v
}
