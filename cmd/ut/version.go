package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/engine"
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
  simd             true if vector instructions were compiled in (GOEXPERIMENT=simd)`,
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
			_, err := fmt.Fprintf(c.OutOrStdout(), "ut %s\n%s, %s\nbackends: %s (default %s)\nSIMD: %s\n",
				v.Version, v.Go, v.Platform, strings.Join(v.Backends, ", "), v.Default, simd)
			return err
		},
	}
	jsonFlag(c, &asJSON)
	return c
}

func thisVersion() versions {
	v := versions{
		Version: runlog.Version(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Backends: slices.Sorted(slices.Values(compute.List())), Default: engine.Default,
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
