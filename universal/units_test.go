package universal

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
)

// Sums of all coordinates of the numbers 0 to 19, each times a number of its own, of even, odd and very small widths: computed in Python from
// the formulas.
func TestCoordinatesEqualPython(t *testing.T) {
	for _, c := range []struct {
		kind  Coordinates
		width int
		want  float64
	}{
		{Sinusoidal{}, 1, -15.5210835392285},
		{Sinusoidal{}, 2, -4.89095483316753},
		{Sinusoidal{}, 3, 8.67879811223889},
		{Sinusoidal{}, 5, 1280.25479998466},
		{Sinusoidal{}, 8, 5259.43024185247},
		{Tensor2Tensor{}, 1, 0},
		{Tensor2Tensor{}, 2, -49.8887744886368},
		{Tensor2Tensor{}, 3, -75.0632501453669},
		{Tensor2Tensor{}, 5, 906.444096389727},
		{Tensor2Tensor{}, 8, 5351.73608971691},
		{Tensor2Tensor{Alternate: true}, 1, 0},
		{Tensor2Tensor{Alternate: true}, 2, -49.8887744886368},
		{Tensor2Tensor{Alternate: true}, 3, -75.0632501453669},
		{Tensor2Tensor{Alternate: true}, 5, 905.777972192053},
		{Tensor2Tensor{Alternate: true}, 8, 5302.27171265184},
	} {
		got := 0.0
		for n := range 20 {
			for channel := range c.width {
				got += float64(1+n*c.width+channel) * c.kind.At(n, channel, c.width)
			}
		}
		if !(math.Abs(got-c.want) < 1e-9) || c.kind.Validate() != nil {
			t.Errorf("%#v of width %d: %v, want %v", c.kind, c.width, got, c.want)
		}
	}
}

// Tokens are counted up to the last that is none of padding.
func TestTokensBeforePadding(t *testing.T) {
	for want, list := range map[int][][]int32{0: {nil, {0}, {0, 0}}, 1: {{3}, {1, 0, 0}}, 3: {{0, 0, 2}, {4, 0, 2, 0}}} {
		for _, ids := range list {
			if got := tokens(ids); got != want {
				t.Errorf("%v: %d tokens, want %d", ids, got, want)
			}
		}
	}
}

// Places are those of the longer of source and target, at least one; ids that share a position are one place.
func TestPlacesThatAreDrawnFor(t *testing.T) {
	for _, c := range []struct{ source, words, target, want int }{{3, 1, 2, 3}, {3, 1, 5, 5}, {4, 2, 1, 2}, {5, 2, 1, 3}, {6, 2, 1, 3}, {7, 3, 0, 3}, {0, 2, 0, 1}, {2, 0, 1, 2}, {9, 4, 2, 3}} {
		ids := func(n int) []int32 { return slices.Repeat([]int32{2}, n) }
		if got, err := (Draws{Positions: FromOne{}}).Draw(nil, ids(c.source), c.words, ids(c.target)); err != nil || !slices.Equal(got, oneTo(c.want)) {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// The channels of the numbers of a token: about an eighth, an even number, for the segment; the rest halved such that the second part is even.
func TestShares(t *testing.T) {
	for width, want := range map[int][3]int{8: {4, 2, 2}, 15: {7, 6, 2}, 16: {8, 6, 2}, 24: {12, 10, 2}, 32: {14, 14, 4}, 48: {22, 20, 6}, 100: {44, 44, 12}, 512: {224, 224, 64}} {
		if got := (BothEnds{}).shares(width); !slices.Equal(got, []share{{want[0], true}, {want[1], true}, {want[2], false}}) {
			t.Errorf("both ends, width %d: %v, want %v", width, got, want)
		}
		if got := (Restarting{}).shares(width); !slices.Equal(got, []share{{want[0] + want[1], true}, {want[2], false}}) {
			t.Errorf("restarting, width %d: %v", width, got)
		}
	}
	known := func(token string) (int32, bool) { return int32(len(token)), token != "?" }
	s := Segments{Separators: []string{"ab", "?", "cde"}}
	for range 2 { // resolving again changes nothing
		s = s.resolve(known)
		if !slices.Equal(s.ids, []int32{2, 3}) {
			t.Errorf("separators are %v", s.ids)
		}
	}
	for _, c := range []Counting{Restarting{Segments{Separators: s.Separators}}, BothEnds{Segments{Separators: s.Separators}}} {
		if got := c.Resolve(known).Highest([]int32{4, 4, 3, 2, 5, 1, 6}); got != 3 {
			t.Errorf("%T: the highest number is %d, want 3", c, got)
		}
	}
	for _, c := range []Counting{FromStart{}, FromEnd{}} {
		if c.Resolve(known) != c || c.Validate() != nil || c.Highest([]int32{4, 4, 3, 2, 5, 1, 6}) != map[Counting]int{FromStart{}: 7, FromEnd{}: 6}[c] {
			t.Errorf("%T counts otherwise", c)
		}
	}
}

// The tensors of the cache of each step: keys and values, and the windows of convolutions without the position itself.
func TestCacheShapes(t *testing.T) {
	f32 := func(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float32, dims...) }
	c := Config{SourceVocabulary: 9, TargetVocabulary: 7, Width: 6, Heads: 2, Halting: halting.Fixed{Steps: 2}, Transition: SeparableConvolution{Filter: 5, Widths: [2]int{1, 4}}}
	step := []shapes.Shape{f32(3, 2, 10, 3), f32(3, 2, 10, 3), f32(3, 3, 5)}
	m := EncoderDecoder{c}
	if got, want := m.CacheShapes(3, 10, 4), slices.Concat(step, step); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := (Decoder{c}).CacheShapes(3, 10, 0), slices.Concat(step, step); !reflect.DeepEqual(got, want) {
		t.Errorf("a language model: %v, want %v", got, want)
	}
	m.DecoderHalting = halting.Length{Max: 3}
	if got := len(m.CacheShapes(3, 10, 8)); got != 9 {
		t.Errorf("%d tensors for a decoder of 3 steps", got)
	}
	for i, want := range []int{2, 2, -1, 2, 2, -1} {
		if got := c.CacheCapacityAxis(i); got != want {
			t.Errorf("the capacity of tensor %d is axis %d, want %d", i, got, want)
		}
	}
	if c.Transition = (FeedForward{Filter: 5}); c.CacheCapacityAxis(2) != 2 || c.CacheCapacityAxis(3) != 2 {
		t.Error("a cache without windows has a tensor without capacity")
	}
	source := []shapes.Shape{shapes.Make(dtypes.Bool, 3, 8), f32(3, 2, 3, 8), f32(3, 2, 8, 3)}
	if got := (EncoderDecoder{c}).SourceCacheShapes(3, 8); !reflect.DeepEqual(got, source) {
		t.Errorf("of a source: %v, want %v", got, source)
	}
	c.UntiedLayers = true
	if got, want := (EncoderDecoder{c}).SourceCacheShapes(3, 8), append(source, source[1:]...); !reflect.DeepEqual(got, want) {
		t.Errorf("of a source, untied: %v, want %v", got, want)
	}
	if source, target := (EncoderDecoder{c}).Vocabularies(); source != 9 || target != 7 || (Decoder{c}).SourceCacheShapes(3, 8) != nil || (Decoder{c}).CheckSource(1e6) != nil {
		t.Errorf("vocabularies of %d and %d", source, target)
	}
	if source, target := (Decoder{c}).Vocabularies(); source != 0 || target != 7 || (Decoder{c}).CacheSource(nil, nil) != nil {
		t.Errorf("a language model has vocabularies of %d and %d", source, target)
	}
	for _, policies := range [][2]halting.Policy{{halting.Length{}, halting.Fixed{Steps: 1}}, {halting.Fixed{Steps: 1}, halting.Length{}}} {
		m := EncoderDecoder{Config{Halting: policies[0], DecoderHalting: policies[1]}}
		if m.CheckSource(halting.MaxSteps) != nil || m.CheckSource(halting.MaxSteps+1) == nil {
			t.Errorf("%T and %T: the bound of the source is not %d", policies[0], policies[1], halting.MaxSteps)
		}
	}
}

// Both ways to write into a tensor give what a loop gives, at any axis; rows of a source are repeated next to each other.
func TestWritesOfTheCache(t *testing.T) {
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, tensor, values, index *Node) []*Node {
		thin := SliceAxis(values, 1, AxisRange(0, 2))
		return []*Node{
			write(tensor, values, index, 1), writeByComparing(tensor, values, index, 1), writeByComparing(tensor, thin, index, 1),
			writeByComparing(tensor, SliceAxis(tensor, 0, AxisElem(1)), Sub(index, OnesLike(index)), 0), PerRow(values, 6), PerRow(values, 2),
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	base, part := [][]float32{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, [][]float32{{-1, -2, -3}, {-4, -5, -6}}
	out, err := exec.Call(base, part, int32(1))
	if err != nil {
		t.Fatal(err)
	}
	whole := []float32{1, -1, -2, -3, 5, 6, -4, -5, -6, 10}
	for i, want := range [][]float32{
		whole, whole, {1, -1, -2, 4, 5, 6, -4, -5, 9, 10}, {6, 7, 8, 9, 10, 6, 7, 8, 9, 10},
		{-1, -2, -3, -1, -2, -3, -1, -2, -3, -4, -5, -6, -4, -5, -6, -4, -5, -6}, {-1, -2, -3, -4, -5, -6},
	} {
		if got := tensors.MustCopyFlatData[float32](out[i]); !slices.Equal(got, want) {
			t.Errorf("case %d: %v, want %v", i, got, want)
		}
	}
}

// Token by token, a model with a cache gives the logits that it gives for whole targets: with and without convolutions, untied layers and
// normal halting, and a table of one channel that also reads out.
func TestStepsEqualWholeTargets(t *testing.T) {
	act := halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.05, Bias: -0.4}}
	for i, change := range []func(*Config){
		func(c *Config) { c.Halting = act }, func(c *Config) { c.Transition = SeparableConvolution{Filter: 5} },
		func(c *Config) { c.UntiedLayers, c.PreNorm = true, true }, func(c *Config) { c.EmbeddingWidth, c.TiedReadout, c.ScaleEmbedding = 1, true, true },
		func(c *Config) {
			c.Halting, c.Transition = halting.Length{}, SeparableConvolution{Filter: 5, Widths: [2]int{1, 3}}
		},
	} {
		c := Config{SourceVocabulary: 7, TargetVocabulary: 5, Width: 6, Heads: 2, Seed: 5, Precision: dtypes.Float64, Transition: FeedForward{Filter: 5}, Halting: halting.Fixed{Steps: 2}}
		change(&c)
		m := EncoderDecoder{c}
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, source, target *Node) []*Node {
			out := []*Node{m.Forward(scope, Inputs{Source: source, Target: target}, Options{}).Logits}
			pair := Concatenate([]*Node{SliceAxis(source, 0, AxisRange(0, 1)), SliceAxis(source, 0, AxisRange(2, 3))}, 0) // two rows each
			cache := &Cache{Source: m.CacheSource(scope, pair)}
			for _, s := range m.CacheShapes(4, 5, 3) {
				cache.Tensors = append(cache.Tensors, Zeros(source.Graph(), s))
			}
			read := ShiftWithScalar(target, 1, ShiftDirRight, 1, 0)
			for i, span := range [][2]int{{0, 2}, {2, 3}, {3, 4}} { // the first two at once
				cache.Length = Scalar(source.Graph(), dtypes.Int32, []int{0, 2, 3}[i])
				out = append(out, m.DecodeStep(scope, SliceAxis(read, 1, AxisRange(span[0], span[1])), cache))
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		target := [][]int32{{2, 4, 3, 1}, {4, 4, 2, 3}, {3, 2, 2, 4}, {2, 3, 4, 4}}
		out, err := exec.Call([][]int32{{3, 6, 2}, {3, 6, 2}, {5, 4, 0}, {5, 4, 0}}, target)
		if err != nil {
			t.Fatal(err)
		}
		whole := tensors.MustCopyFlatData[float64](out[0])
		for k, at := range []int{1, 2, 3} {
			got := tensors.MustCopyFlatData[float64](out[k+1])
			for row := range target {
				want := whole[(row*4+at)*5:][:5]
				for j, v := range got[row*5 : row*5+5] {
					if !(math.Abs(v-want[j]) < 1e-12) {
						t.Errorf("model %d, row %d, position %d: %v, want %v", i, row, at, got[row*5:row*5+5], fmt.Sprint(want))
						break
					}
				}
			}
		}
	}
}
