package universal_test

import (
	"fmt"
	"slices"
	"testing"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Transforming only selected positions also gives what all give with convolutions, whose windows reach over halted positions and over
// the ends of the list. The steps have to select some positions that halted, and leave out others.
// Caught when planted: only running positions selected; halted ones whose states change; a causal window taken for a centred one.
func TestSelectedPositionsReachNeighbours(t *testing.T) {
	source, target := [][]int32{nil, {2, 5, 5, 1, 6, 3, 4, 1}, nil}, [][]int32{nil, {3, 1, 4, 4, 2, 1, 1, 2, 4}, nil}
	for i := range 31 {
		source[0], target[0] = append(source[0], int32(1+i*i%6)), append(target[0], int32(1+i*i*i%4))
		source[2], target[2] = append(source[2], int32(1+i%17/3)), append(target[2], int32(1+i%13/4))
	}
	source, target = rectangle(source, 31), rectangle(target, 31)
	for _, c := range []struct {
		widths  [2]int
		preNorm bool
		dropout universal.Dropout
	}{{widths: [2]int{3, 1}, preNorm: true}, {widths: [2]int{2, 4}}, {widths: [2]int{3, 5}, dropout: universal.Dropout{Attention: 0.3, Transition: 0.25}}} {
		config := small()
		config.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Bias: 0.2, Epsilon: 0.01}}
		config.Transition, config.PreNorm, config.Dropout = universal.SeparableConvolution{Filter: 9, Widths: c.widths}, c.preNorm, c.dropout
		v := variant{fmt.Sprintf("widths %d", c.widths), universal.EncoderDecoder{Config: config}}
		compareSelected(t, v, source, target, 1e-9, []int{0, 3})
		got := measure(t, newMachine(t, v.model), stackCapacities{}, source, target)
		for _, stack := range []string{"encoder", "decoder"} {
			var running, computed []int
			for step, demand := range got.demand[stack+".demand"] {
				running, computed = append(running, 0), append(computed, int(demand[0]))
				for _, n := range got.values[stack+".updates"] {
					if int(n) > step {
						running[step]++
					}
				}
			}
			if !slices.ContainsFunc(computed, func(n int) bool { i := slices.Index(computed, n); return n > running[i] && n < running[0] }) {
				t.Errorf("%s, %s: %d positions run, %d are computed, so that nothing is compared", v.name, stack, running, computed)
			}
		}
	}
}
