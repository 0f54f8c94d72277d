package decoding_test

import (
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// neighbour is a transition that also reads the position a number of places away, as another module could define it.
type neighbour struct{ away int }

func (n neighbour) Apply(scope *model.Scope, x *Node, c universal.TransitionContext) *Node {
	if length := x.Shape().Dimensions[1]; length > 1 {
		first, last := SliceAxis(x, 1, AxisElem(0)), SliceAxis(x, 1, AxisElem(length-1))
		moved := Concatenate([]*Node{SliceAxis(x, 1, AxisRange(1)), last}, 1)
		if n.away < 0 {
			moved = Concatenate([]*Node{first, SliceAxis(x, 1, AxisRange(0, length-1))}, 1)
		}
		x = Concatenate([]*Node{x, moved}, -1)
	} else {
		x = Concatenate([]*Node{x, x}, -1)
	}
	return c.Weights.Affine(scope, "weight", x, x.Shape().Dimensions[2]/2)
}

func (neighbour) CacheWindows(int) []universal.Window { return nil }
func (neighbour) Validate() error                     { return nil }

// Transitions that look ahead or behind without a window are told from those that do not. Caught when planted: a comparison of nothing but
// the first token, which neither changes.
func TestCheckCacheFindsPositionsThatDecodingLacks(t *testing.T) {
	config := universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Positions: universal.FromOne{}, Halting: halting.Fixed{Steps: 2},
	}
	for _, away := range []int{1, -1} {
		config.Transition = neighbour{away}
		for name, m := range map[string]decoding.Model{"encoder-decoder": universal.EncoderDecoder{Config: config}, "language model": universal.Decoder{Config: config}} {
			err := decoding.CheckCache(enginetest.Backend(t), m, 1)
			if err == nil || !strings.Contains(err.Error(), "of an answer has the log-probability") {
				t.Errorf("%s, %d places away: %v", name, away, err)
			}
		}
	}
}

// The models of this module pass.
func TestCheckCachePasses(t *testing.T) {
	for name, c := range pairedModels(dtypes.Float32) {
		for kind, m := range map[string]decoding.Model{"encoder-decoder": universal.EncoderDecoder{Config: c}, "language model": universal.Decoder{Config: c}} {
			if _, tied := c.Halting.(halting.Length); tied && kind == "language model" || c.Counting != nil && kind == "language model" {
				continue
			}
			if err := decoding.CheckCache(enginetest.Backend(t), m, 1); err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
		}
	}
}
