package main

import (
	"github.com/spf13/cobra"
	"universal-transformer/decoding"
)

// defaultAlpha is the authors' length penalty.
const defaultAlpha = 0.6

// beamFlags adds --beam and --alpha.
func beamFlags(c *cobra.Command, beam *decoding.Beam) {
	c.Flags().IntVar(&beam.Width, "beam", 0, "beam search of this `width`; without it, greedy decoding")
	c.Flags().Float64Var(&beam.Alpha, "alpha", defaultAlpha, "length penalty of beam search, 0 for none")
}

// checkBeam validates --beam and rejects --alpha without it.
func checkBeam(c *cobra.Command, beam *decoding.Beam) error {
	if c.Flags().Changed("beam") {
		if err := beam.Validate(); err != nil {
			return usageError{err}
		}
		return nil
	}
	if c.Flags().Changed("alpha") {
		return usagef("--alpha is for beam search: give --beam too")
	}
	*beam = decoding.Beam{}
	return nil
}
