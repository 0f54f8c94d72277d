package main

import (
	"cmp"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/cpu"
	"universal-transformer/engine"
	"universal-transformer/internal/parallel"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
)

// backendFlag adds --backend.
func backendFlag(c *cobra.Command, name *string) {
	c.Flags().StringVar(name, "backend", "", "`name` of the compute backend, as ut version lists them; for XLA with the plugin, as in xla:cpu (default \""+engine.Default+"\")")
}

// checkBackend returns an error unless the name of a backend is valid, for commands that read data before they open it.
func checkBackend(name string) error { return engine.CheckName(cmp.Or(name, engine.Default)) }

// warnOfThreads says if a backend has more threads than this process may use processors, or the ranks of this host together than the host
// has: each operation then waits for threads that do not run. A launcher that binds ranks gives each a part of the host's processors. Ranks
// with one thread each cannot have fewer, and whoever starts more of them than there are processors has told the launcher so.
func warnOfThreads(c *cobra.Command, backend string, processors, host, local int) {
	if rank, _ := parallel.Launched(); rank != 0 {
		return
	}
	n := engine.Threads(backend)
	if kind, _, _ := strings.Cut(cmp.Or(backend, engine.Default), ":"); n == 0 && kind == cpu.BackendName {
		n = processors
	}
	switch {
	case n > processors:
		c.PrintErrf("ut: --backend %s has %d threads for %s: more threads than processors make it slower\n", backend, n, quantity.Of(processors, "processor", "processors"))
	case local > 1 && n > 1 && n*local > host:
		c.PrintErrf("ut: %d ranks on this host with %d threads each have more threads than its %s, which makes them slower: give --backend fewer, as in cpu:threads=%d\n",
			local, n, quantity.Of(host, "processor", "processors"), max(1, host/local))
	}
}

// trainingBackend opens a backend that can train.
func trainingBackend(name string) (compute.Backend, error) {
	backend, err := engine.New(name)
	if err != nil {
		return nil, err
	}
	if err := engine.CheckTraining(backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}

// checkTraining opens and closes the backend of a command that reads data before it trains, unless that is XLA, which takes long to open.
func checkTraining(name string) error {
	if engine.Threads(cmp.Or(name, engine.Default)) == 0 {
		return nil
	}
	backend, err := trainingBackend(name)
	if err == nil {
		backend.Finalize()
	}
	return err
}

// using opens a backend, calls work and closes the backend.
func using(name string, work func(compute.Backend) error) error {
	return usingDevices(name, 1, work)
}

// usingDevices is like using, with a backend of several devices.
func usingDevices(name string, devices int, work func(compute.Backend) error) error {
	backend, err := engine.NewWithDevices(name, devices)
	if err != nil {
		return err
	}
	defer backend.Finalize()
	return work(backend)
}

// usingModel calls work with the best checkpoint of a run. It prints the model's notes, such as checkpoints that cannot be used.
func usingModel(c *cobra.Command, dir, backendName string, work func(*pipeline.Model) error) error {
	return usingLoaded(c, pipeline.Load, dir, backendName, work)
}

// usingLoaded is like usingModel, with the checkpoint that load selects.
func usingLoaded(c *cobra.Command, load func(string, compute.Backend) (*pipeline.Model, error), dir, backendName string, work func(*pipeline.Model) error) error {
	return interruptible(c.Context(), func() error {
		return using(backendName, func(backend compute.Backend) error {
			m, err := load(dir, backend)
			if err != nil {
				return err
			}
			for _, note := range m.Notes {
				c.PrintErrln("ut: note:", note)
			}
			defer m.Close()
			return work(m)
		})
	})
}
