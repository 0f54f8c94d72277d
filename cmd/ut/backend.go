package main

import (
	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/engine"
	"universal-transformer/pipeline"
)

// backendFlag adds --backend.
func backendFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", "", "compute `name`, one of those that ut version lists; XLA with a plugin, as xla:cpu (default \""+engine.Default+"\")")
}

// using makes a backend and closes it when work is done.
func using(name string, work func(compute.Backend) error) error {
	return usingDevices(name, 1, work)
}

// usingDevices is using, with several devices of a backend.
func usingDevices(name string, devices int, work func(compute.Backend) error) error {
	backend, err := engine.NewWithDevices(name, devices)
	if err != nil {
		return err
	}
	defer backend.Finalize()
	return work(backend)
}

// usingModel loads the best checkpoint of a run, and says what a reader should know about its checkpoints.
func usingModel(c *cobra.Command, dir, backendName string, work func(*pipeline.Model) error) error {
	return usingLoaded(c, pipeline.Load, dir, backendName, work)
}

// usingLoaded is usingModel, with the checkpoint that load takes.
func usingLoaded(c *cobra.Command, load func(string, compute.Backend) (*pipeline.Model, error), dir, backendName string, work func(*pipeline.Model) error) error {
	return interruptible(c.Context(), func() error {
		return using(backendName, func(backend compute.Backend) error {
			m, err := load(dir, backend)
			if err != nil {
				return err
			}
			for _, note := range m.Notes {
				c.PrintErrln("ut: passed over", note)
			}
			defer m.Close()
			return work(m)
		})
	})
}
