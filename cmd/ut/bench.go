package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/halting"
	"universal-transformer/internal/bench"
	"universal-transformer/internal/progress"
)

// benchFlags holds the flags of ut bench.
type benchFlags struct {
	shape                   bench.Shape
	repeat, warmup, threads int
	backend                 string
}

func newBench() *cobra.Command {
	f := benchFlags{shape: bench.Default}
	c := &cobra.Command{
		Use:   "bench WHAT",
		Short: "Measure how fast a backend does the model's work",
		Long: `bench times a piece of the model's work and prints one line of JSON. WHAT is one of

  train    one update: forward, backward, Adam; encoder-decoder of fixed depth
  act      the same with adaptive halting, at most --max-steps
  encode   encoder inference
  decode   decoding of --length tokens, greedy or with --beam, with a KV cache; with --uncached, the
           model reruns on the source and the whole prefix for every token, as published
  gemm     the product of two matrices of 1024 by 1024
  peak     multiplications of operands in the first cache, on all threads: no product is faster

Source and target have --length tokens each; there is no dropout; the precision is float32. The
fields are what, backend, threads, args (the shape), seconds (median of --repeat runs),
tokens_per_second (target tokens, or source tokens when encoding), gflops (what the
mathematics needs in matrix products, where that is known), cache_bytes (of decoding, when it ends)
and, at adaptive depth, encoder_mean_updates and decoder_mean_updates (the mean steps of a position,
in each of which its state is updated), the same of the planned capacity (encoder_planned_updates,
decoder_planned_updates) and overflows, executions that were repeated.`,
		Example: `  ut bench train
  ut bench train --width 512 --filter 2048 --batch 8 --length 128
  ut bench decode --batch 1 --length 400
  ut bench decode --beam 4 --width 256 --heads 4 --vocabulary 5000 --length 30
  ut bench gemm --backend go`,
		Args: arguments("WHAT"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	for _, flag := range []struct {
		value      *int
		name, text string
	}{
		{&f.shape.Width, "width", "channels of a state"}, {&f.shape.Filter, "filter", "channels inside the transition"},
		{&f.shape.Heads, "heads", "attention heads"}, {&f.shape.Steps, "steps", "steps at fixed depth"},
		{&f.shape.MaxSteps, "max-steps", "maximum number of steps at adaptive depth"}, {&f.shape.Batch, "batch", "sequences of a batch"},
		{&f.shape.Length, "length", "tokens of a sequence"}, {&f.shape.Vocabulary, "vocabulary", "tokens of the vocabulary"},
	} {
		c.Flags().IntVar(flag.value, flag.name, *flag.value, flag.text)
	}
	c.Flags().BoolVar(&f.shape.Convolution, "convolution", false, "transition by separable convolutions of 3 and 5 positions")
	c.Flags().Float64Var(&f.shape.HaltingBias, "halting-bias", 0, "initial bias of the halting unit")
	c.Flags().BoolVar(&f.shape.Adaptive, "adaptive", false, "encode at adaptive depth")
	c.Flags().BoolVar(&f.shape.Masked, "masked", false, "at adaptive depth, compute halted positions too")
	c.Flags().BoolVar(&f.shape.Uncached, "uncached", false, "decode without a cache: run the model over the source and the whole prefix for every token")
	c.Flags().IntVar(&f.shape.Beam, "beam", 0, "decode by beam search of this `width`; without it, greedily")
	c.Flags().IntVar(&f.repeat, "repeat", 10, "timed runs")
	c.Flags().IntVar(&f.warmup, "warmup", 3, "runs before the timed ones")
	c.Flags().IntVar(&f.threads, "threads", 0, "processors to use; 0: all")
	backendFlag(c, &f.backend)
	return c
}

func (f benchFlags) run(c *cobra.Command, what string) error {
	for _, name := range []string{"width", "filter", "heads", "steps", "max-steps", "batch", "length", "vocabulary", "repeat"} {
		if err := between(c, name, 1<<20); err != nil {
			return err
		}
	}
	for _, name := range []string{"steps", "max-steps"} {
		if err := between(c, name, halting.MaxSteps); err != nil {
			return err
		}
	}
	if err := between(c, "beam", decoding.MaxWidth); err != nil {
		return err
	}
	for name, limit := range map[string]int{"warmup": 1 << 20, "threads": maxThreads} {
		if n, _ := c.Flags().GetInt(name); n < 0 || n > limit {
			return usagef("--%s is %d: it must be from 0 to %d", name, n, limit)
		}
	}
	if err := f.shape.Validate(); err != nil {
		return usagef("--%w", err)
	}
	if f.threads > 0 {
		runtime.GOMAXPROCS(f.threads)
	}
	return interruptible(c.Context(), func() error { return f.time(c, what) })
}

// maxThreads is the largest number of processors that can be asked for. With very many, the Go runtime no longer reacts to signals.
const maxThreads = 4096

// time runs the benchmark and prints the result.
func (f benchFlags) time(c *cobra.Command, what string) error {
	return using(f.backend, func(backend compute.Backend) error {
		line := progress.New(c.ErrOrStderr(), int64(f.warmup+f.repeat), "run")
		result, err := bench.Run(what, backend, f.shape, f.warmup, f.repeat, func(runs int) { line.Update(int64(runs)) })
		line.Done()
		if err != nil {
			return err
		}
		result.Backend, result.Threads = f.backend, runtime.GOMAXPROCS(0)
		if result.Backend == "" {
			result.Backend = engine.Default
		}
		text, err := json.Marshal(result)
		if err == nil {
			_, err = fmt.Fprintln(c.OutOrStdout(), strings.TrimSpace(string(text)))
		}
		return err
	})
}
