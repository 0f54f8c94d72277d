package decoding

import (
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// smallest returns the smallest of increasing sizes that is at least n.
func smallest(sizes []int, n int) int {
	return sizes[slices.IndexFunc(sizes, func(size int) bool { return size >= n })]
}

// Lengths, rows and capacities are the first values of the series in their comments that suffice.
// Caught when planted: a larger step from 64 on; 12 rows for 9; 32 rows for 24; capacities of few graphs that start at 16.
func TestSizes(t *testing.T) {
	lengths := []int{8, 12, 16, 24, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 640, 768}
	rows := []int{1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768}
	many := []int{16, 32, 48, 80, 128, 192, 288, 432, 656, 992} // each half as much more, rounded up to a multiple of 16
	few := []int{64, 96, 144, 224, 336, 512, 768}
	for n := range 701 {
		if got, want := roundUp(n), smallest(lengths, n); got != want {
			t.Errorf("a length of %d becomes %d, want %d", n, got, want)
		}
		if got, want := Rows(n), smallest(rows, n); got != want {
			t.Errorf("%d rows become %d, want %d", n, got, want)
		}
		if got, want := (&Decoder{}).capacityFor(n), smallest(many, n); got != want {
			t.Errorf("the capacity for %d tokens is %d, want %d", n, got, want)
		}
		if got, want := (&Decoder{fewGraphs: true}).capacityFor(n), smallest(few, n); got != want {
			t.Errorf("the capacity for %d tokens with few graphs is %d, want %d", n, got, want)
		}
	}
}

// Without an argument answers take at most 1 GiB, and a quarter of the limit of the process, but at least a byte, as 0 means this default.
// Caught when planted: four times the limit.
func TestDefaultMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	for limit, want := range map[int64]int64{math.MaxInt64: 1 << 30, 8 << 30: 1 << 30, 4 << 30: 1 << 30, 4<<30 - 8: 1<<30 - 2, 2 << 30: 512 << 20, 3: 1} {
		debug.SetMemoryLimit(limit)
		if got := DefaultMemory(); got != want {
			t.Errorf("with a limit of %d bytes it is %d, want %d", limit, got, want)
		}
	}
}

// The estimate for a language model: its prompt and its answer are in the cache, 2 T S D numbers, and there is no source. The room for
// 9 + 24 tokens is 48.
func TestBytesOfLanguageModel(t *testing.T) {
	d := &Decoder{language: true, model: universal.Decoder{Config: universal.Config{
		TargetVocabulary: 10, Width: 8, Heads: 2, Transition: universal.FeedForward{Filter: 16}, Halting: halting.Fixed{Steps: 3},
	}}}
	if got, want := d.bytes(2, 3, 9, 24), 2.0*3*(4*2*3*48*8+(4+8)*10); got != want {
		t.Errorf("%v bytes, want %v", got, want)
	}
}

// The token at which the cumulative probability exceeds u, for tokens that are equally likely unless the case says otherwise: their sums
// are exact.
// Caught when planted: a token whose cumulative probability equals u; padding; top-p with one token more or less; a temperature that
// multiplies; probabilities that are all 0 when it is low.
func TestDraw(t *testing.T) {
	equal := []float64{5, 0, 0, 0, 0} // padding is never drawn, however likely
	nine := []float64{0, math.Log(1.0 / 9), 0, math.Inf(-1)}
	cold := Sampling{Temperature: 1e-3, TopP: 1} // exp(-1/0.001) is 0
	all := Sampling{Temperature: 1, TopP: 1}
	for _, c := range []struct {
		s    Sampling
		logP []float64
		u    float64
		want vocab.ID
	}{
		{all, equal, 0, 1}, {all, equal, 0.2499, 1}, {all, equal, 0.25, 2}, {all, equal, 0.5, 3}, {all, equal, 0.7499, 3}, {all, equal, 0.75, 4}, {all, equal, 0.9999, 4},
		{Sampling{Temperature: 1, TopP: 0.5}, equal, 0.9999, 2}, {Sampling{Temperature: 1, TopP: 0.5}, equal, 0.4999, 1},
		{Sampling{Temperature: 1, TopP: 0.51}, equal, 0.9999, 3}, {Sampling{Temperature: 1, TopP: 0.49}, equal, 0.9999, 2},
		{Sampling{Temperature: 1, TopP: 0.25}, equal, 0.9999, 1}, {Sampling{Temperature: 1, TopP: 1e-300}, equal, 0.9999, 1},
		{Sampling{Temperature: 1, TopP: 1, TopK: 1}, equal, 0.9999, 1}, {Sampling{Temperature: 1, TopP: 1, TopK: 3}, equal, 0.9999, 3},
		{Sampling{Temperature: 1, TopP: 1, TopK: 4}, equal, 0.9999, 4}, {Sampling{Temperature: 1, TopP: 1, TopK: 50}, equal, 0.9999, 4},
		{all, nine, 0.899, 2}, {all, nine, 0.901, 1}, {all, nine, 0.9999, 1}, // probabilities 0.1 and 0.9
		{Sampling{Temperature: 2, TopP: 1}, nine, 0.749, 2}, {Sampling{Temperature: 2, TopP: 1}, nine, 0.751, 1}, // 1/3 of it
		{Sampling{Temperature: 0.5, TopP: 1}, nine, 0.987, 2}, {Sampling{Temperature: 0.5, TopP: 1}, nine, 0.989, 1}, // 1/81 of it
		{cold, []float64{0, -1, -1.0005}, 0.62, 1}, {cold, []float64{0, -1, -1.0005}, 0.63, 2}, // 1/(1 + exp(-0.5)) is 0.6225
	} {
		if got := c.s.draw(c.logP, c.u); got != c.want {
			t.Errorf("%+v of %v at %v: token %d, want %d", c.s, c.logP, c.u, got, c.want)
		}
	}
}

// Values at the bounds are valid, those beyond are not.
func TestBoundsOfMethods(t *testing.T) {
	for _, c := range []struct {
		m    Method
		want string // of the error; "" for none
	}{
		{Method{}, ""}, {Method{Beam: Beam{Width: 1}}, ""}, {Method{Beam: Beam{Width: 1000, Alpha: 99.9}}, ""},
		{Method{Beam: Beam{Width: 1001}}, "beam width is 1001: it must be from 1 to 1000"}, {Method{Beam: Beam{Width: 2, Alpha: 100}}, "alpha is 100: it must be at least 0 and below 100"}, {Method{Beam: Beam{Width: 2, Alpha: math.Inf(1)}}, "alpha is +Inf: it must be at least 0 and below 100"},
		{Method{Sampling: Sampling{Temperature: 1e-9, TopP: 1}}, ""}, {Method{Sampling: Sampling{Temperature: 1, TopP: 1e-9}}, ""},
		{Method{Sampling: Sampling{Temperature: 1, TopP: 1, TopK: 1}}, ""}, {Method{Sampling: Sampling{TopP: 1}}, "temperature is 0: it must be positive"},
		{Method{Sampling: Sampling{Temperature: 1, TopP: 1, TopK: -1}}, "top-k is -1"}, {Method{Sampling: Sampling{Temperature: 1, TopP: 1.001}}, "top-p is 1.001"},
		{Method{Sampling: Sampling{Temperature: math.NaN(), TopP: 1}}, "temperature is NaN"}, {Method{Sampling: Sampling{Temperature: 1, TopP: math.NaN()}}, "top-p is NaN"},
	} {
		switch err := c.m.Validate(); {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v, want %q", c.m, err, c.want)
		}
	}
}

// script is a model whose rows all have the given probabilities of end and of the tokens after it, step by step; the last are repeated.
func script(steps ...[]float64) Next {
	at := 0
	return func(parents []int, _ []vocab.ID) (logP [][]float64, err error) {
		row := []float64{0}
		for _, p := range steps[min(at, len(steps)-1)] {
			row = append(row, math.Log(p))
		}
		at++
		for range parents {
			logP = append(logP, slices.Clone(row))
		}
		return logP, nil
	}
}

// Vocabularies with fewer tokens than the beam is wide: of end alone, and of one more token. All hypotheses are returned, the best first.
// Caught when planted: a search that ends while one hypothesis runs.
func TestBeamOfSmallVocabulary(t *testing.T) {
	search := func(next Next, limit int) []Hypothesis {
		found, err := Method{Beam: Beam{Width: 2}}.Search(t.Context(), Request{Limits: []int{limit}, Next: next})
		if err != nil {
			t.Fatal(err)
		}
		return append(found, found[0].Others...)
	}
	for _, h := range search(script([]float64{1}), 5) {
		if !slices.Equal(h.Tokens, []vocab.ID{1}) || h.LogProb != 0 || !h.Finished {
			t.Errorf("of end alone: %+v", h)
		}
	}
	got := search(script([]float64{0.1, 0.9}, []float64{0.2, 0.8}, []float64{0.75, 0.25}), 4)
	want := []Hypothesis{{Tokens: []vocab.ID{2, 2, 1}, LogProb: math.Log(0.9 * 0.8 * 0.75)}, {Tokens: []vocab.ID{2, 1}, LogProb: math.Log(0.9 * 0.2)}}
	if len(got) != len(want) {
		t.Fatalf("found %+v, want %+v", got, want)
	}
	for i, h := range got {
		if !slices.Equal(h.Tokens, want[i].Tokens) || math.Abs(h.LogProb-want[i].LogProb) > 1e-12 || !h.Finished {
			t.Errorf("found %+v, want %+v", h, want[i])
		}
	}
}

// Log-probabilities of fewer than two tokens are an error.
func TestCheckCounts(t *testing.T) {
	for n, want := range map[int]string{0: "decoding: 0 log-probabilities", 1: "decoding: 1 log-probabilities", 2: ""} {
		if err := checkRow(make([]float64, n)); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d log-probabilities: %v", n, err)
		}
	}
}

// The number of compiled graphs has no limit: GoMLX's own is 32. Caught when planted: the default left for each.
func TestGraphsWithoutLimit(t *testing.T) {
	config := universal.Config{TargetVocabulary: 4, Width: 2, Heads: 1, Transition: universal.FeedForward{Filter: 2}, Halting: halting.Fixed{Steps: 1}}
	d, err := New(enginetest.Backend(t), model.NewStore(), universal.Decoder{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for n := 1; n <= 33; n++ {
		rows := tensors.FromFlatDataAndDimensions(make([]float32, 2*n), n, 2)
		out, err := d.gather.Call(integers([]int{n - 1}), rows)
		if err != nil {
			t.Fatalf("the rows of %d: %v", n, err)
		}
		free(out...)
	}
	for n := 1; n <= 33; n++ {
		shape := d.model.CacheShapes(n, 16, 0)[0]
		out, err := d.grow.Call(tensors.FromShape(shape))
		if err != nil {
			t.Fatalf("a cache of %d rows: %v", n, err)
		}
		if got := out[0].Shape().Dimensions[d.model.CacheCapacityAxis(0)]; got != 32 {
			t.Fatalf("16 grow to %d, want 32", got)
		}
		free(out...)
	}
}

// Estimates end for the largest limit that there is, and are more than any memory.
// Caught when planted: a capacity that overflows, which takes forever.
func TestMemoryOfTheLargestLimit(t *testing.T) {
	m := universal.Decoder{Config: universal.Config{TargetVocabulary: 5, Width: 4, Heads: 1, Transition: universal.FeedForward{Filter: 4}, Halting: halting.Fixed{Steps: 1}}}
	d, err := New(enginetest.Backend(t), model.NewStore(), m)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if bytes := d.Memory(1, 1, 3, math.MaxInt); !(bytes > 1<<30 && bytes < 1<<50) {
		t.Errorf("%v bytes", bytes)
	}
}
