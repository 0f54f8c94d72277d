package universal_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// The error that rounded products leave in the states of an encoder hardly grows with the number of steps if their weights are tied: after 24
// steps it is less than twice that after 2, with initial weights, width 128, 8 heads, a transition of 512, and 8 sequences of 50 tokens. -v prints
// the root of the sum of its squares, relative to the states in float32, also with norms first and for layers with weights of their own.
// Caught when planted: rows of int8 with one scale for all.
func TestRoundingHardlyCompounds(t *testing.T) {
	bounds := map[string]float64{"bf16": 0.006, "int8": 0.018} // after 2 steps
	for _, products := range []string{"bf16", "int8"} {
		backend, err := engine.New("cpu:products=" + products)
		if err != nil {
			if !strings.Contains(err.Error(), "needs a processor") {
				t.Fatal(err)
			}
			t.Logf("%s: %v", products, err)
			continue
		}
		backend.Finalize()
		for _, untied := range []bool{false, true} {
			for _, preNorm := range []bool{false, true} {
				errors := map[int]float64{}
				line := fmt.Sprintf("%s, untied %t, norms first %t:", products, untied, preNorm)
				for _, steps := range []int{1, 2, 4, 8, 12, 24} {
					exact := encodedStates(t, "cpu", steps, untied, preNorm)
					var off, length float64
					for i, x := range encodedStates(t, "cpu:products="+products, steps, untied, preNorm) {
						d, v := float64(x-exact[i]), float64(exact[i])
						off, length = off+d*d, length+v*v
					}
					errors[steps] = math.Sqrt(off / length)
					line += fmt.Sprintf(" %.4f", errors[steps])
				}
				t.Log(line)
				if errors[2] == 0 || errors[2] > bounds[products] {
					t.Errorf("%s after 2 steps: want at most %v, and not 0", line, bounds[products])
				}
				if !untied && !(errors[24] < 2*errors[2]) {
					t.Errorf("%s want less than twice the error of 2 steps after 24", line)
				}
			}
		}
	}
}

// encodedStates returns the states of an encoder after its last step.
func encodedStates(t *testing.T, name string, steps int, untied, preNorm bool) []float32 {
	t.Helper()
	backend, err := engine.New(name)
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	m := universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 100, TargetVocabulary: 100, Width: 128, Heads: 8, Transition: universal.FeedForward{Filter: 512},
		Halting: halting.Fixed{Steps: steps}, UntiedLayers: untied, PreNorm: preNorm, Seed: 3,
	}}
	rng := rand.New(rand.NewPCG(1, 2))
	ids := make([]int32, 8*50)
	for i := range ids {
		ids[i] = 2 + rng.Int32N(98)
	}
	exec, err := model.NewExec(backend, model.NewStore(), func(scope *model.Scope, source *Node) *Node {
		memory, _ := m.Encode(scope, universal.Inputs{Source: source, Target: source}, universal.Options{})
		return memory.State
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	return tensors.MustCopyFlatData[float32](exec.MustCall(tensors.FromFlatDataAndDimensions(ids, 8, 50))[0])
}
