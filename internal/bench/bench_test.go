package bench

import (
	"testing"

	"universal-transformer/engine/enginetest"
)

// The operations of an encoder are known at fixed depth only. Caught when planted: those of fixed depth at adaptive depth.
func TestOperationsOfEncoding(t *testing.T) {
	for _, adaptive := range []bool{false, true} {
		s := Shape{Width: 8, Filter: 8, Heads: 2, Steps: 6, MaxSteps: 4, Batch: 2, Length: 5, Vocabulary: 9, Adaptive: adaptive, HaltingBias: 1}
		r, err := Run("encode", enginetest.Backend(t), s, 0, 1)
		if err != nil || (r.GFlops > 0) == adaptive || (r.EncoderMeanUpdates > 0) != adaptive {
			t.Errorf("adaptive %v: %v GFLOP/s, %v steps, %v", adaptive, r.GFlops, r.EncoderMeanUpdates, err)
		}
	}
}
