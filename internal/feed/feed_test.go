package feed_test

import (
	"reflect"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine/enginetest"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/feed"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// padded is a batch [3, M] and [3, N] of two examples.
func padded(t *testing.T, examples []task.Example, source, target int) batch.Batch {
	t.Helper()
	b, err := batch.Pad(examples, 3, source, target)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Tensors are the rows of the batch, padding included, with shapes [B, M], [B, N] and, for positions, [B, R]; a batch of a language model
// has no source. The values are written by hand.
// Caught when planted: source and target exchanged; lengths exchanged; rows of padding left out; positions of another shape.
func TestTensors(t *testing.T) {
	pairs := padded(t, []task.Example{{Source: []vocab.ID{4, 5}, Target: []vocab.ID{6, 7, 1}}, {Source: []vocab.ID{8}, Target: []vocab.ID{1}}}, 2, 4)
	texts := padded(t, []task.Example{{Target: []vocab.ID{6, 7}}, {Target: []vocab.ID{9}}}, 0, 2)
	source, target := [][]int32{{4, 5}, {8, 0}, {0, 0}}, [][]int32{{6, 7, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}}
	text := [][]int32{{6, 7}, {9, 0}, {0, 0}}
	positions := []int32{11, 12, 13, 14, 15, 16, 17, 18, 19}
	for name, c := range map[string]struct {
		batch     batch.Batch
		positions []int32
		want      []any
	}{
		"pairs":                {pairs, nil, []any{source, target}},
		"pairs with positions": {pairs, positions, []any{source, target, [][]int32{{11, 12, 13}, {14, 15, 16}, {17, 18, 19}}}},
		"text":                 {texts, nil, []any{text}},
		"text with positions":  {texts, positions[:3], []any{text, [][]int32{{11}, {12}, {13}}}},
	} {
		var got []any
		for _, x := range feed.Tensors(c.batch, c.positions) {
			got = append(got, x.(*tensors.Tensor).Value())
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Inputs gives back what Tensors listed, and the nodes after it: every input of a graph multiplied by a factor of its own arrives where it
// belongs.
// Caught when planted: positions taken before the target; a source where there is none; nodes that follow lost or given twice.
func TestInputsFindsWhatTensorsListed(t *testing.T) {
	pairs := padded(t, []task.Example{{Source: []vocab.ID{4, 5}, Target: []vocab.ID{6, 7, 1}}}, 2, 3)
	text := padded(t, []task.Example{{Target: []vocab.ID{6, 7, 1}}}, 0, 3)
	positions := []int32{1, 2, 3}
	for _, hasSource := range []bool{false, true} {
		for _, hasPositions := range []bool{false, true} {
			b, p := text, positions
			if hasSource {
				b = pairs
			}
			if !hasPositions {
				p = nil
			}
			var in universal.Inputs
			exec, err := NewExec(enginetest.Backend(t), func(nodes []*Node) []*Node {
				var rest []*Node
				in, rest = feed.Inputs(nodes, hasSource, hasPositions)
				if len(rest) != 2 || rest[0] != nodes[len(nodes)-2] || rest[1] != nodes[len(nodes)-1] {
					t.Errorf("source %v, positions %v: the nodes that follow are %v", hasSource, hasPositions, rest)
				}
				sum := MulScalar(ReduceAllSum(in.Target), 100)
				if in.Source != nil {
					sum = Add(sum, MulScalar(ReduceAllSum(in.Source), 10000))
				}
				if in.Positions != nil {
					sum = Add(sum, ReduceAllSum(in.Positions))
				}
				return []*Node{sum}
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Call(slices.Concat(feed.Tensors(b, p), []any{float32(0.5), float32(0.25)})...)
			if err != nil {
				t.Fatal(err)
			}
			want := int32(14 * 100) // 6 + 7 + 1
			if hasSource {
				want += 9 * 10000 // 4 + 5
			}
			if hasPositions {
				want += 6 // 1 + 2 + 3
			}
			if got := tensors.ToScalar[int32](out[0]); got != want || (in.Source != nil) != hasSource || (in.Positions != nil) != hasPositions {
				t.Errorf("source %v, positions %v: %d, want %d", hasSource, hasPositions, got, want)
			}
			exec.Finalize()
		}
	}
}
