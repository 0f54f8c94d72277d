package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/runlog"
)

// versions is the JSON of version.
type versions struct {
	Version  string          `json:"version"`
	Go       string          `json:"go"`
	Platform string          `json:"platform"`
	Backends []string        `json:"backends"`
	Default  string          `json:"default_backend"`
	SIMD     bool            `json:"simd"`
	BFloat16 string          `json:"cpu_bfloat16"`
	Refused  []string        `json:"cpu_refuses"`
	Replayed []string        `json:"cpu_replays"`
	Plugins  []engine.Plugin `json:"xla_plugins,omitempty"`
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
  cpu_bfloat16     kernels of --backend cpu:products=bf16 on this processor; empty if it has none
  cpu_refuses      operations that the backend cpu does not do
  cpu_replays      number types whose graphs it hands to the backend go
  xla_plugins      where XLA is compiled in (docs/accelerators.md): name, path, platform and
                   devices of each plugin that is found, and the problem if it cannot be used`,
		Example: `  ut version
  ut version --json`,
		Args: arguments(),
		RunE: func(c *cobra.Command, _ []string) error {
			v := thisVersion()
			if asJSON {
				return writeJSON(c.OutOrStdout(), v)
			}
			simd := "not compiled in: build with GOEXPERIMENT=simd"
			if v.SIMD {
				simd = "compiled in"
			}
			rounded := v.BFloat16
			if rounded == "" {
				rounded = "not on this processor, or not compiled in"
			}
			_, err := fmt.Fprintf(c.OutOrStdout(), "ut %s\n%s, %s\nbackends: %s (default %s)\nSIMD: %s\ncpu:products=bf16: %s\ncpu does not do: %s\ncpu hands graphs of these types to go: %s\n",
				v.Version, v.Go, v.Platform, strings.Join(v.Backends, ", "), v.Default, simd, rounded, strings.Join(v.Refused, ", "), strings.Join(v.Replayed, ", "))
			for _, p := range v.Plugins {
				fmt.Fprintln(c.OutOrStdout(), pluginLine(p))
			}
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

// pluginLine says what a plugin of XLA has.
func pluginLine(p engine.Plugin) string {
	if p.Problem != "" {
		return fmt.Sprintf("xla:%s: %s cannot be used: %s", p.Name, p.Path, p.Problem)
	}
	return fmt.Sprintf("xla:%s: %s, platform %s, devices: %s", p.Name, p.Path, p.Platform, strings.Join(p.Devices, ", "))
}

func thisVersion() versions {
	v := versions{
		Version: runlog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Backends: engine.Names(), Default: engine.Default, BFloat16: cpu.BFloat16(), Plugins: engine.Plugins(),
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
