package bench

import (
	"testing"

	"universal-transformer/engine/enginetest"
)

// In decoding, a token costs what it costs: of one layer of width 1 with one token of source and answer, 6 products by weights of the stack
// below, 2 by keys and values of its own and 2 by those of the source, 2 of the transition, and 1 a word of the readout; the encoder costs 4, 2
// and 2, and the keys and values of the source 2. A beam reads its first token once a source.
// Caught when planted: a beam that reads its first token in every row; keys of all tokens at every step; fixed depth at adaptive depth.
func TestOperationsOfDecoding(t *testing.T) {
	for _, c := range []struct {
		length, beam int
		want         float64
	}{
		{1, 0, 2 * (4 + 2 + 2 + 2 + 6 + 2 + 2 + 2 + 5)},
		{3, 0, 2 * (3*(4+2*3+2+2) + 3*(6+2*2+2*3+2+5))},
		{3, 4, 2 * (3*(4+2*3+2+2) + 9*(6+2*2+2*3+2+5))},
	} {
		s := Shape{Width: 1, Filter: 1, Heads: 1, Steps: 1, Batch: 1, Length: c.length, Vocabulary: 5, Beam: c.beam}
		if got := s.flops("decode"); got != c.want {
			t.Errorf("length %d, beam %d: %v operations, want %v", c.length, c.beam, got, c.want)
		}
		for _, unknown := range []Shape{{Adaptive: true}, {Uncached: true}} {
			unknown.Width, unknown.Filter, unknown.Heads, unknown.Steps, unknown.Batch, unknown.Length, unknown.Vocabulary = 1, 1, 1, 1, 1, c.length, 5
			if got := unknown.flops("decode"); got != 0 {
				t.Errorf("%+v: %v operations, which are not known", unknown, got)
			}
		}
	}
}

// The operations of an encoder are known at fixed depth only. Caught when planted: those of fixed depth at adaptive depth.
func TestOperationsOfEncoding(t *testing.T) {
	for _, adaptive := range []bool{false, true} {
		s := Shape{Width: 8, Filter: 8, Heads: 2, Steps: 6, MaxSteps: 4, Batch: 2, Length: 5, Vocabulary: 9, Adaptive: adaptive, HaltingBias: 1}
		r, err := Run("encode", enginetest.Backend(t), s, 0, 1, nil)
		if err != nil || (r.GFlops > 0) == adaptive || (r.EncoderMeanUpdates > 0) != adaptive {
			t.Errorf("adaptive %v: %v GFLOP/s, %v steps, %v", adaptive, r.GFlops, r.EncoderMeanUpdates, err)
		}
	}
}

// Every work runs, and decoding has a cache unless it is to have none.
// Caught when planted: a beam of no rows for greedy decoding, which method.Search refuses.
func TestEveryWorkRuns(t *testing.T) {
	tiny := Shape{Width: 8, Filter: 8, Heads: 2, Steps: 2, MaxSteps: 3, Batch: 2, Length: 4, Vocabulary: 9}
	beam, uncached := tiny, tiny
	beam.Beam, uncached.Uncached = 3, true
	for _, c := range []struct {
		name, what string
		shape      Shape
		cache      bool
	}{
		{"train", "train", tiny, false}, {"act", "act", tiny, false}, {"encode", "encode", tiny, false},
		{"greedy", "decode", tiny, true}, {"beam", "decode", beam, true}, {"uncached", "decode", uncached, false},
	} {
		r, err := Run(c.what, enginetest.Backend(t), c.shape, 0, 1, nil)
		if err != nil || r.TokensPerSecond <= 0 || (r.CacheBytes > 0) != c.cache {
			t.Errorf("%s: %v tokens/s, %d bytes of cache, %v", c.name, r.TokensPerSecond, r.CacheBytes, err)
		}
	}
}
