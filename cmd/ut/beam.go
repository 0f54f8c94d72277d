package main

import (
	"github.com/spf13/cobra"
	"universal-transformer/decoding"
)

// defaultAlpha is the authors' length penalty.
const defaultAlpha = 0.6

// beamHelp describes beam search and when it stops.
const beamHelp = `--beam N keeps the N most probable unfinished answers and the N best finished ones. An answer of n
tokens, its end included, has the score log p / ((5 + n) / 6)^alpha (Wu et al., 2016): --alpha 0
compares probabilities, larger values favour longer answers. The search ends at the maximum length,
or as soon as no unfinished answer can reach the score of the best finished one, even at the maximum
length. The best finished answer wins; if there is none, the best unfinished one. --beam 1 is greedy
decoding.`

// lengthHelp describes the maximum length of answers.
const lengthHelp = `An answer to a source of n tokens has at most 4n + 50 tokens, or as many as the longest training
target if that is more; for translations 2n + 10; for copy, reverse, addition and memory tasks
five quarters of the longest correct answer plus 10; for language models 200. Decoding and
evaluation have the same limit, whatever the reference is. --max-length N sets another.`

// beamFlags adds --beam and --alpha.
func beamFlags(c *cobra.Command, beam *decoding.Beam) {
	c.Flags().IntVar(&beam.Width, "beam", 0, "beam search of this `width`; 1 or no beam: greedy decoding")
	c.Flags().Float64Var(&beam.Alpha, "alpha", defaultAlpha, "exponent of the length penalty ((5 + tokens) / 6)^alpha, 0 for none")
}

// checkBeam validates --beam and rejects --alpha without it.
func checkBeam(c *cobra.Command, beam *decoding.Beam) error {
	if c.Flags().Changed("beam") {
		return beamUsage(*beam)
	}
	if c.Flags().Changed("alpha") {
		return usagef("--alpha is for beam search: give --beam too")
	}
	*beam = decoding.Beam{}
	return nil
}

// beamUsage validates a beam. Its errors name the flags.
func beamUsage(b decoding.Beam) error {
	err := b.Validate()
	switch {
	case err == nil:
		return nil
	case b.Width < 1 || b.Width > decoding.MaxWidth:
		return usagef("--beam is %d: it must be from 1 to %d", b.Width, decoding.MaxWidth)
	}
	return usagef("--%w", err) // which begins with "alpha" or "n-best"
}
