package main

import (
	"cmp"

	"github.com/spf13/cobra"
	"universal-transformer/decoding"
	"universal-transformer/pipeline"
)

// answeringFlags holds the flags of ut decode that control how a line is answered.
type answeringFlags struct {
	pipeline.DecodeOptions
	sample bool
	form   structuredFlags
	exit   exitFlags
}

func (f *answeringFlags) add(c *cobra.Command) {
	beamFlags(c, &f.Beam)
	c.Flags().BoolVar(&f.sample, "sample", false, "draw each token from the model's distribution")
	c.Flags().Float64Var(&f.Sampling.Temperature, "temperature", 1, "with --sample: values below 1 favour probable tokens")
	c.Flags().IntVar(&f.Sampling.TopK, "top-k", 0, "with --sample: choose from the `K` most probable tokens; 0: all")
	c.Flags().Float64Var(&f.Sampling.TopP, "top-p", 1, "with --sample: choose from the most probable tokens whose probabilities sum to this value")
	c.Flags().Uint64Var(&f.Seed, "seed", 1, "with --sample: the same seed gives the same text")
	c.Flags().IntVar(&f.MaxLength, "max-length", 0, "end answers after `N` tokens; 0: as described above")
	c.Flags().IntVar(&f.MaxSource, "max-source", pipeline.DefaultMaxSource, "reject sources of more than `N` tokens")
	f.exit.add(c)
	f.form.add(c)
}

// check rejects combinations of flags that contradict each other.
func (f *answeringFlags) check(c *cobra.Command) error {
	if err := checkBeam(c, &f.Beam); err != nil {
		return err
	}
	if !f.sample {
		for _, name := range []string{"temperature", "top-k", "top-p", "seed"} {
			if c.Flags().Changed(name) {
				return usagef("--%s is for sampling: give --sample too", name)
			}
		}
		f.Sampling = decoding.Sampling{}
	} else if f.Beam.Width > 0 {
		return usagef("--beam and --sample are both given: choose one")
	} else if err := f.Sampling.Validate(); err != nil {
		return usagef("--%w", err)
	}
	if err := checkLengths(c, f.MaxLength); err != nil {
		return err
	}
	return cmp.Or(f.exit.check(c), f.form.check(c, &f.DecodeOptions))
}

// checkLengths rejects lengths out of range. --max-length 0 is the default.
func checkLengths(c *cobra.Command, maxLength int) error {
	if maxLength < 0 || maxLength > pipeline.MaxTokens {
		return usagef("--max-length is %d: give 1 to %d, or 0 for the default", maxLength, pipeline.MaxTokens)
	}
	return between(c, "max-source", pipeline.MaxTokens)
}

// atLeastOne returns an error if the integer flag is set to less than 1.
func atLeastOne(c *cobra.Command, name string) error {
	if n, _ := c.Flags().GetInt(name); c.Flags().Changed(name) && n < 1 {
		return usagef("--%s is %d: it must be at least 1", name, n)
	}
	return nil
}

// between returns an error if the integer flag is set to less than 1 or more than limit.
func between(c *cobra.Command, name string, limit int) error {
	if n, _ := c.Flags().GetInt(name); n > limit {
		return usagef("--%s is %d: it must be at most %d", name, n, limit)
	}
	return atLeastOne(c, name)
}
