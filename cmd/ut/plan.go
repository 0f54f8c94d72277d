package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/internal/progress"
	"universal-transformer/internal/quantity"
	"universal-transformer/pipeline"
	"universal-transformer/training/schedule"
)

const planHelp = `plan estimates the cost of training a recipe in advance: parameters, memory, operations, and
the time of all its updates on this machine and others. Nothing is written.

Operations are the multiplications and additions of matrix products, forward and backward, for a
typical batch (the median by positions of the first 32). For adaptive models they assume that every
position runs all steps, which is an upper bound. Memory is for the largest of these batches, with
activations as planned by the cpu backend. It leaves out the runtime and compiled graphs, the data,
batches of other shapes, validation, and the copy of parameters and moments that is made for each
checkpoint. The process needs more, small models about twice as much: give a container a higher
limit.

Updates are timed for --seconds on this machine, with fewer rows if a whole batch would take too
long (the estimate is then rather too high). --flops gives the estimate for a machine that sustains
that many operations per second: 2e11 is two server cores, 5e12 64 cores, 1e14 and more a GPU.
--ranks divides the batches of an update (training.accumulate) among that many machines, which
exchange gradients at --network bits per second without overlapping computation. Validation is not
included.

Without data, --vocabulary and --length describe them; for translation the configuration gives the
number of subwords.

With --json: an object with the fields experiment, model, adaptive, assumed (vocabulary, length;
where the data were not read), rows, source_positions, target_positions (of the typical batch),
batches_per_update, updates, parameters, model_bytes, optimizer_bytes, work_bytes,
operations_per_update, ranks, exchange_seconds (of an update), exchange_bytes (of each rank), and
measured and stated, each with machine, operations_per_second, updates_per_second, seconds (of all
updates), and measured_updates, measured_rows, measured_seconds, which it comes from.`

// planFlags holds the flags of ut plan.
type planFlags struct {
	pipeline.EstimateOptions
	config, backend string
	sets            []string
	seconds         float64
	asJSON          bool
}

func newPlan() *cobra.Command {
	var f planFlags
	c := &cobra.Command{
		Use:   "plan RECIPE",
		Short: "Estimate the cost of training a recipe: parameters, memory, operations, time",
		Long:  planHelp,
		Example: `  ut plan demo
  ut plan translation-paper/wmt14 --flops 5e12
  ut plan own-translation --set task.training='[{"pairs": "mine.tsv"}]'
  ut plan own-pairs --set task.path=pairs.tsv --vocabulary 8000 --length 24 --set model.width=512
  ut plan translation-paper/wmt14 --flops 5e12 --ranks 8 --network 1e10 --seconds 0
  ut plan demo --backend xla:cpu`,
		Args: func(*cobra.Command, []string) error { return nil },
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c, args); err != nil {
				return err
			}
			return interruptible(c.Context(), func() error { return f.run(c, append(args, "")[0]) })
		},
	}
	c.Flags().StringVar(&f.config, "config", "", "plan the configuration in this `file` instead of a recipe")
	c.Flags().Float64Var(&f.seconds, "seconds", 5, "how long to measure, in seconds; 0: do not measure")
	c.Flags().Float64Var(&f.FLOPS, "flops", 0, "operations per second of another machine, as in 5e12")
	c.Flags().IntVar(&f.Ranks, "ranks", 1, "machines that share the batches of an update")
	c.Flags().Float64Var(&f.Network, "network", 1e10, "bits per second between ranks")
	c.Flags().IntVar(&f.Vocabulary, "vocabulary", 0, "do not read data; assume a vocabulary of `N` tokens")
	c.Flags().IntVar(&f.Length, "length", 0, "do not read data; assume sources and targets of `N` tokens")
	setFlag(c, &f.sets)
	backendFlag(c, &f.backend)
	jsonFlag(c, &f.asJSON)
	return c
}

// maxMeasurement limits --seconds.
const maxMeasurement = 3600

// check rejects invalid flags.
func (f *planFlags) check(c *cobra.Command, args []string) error {
	if err := oneRecipe(args, f.config, "nothing to plan: name a RECIPE (ut list shows them) or a --config file"); err != nil {
		return err
	}
	if !(f.seconds >= 0 && f.seconds <= maxMeasurement) {
		return usagef("--seconds is %v: it must be from 0 to %d", f.seconds, maxMeasurement)
	}
	for _, name := range []string{"flops", "network"} {
		if v, _ := c.Flags().GetFloat64(name); c.Flags().Changed(name) && !(v > 0 && v <= math.MaxFloat64) {
			return usagef("--%s is %v: it must be positive and finite", name, v)
		}
	}
	for _, name := range []string{"ranks", "vocabulary", "length"} {
		if err := atLeastOne(c, name); err != nil {
			return err
		}
	}
	f.Measure = time.Duration(f.seconds * float64(time.Second))
	return nil
}

// run prints the estimate.
func (f *planFlags) run(c *cobra.Command, name string) error {
	r, err := configured(name, f.config, f.sets)
	if err != nil {
		return err
	}
	for _, line := range r.Remarks(f.sets...) {
		c.PrintErrln("ut: note:", line)
	}
	return using(f.backend, func(backend compute.Backend) error {
		e, err := f.estimate(c, backend, r)
		switch {
		case err != nil:
			return err
		case f.asJSON:
			return writeJSON(c.OutOrStdout(), e)
		}
		return printPlan(c.OutOrStdout(), e, r.Training.Stop != (schedule.Stop{}))
	})
}

// estimate computes the estimate, with progress on the standard error.
func (f *planFlags) estimate(c *cobra.Command, backend compute.Backend, r experiment.Run) (pipeline.Estimate, error) {
	if f.Measure > 0 && engine.CompilesSlowly(backend) {
		c.PrintErrf("compiling on %s, which may take minutes\n", backend.Name())
	}
	var line *progress.Progress
	f.Progress = func(elapsed, whole time.Duration) {
		if line == nil {
			line = progress.New(c.ErrOrStderr(), int64(whole.Seconds()), "second")
		}
		line.Update(int64(min(elapsed, whole).Seconds()))
	}
	f.Log = lineWriter(c)
	e, err := pipeline.NewEstimate(c.Context(), backend, r, f.EstimateOptions)
	if line != nil {
		line.Done()
	}
	var option *pipeline.OptionError
	if errors.As(err, &option) {
		err = fmt.Errorf("--%w", option)
	}
	return e, err
}

// printPlan writes the estimate as text. Training that may end early takes at most that.
func printPlan(w io.Writer, e pipeline.Estimate, early bool) error {
	say := func(what, format string, args ...any) error {
		_, err := fmt.Fprintf(w, "%-11s %s\n", what, fmt.Sprintf(format, args...))
		return err
	}
	depth, upTo := "", ""
	if early {
		upTo = "at most "
	}
	if e.Adaptive {
		depth = ", if all positions run all steps"
	}
	_ = say("experiment", "%s: %s", e.Experiment, e.Model)
	if e.Assumed != nil {
		_ = say("data", "not read; assumed: %s tokens, sequences of %d (--vocabulary, --length)", thousands(e.Assumed.Vocabulary), e.Assumed.Length)
	}
	_ = say("a batch", "%d rows of %d source and %d target positions; %s an update, %s%s updates", e.Rows, e.Source, e.Target, quantity.Of(e.Batches, "batch", "batches"), upTo, thousands(int(e.Updates)))
	_ = say("parameters", "%s", thousands(e.Parameters))
	exchanged := ""
	if e.Ranks > 1 {
		exchanged = ", exchange with other ranks " + bytesOf(e.ExchangeBytes)
	}
	_ = say("memory", "%s: parameters %s, optimizer %s, activations and gradients %s%s", bytesOf(e.ModelBytes+e.OptimizerBytes+e.WorkBytes+e.ExchangeBytes),
		bytesOf(e.ModelBytes), bytesOf(e.OptimizerBytes), bytesOf(e.WorkBytes), exchanged)
	err := say("operations", "%.3g an update, %.3g in all%s", e.Operations, e.Operations*float64(e.Updates), depth)
	ranks := ""
	if e.Ranks > 1 {
		ranks = fmt.Sprintf(", %d ranks of which each sends for %.2g s an update", e.Ranks, e.ExchangeSeconds)
	}
	if s := e.Measured; s != nil {
		err = say("here", "%s%s, %s; measured with %d updates of %d rows in %.1f s%s", upTo, speedOf(s), s.Machine, s.MeasuredUpdates, s.MeasuredRows, s.MeasuredSeconds, ranks)
	}
	if s := e.Stated; s != nil {
		err = say("there", "%s%s%s", upTo, speedOf(s), ranks)
	}
	return err
}

// speedOf formats a speed.
func speedOf(s *pipeline.Speed) string {
	return fmt.Sprintf("%s in all: %.3g updates a second at %.3g operations a second", longTime(s.Seconds), s.UpdatesPerSecond, s.OperationsPerSecond)
}

// bytesOf formats a size in MiB or GiB.
func bytesOf(n int) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// longTime formats a time in seconds, minutes, hours or days.
func longTime(seconds float64) string {
	switch hours := seconds / 3600; {
	case hours >= 48:
		return fmt.Sprintf("%.1f days", hours/24)
	case hours >= 2:
		return fmt.Sprintf("%.1f hours", hours)
	}
	return minutes(seconds)
}
