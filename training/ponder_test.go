package training

import (
	"strings"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/universal"
)

// A model whose positions all halt at once, or never before the limit, is warned of once, at the second validation in a row.
// Caught when planted: a warning at every validation, at the first one, of models of fixed depth, of a stack that is not there.
func TestWarnsOfPonderTimes(t *testing.T) {
	adaptive := halting.Frozen{ACT: halting.ACT{MaxSteps: 4}}
	tally := func(encoder, decoder float64) objective.Tally {
		return objective.Tally{EncoderUpdates: 10 * encoder, EncoderPositions: 10, DecoderUpdates: 5 * decoder, DecoderPositions: 5}
	}
	noDecoder := tally(2, 0)
	noDecoder.DecoderPositions = 0
	for name, c := range map[string]struct {
		policy halting.Policy
		seen   []objective.Tally
		want   string
	}{
		"halts at once":       {adaptive, []objective.Tally{tally(2, 1.05), tally(2, 1), tally(2, 1)}, "the decoder runs 1.00 steps per position"},
		"never halts":         {adaptive, []objective.Tally{tally(3.95, 2), tally(4, 2)}, "the encoder runs 4.00 of 4 steps per position"},
		"once only":           {adaptive, []objective.Tally{tally(1, 2), tally(2, 2), tally(1, 2)}, ""},
		"well":                {adaptive, []objective.Tally{tally(2, 1.2), tally(2, 1.2)}, ""},
		"without a decoder":   {adaptive, []objective.Tally{noDecoder, noDecoder}, ""},
		"of fixed depth":      {halting.Fixed{Steps: 4}, []objective.Tally{tally(4, 4), tally(4, 4)}, ""},
		"with one step alone": {halting.Frozen{ACT: halting.ACT{MaxSteps: 1}}, []objective.Tally{tally(1, 1), tally(1, 1)}, ""},
	} {
		var said []string
		tr := &Trainer{Model: universal.EncoderDecoder{Config: universal.Config{Halting: c.policy}}, Notify: func(line string) { said = append(said, line) }}
		for _, seen := range c.seen {
			tr.warnOfPonder(seen)
		}
		switch {
		case c.want == "" && len(said) > 0, c.want != "" && (len(said) != 1 || !strings.HasPrefix(said[0], "warning: "+c.want)):
			t.Errorf("%s: said %q, want %q", name, said, c.want)
		}
	}
}
