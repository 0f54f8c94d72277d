package universal_test

import (
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/universal"
)

// The logits of position i are made of tokens before i: whatever stands from i on, they keep their bits, in float32 as in training,
// and those of the next position do not.
// Caught when planted: attention without causal mask, convolutions that look one position ahead, targets that are not shifted.
func TestDecoderIsCausal(t *testing.T) {
	source := [][]int32{{3, 6, 2, 5}, {4, 2, 0, 0}}
	target := [][]int32{{2, 4, 3, 3, 1}, {3, 4, 2, 1, 0}}
	for _, v := range variants(dtypes.Float32) {
		if !hasTarget(v.model) {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			x := newMachine(t, v.model)
			before := x.run(source, target)
			if !v.field {
				variety(t, before)
			}
			for i := range target[0] {
				changed := [][]int32{slices.Clone(target[0]), slices.Clone(target[1])}
				for _, row := range changed {
					for j := i; j < len(row); j++ {
						if row[j] != 0 { // the next token in 1..4: never padding, never the same
							row[j] = row[j]%4 + 1
						}
					}
				}
				logits := x.run(source, changed)["logits"]
				for row := range target {
					for j := range target[row] {
						size := len(logits) / (len(target) * len(target[row])) // of the vocabulary
						start := (row*len(target[row]) + j) * size
						same := slices.Equal(logits[start:start+size], before["logits"][start:start+size])
						switch {
						case j <= i && !same:
							t.Errorf("row %d: tokens from %d on change the logits at %d", row, i+1, j+1)
						case j == i+1 && same && target[row][j] != 0:
							t.Errorf("row %d: token %d does not change the logits at %d: the test sees nothing", row, i+1, j+1)
						}
					}
				}
			}
		})
	}
}

// Ending a target early turns what followed into padding. The positions before keep their bits.
// Caught when planted: a decoder whose depth is tied to its target instead of the source.
func TestShorterTargetKeepsItsBeginning(t *testing.T) {
	source := [][]int32{{3, 6, 2, 5}}
	full := []int32{2, 4, 3, 3, 1}
	for _, v := range variants(dtypes.Float32) {
		if !hasTarget(v.model) {
			continue
		}
		x := newMachine(t, v.model)
		want := x.run(source, [][]int32{full})
		for length := 1; length < len(full); length++ {
			got := x.run(source, rectangle([][]int32{full[:length]}, len(full)))
			for _, name := range []string{"logits", "decoder.state", "decoder.updates", "decoder.remainders"} {
				size := len(want[name]) / len(full)
				if !slices.Equal(got[name][:length*size], want[name][:length*size]) {
					t.Errorf("%s: cut to %d tokens, %s differ", v.name, length, name)
				}
			}
		}
	}
}

// A target token sees the whole source, and an encoder's position both sides of it.
// Caught when planted: a causal mask in the encoder, a decoder that does not attend to the source.
func TestEncoderSeesBothSides(t *testing.T) {
	for _, v := range variants(dtypes.Float32) {
		if !hasSource(v.model) {
			continue
		}
		x := newMachine(t, v.model)
		want := x.run([][]int32{{3, 6, 2, 5}}, [][]int32{{2, 1}})
		for i := range 4 {
			changed := []int32{3, 6, 2, 5}
			changed[i]--
			got := x.run([][]int32{changed}, [][]int32{{2, 1}})
			for _, name := range []string{"encoder.state", "logits"} {
				positions := map[bool]int{true: 4, false: 2}[name == "encoder.state"]
				if _, classes := v.model.(universal.Encoder); classes && name == "logits" {
					positions = 1
				}
				size := len(got[name]) / positions
				for j := range positions {
					if slices.Equal(got[name][j*size:(j+1)*size], want[name][j*size:(j+1)*size]) {
						t.Errorf("%s: source token %d does not reach %s at %d", v.name, i+1, name, j+1)
					}
				}
			}
		}
	}
}
