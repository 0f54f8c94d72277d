package decoding

import (
	"fmt"
	"math"
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

// tiny is a decoder of the smallest language model, or encoder-decoder.
func tiny(t *testing.T, language bool) *Decoder {
	t.Helper()
	var m Model
	config := universal.Config{SourceVocabulary: 7, TargetVocabulary: 5, Width: 2, Heads: 1, Seed: 3, Transition: universal.FeedForward{Filter: 2}, Halting: halting.Fixed{Steps: 1}}
	if m = (universal.EncoderDecoder{Config: config}); language {
		m = universal.Decoder{Config: config}
	}
	d, err := New(enginetest.Backend(t), model.NewStore(), m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// There is room for what is expected after the prompts, but for no more than 32 tokens. Caught when planted: no limit; no prompts.
func TestRoomOfExpectedAnswers(t *testing.T) {
	for _, c := range []struct{ prompt, expected, capacity int }{{3, 0, 16}, {3, 13, 16}, {3, 14, 32}, {3, 29, 32}, {3, 1000, 48}, {40, 1, 48}, {40, 1000, 80}} {
		prompt := slices.Repeat([]vocab.ID{2}, c.prompt)
		batch, err := tiny(t, true).Start([][]vocab.ID{prompt})
		if err != nil {
			t.Fatal(err)
		}
		batch.Expect(c.expected)
		if _, err := batch.Next([]int{0}, nil); err != nil {
			t.Fatal(err)
		}
		if batch.capacity != c.capacity {
			t.Errorf("a prompt of %d tokens, %d expected: room for %d, want %d", c.prompt, c.expected, batch.capacity, c.capacity)
		}
		batch.Close()
	}
}

// Where rows go, step by step: to the slot of their parent, or to a free one of the same source; into new tensors if a source needs
// more slots or fewer sources are left. Tensors whose rows hold numbers show what was copied.
// Caught when planted: a used slot taken for free; rows of another source; a copy that overwrites a row before it is read.
func TestRowsAndSlots(t *testing.T) {
	type want struct {
		slots, sources []int
		perSource      int
		rows           []int32 // of each new row
	}
	for _, way := range []string{"shared", "not shared", "few graphs"} {
		d := tiny(t, true)
		d.shared, d.fewGraphs = way != "not shared", way == "few graphs"
		c := &Cached{d: d, sources: []int{0, 1, 2, 2}, perSource: 1, slots: []int{0, 1, 2, 3}, length: 2}
		c.cache = []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]int32{10, -10, 11, -11, 12, -12, 13, -13}, 4, 1, 2, 1)}
		c.source = []*tensors.Tensor{tensors.FromValue([]int32{100, 101, 102, 103})}
		places := []int{0, 1, 2, 2}
		for i, step := range []struct {
			parents []int
			want    want
			few     want
		}{
			{[]int{0, 1, 2}, want{[]int{0, 1, 2}, places, 1, []int32{10, 11, 12}}, want{[]int{0, 1, 2}, places, 1, []int32{10, 11, 12}}},
			{[]int{0, 0, 1, 2}, want{[]int{0, 1, 2, 4}, places, 2, []int32{10, 10, 11, 12}}, want{[]int{0, 1, 2, 4}, places, 2, []int32{10, 10, 11, 12}}},
			{[]int{1, 1, 3}, want{[]int{0, 1, 2}, []int{0, 2}, 2, []int32{10, 10, 12}}, want{[]int{1, 0, 4}, places, 2, []int32{10, 10, 12}}},
			{[]int{1, 0, 2}, want{[]int{1, 0, 2}, []int{0, 2}, 2, []int32{10, 10, 12}}, want{[]int{0, 1, 4}, places, 2, []int32{10, 10, 12}}},
			{[]int{2, 2}, want{[]int{0, 1}, []int{2}, 2, []int32{12, 12}}, want{[]int{4, 5}, places, 2, []int32{12, 12}}},
			{[]int{1}, want{[]int{0}, []int{2}, 1, []int32{12}}, want{[]int{5}, places, 2, []int32{12}}},
		} {
			if err := c.reorder(step.parents); err != nil {
				t.Fatal(err)
			}
			want := step.want
			switch {
			case way == "few graphs":
				want = step.few
			case i == 5: // one row of two suffices, but no other graph is needed
				want.perSource, want.slots = 2, []int{1}
			}
			if !slices.Equal(c.slots, want.slots) || !slices.Equal(c.sources, want.sources) || c.perSource != want.perSource {
				t.Errorf("%s, step %d: slots %v of sources %v with %d rows each, want %+v", way, i, c.slots, c.sources, c.perSource, want)
				break
			}
			all, sources := tensors.MustCopyFlatData[int32](c.cache[0]), tensors.MustCopyFlatData[int32](c.source[0])
			if len(all) != 2*c.rows() || len(sources) != len(c.sources) {
				t.Fatalf("%s, step %d: %d rows of %d sources", way, i, len(all)/2, len(sources))
			}
			for r, slot := range c.slots {
				if all[2*slot] != want.rows[r] || all[2*slot+1] != -want.rows[r] || sources[slot/c.perSource] != want.rows[r]+90 {
					t.Errorf("%s, step %d, row %d: the cache holds %v of source %d, want %v", way, i, r, all[2*slot:2*slot+2], sources[slot/c.perSource], want.rows[r])
				}
			}
		}
		for _, parent := range []int{-1, 1} {
			if err := c.reorder([]int{0, parent}); err == nil || err.Error() != fmt.Sprintf("decoding: row 1 continues row %d of 1", parent) {
				t.Errorf("a row that is not there: %v", err)
			}
		}
		c.Close()
	}
}

// Of keys and values, the tokens read so far are copied, in each head, and what is behind them stays; of other tensors, everything is.
// Caught when planted: a token too few; the tokens of the first head only; blocks of all of the capacity.
func TestCopiedPart(t *testing.T) {
	d := tiny(t, true)
	c := &Cached{d: d, sources: []int{0}, perSource: 3, length: 2}
	numbers := make([]int32, 3*2*5*3) // rows, heads, capacity, channels
	for i := range numbers {
		numbers[i] = int32(i)
	}
	keys := tensors.FromFlatDataAndDimensions(numbers, 3, 2, 5, 3)
	c.cache = []*tensors.Tensor{keys}
	defer c.Close()
	if err := c.copyRows([]int{2, 0}, []int{1, 0}); err != nil {
		t.Fatal(err)
	}
	for i, got := range tensors.MustCopyFlatData[int32](keys) {
		want := int32(i)
		if row, token := i/30, i/3%5; row == 1 && token < 2 {
			want += 30
		}
		if got != want {
			t.Errorf("row %d, head %d, token %d: %d, want %d", i/30, i/15%2, i/3%5, got, want)
		}
	}
	convolving := universal.Decoder{Config: universal.Config{Width: 4, Heads: 1, Transition: universal.SeparableConvolution{}, Halting: halting.Fixed{Steps: 1}}}
	c.d = &Decoder{model: convolving}
	if got, want := c.usedPart(2, keys.Shape()), (rowPart{120, 120, 120}); got != want {
		t.Errorf("of the window of a convolution, %+v is copied, want %+v", got, want)
	}
}

// The room at the start suffices for the prompts and one token, and no more than the next size; all tokens of the shortest prompt are read.
func TestRoomOfPrompts(t *testing.T) {
	for common, capacity := range map[int]int{0: 16, 1: 16, 14: 16, 15: 16, 16: 32, 31: 32, 32: 48} {
		d := tiny(t, true)
		long := slices.Repeat([]vocab.ID{2, 4, 3}, 20)
		c, err := d.Start([][]vocab.ID{long[:common+2], long[:common]})
		if err != nil {
			t.Fatal(err)
		}
		logP, err := c.Next([]int{0, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.capacity != capacity || c.length != common+1 || c.cache[0].Shape().Dimensions[2] != capacity || len(logP) != 2 || !slices.Equal(logP[0], logP[1]) {
			t.Errorf("prompts of %d: room for %d, %d read, want room for %d", common, c.capacity, c.length, capacity)
		}
		if rest := c.Rest(); len(rest) != 2 || !slices.Equal(rest[0], long[common:common+2]) || len(rest[1]) != 0 {
			t.Errorf("prompts of %d: the rest is %v", common, rest)
		}
		for c.length < capacity+1 {
			if _, err := c.Next([]int{0, 1}, []vocab.ID{2, 3}); err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: capacity, false: nextCapacity(capacity)}[c.length <= capacity]; c.capacity != want {
				t.Fatalf("%d tokens have room for %d, want %d", c.length, c.capacity, want)
			}
		}
		c.Close()
	}
}

// Sources become a rectangle of the next sizes, the last one repeated.
func TestPad(t *testing.T) {
	ids, rows, width := pad([][]vocab.ID{{2, 3}, {4}, {5, 6, 2, 2, 2, 2, 2, 2, 9}})
	want := make([]vocab.ID, 4*12)
	copy(want, []vocab.ID{2, 3})
	copy(want[12:], []vocab.ID{4})
	copy(want[24:], []vocab.ID{5, 6, 2, 2, 2, 2, 2, 2, 9})
	copy(want[36:], want[24:36])
	if rows != 4 || width != 12 || !slices.Equal(ids, want) {
		t.Errorf("%d rows of %d: %v", rows, width, ids)
	}
	if _, rows, width := pad([][]vocab.ID{{}}); rows != 1 || width != 8 {
		t.Errorf("an empty source: %d rows of %d", rows, width)
	}
}

// Log-probabilities of either precision are read in rows, with a buffer that may be longer than they are.
func TestReadRows(t *testing.T) {
	buffer := []float64{9, 9, 9, 9, 9, 9, 9}
	for _, values := range []any{[][]float64{{1, 2, 3}, {4, 5, 6}}, [][]float32{{1, 2, 3}, {4, 5, 6}}} {
		got, err := readRows(mustTensor(t, values), &buffer)
		if err != nil || len(got) != 2 || !slices.Equal(got[0], []float64{1, 2, 3}) || !slices.Equal(got[1], []float64{4, 5, 6}) || len(buffer) != 6 {
			t.Errorf("%T: %v, %v", values, got, err)
		}
	}
}

// A search by beam stops when the answers that are wanted cannot be beaten, an equal score included, or nothing runs, or at the limit.
// Scores are logarithms divided by ((5 + n) / 6)^Alpha; with the limit 7 and Alpha 1 a running sequence can reach half of its own.
func TestDecided(t *testing.T) {
	run := func(tokens int, logProb float64) []Hypothesis {
		return []Hypothesis{{Tokens: make([]vocab.ID, tokens), LogProb: logProb}, {Tokens: make([]vocab.ID, tokens), LogProb: -9}}
	}
	done := func(scores ...float64) (list []Hypothesis) {
		for _, s := range scores {
			list = append(list, Hypothesis{Score: s, Finished: true})
		}
		return list
	}
	for i, c := range []struct {
		best              int
		running, finished []Hypothesis
		want              bool
	}{
		{0, nil, nil, true}, {0, run(7, -1), nil, true}, {0, run(6, -1), nil, false}, {0, run(6, -4), done(-2), true}, {0, run(6, -4), done(-2.01), false},
		{1, run(6, -4), done(-2), true}, {1, run(6, -4), done(-1, -9), true}, {2, run(6, -4), done(-1), false}, {2, run(6, -4), done(-1, -2), true},
		{2, run(6, -4), done(-1, -2.01), false}, {3, run(6, -4), done(-1, -2), false},
	} {
		s := beam{Beam: Beam{Width: 3, Alpha: 1, Best: c.best}, limit: 7, running: c.running, finished: c.finished}
		if got := s.decided(); got != c.want {
			t.Errorf("case %d: decided %v", i, got)
		}
	}
	for n, want := range map[int]float64{1: 1, 7: 2, 13: 3} {
		if got := (Beam{Alpha: 1}).penalty(n); got != want {
			t.Errorf("the penalty of %d tokens is %v, want %v", n, got, want)
		}
	}
	for want, b := range map[string]Beam{"": {Width: 2, Best: 2}, "n-best is 3: a beam of width 2 has from 1 to 2 answers": {Width: 2, Best: 3}, "n-best is -1": {Width: 2, Best: -1}, "beam width is 0": {}} {
		if err := b.Validate(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

// Sources of one call are decoded together, a token of each at a time; limits hold, and greedy scores have the penalty of their lengths.
func TestDecodeTogether(t *testing.T) {
	d := tiny(t, false)
	order := ""
	found, err := d.Decode(t.Context(), [][]vocab.ID{{2, 3}, {4}}, []int{2, 3}, Method{Beam: Beam{Width: 1, Alpha: 1}}, func(source int, token vocab.ID) { order += fmt.Sprint(source) })
	if err != nil || len(found) != 2 || !strings.HasPrefix(order, "01") {
		t.Fatalf("tokens of sources %s, %v", order, err)
	}
	for i, h := range found {
		if len(h.Tokens) > 2+i || math.Abs(h.Score-h.LogProb*6/float64(5+len(h.Tokens))) > 1e-12 || strings.Count(order, fmt.Sprint(i)) != len(h.Tokens) {
			t.Errorf("source %d: %+v", i, h)
		}
	}
	if none, err := d.Decode(t.Context(), [][]vocab.ID{{2}}, []int{0}, Method{}, nil); err != nil || len(none) != 1 || len(none[0].Tokens) != 0 {
		t.Errorf("a limit of 0: %+v, %v", none, err)
	}
	for want, sources := range map[string][][]vocab.ID{"source 2 holds id 7, but ids go from 1 to 6": {{2}, {3, 7}}, "source 1 holds id 0, but": {{0}}} {
		if _, err := d.Start(sources); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", sources, err)
		}
	}
	language := tiny(t, true)
	if err := language.check([][]vocab.ID{{4, 1}, {}}); err != nil {
		t.Error(err)
	}
	if err := language.check([][]vocab.ID{{5}}); err == nil || !strings.Contains(err.Error(), "ids go from 1 to 4") {
		t.Error(err)
	}
}

// Samples of a batch have the numbers of their streams; queries name their own.
func TestNumbersOfStreams(t *testing.T) {
	d := tiny(t, true)
	m := Method{Sampling: Sampling{Temperature: 2, TopP: 1}, Seed: 4, First: 6}
	prompts := [][]vocab.ID{{2}, {2}, {2}}
	together, err := d.Decode(t.Context(), prompts, []int{9, 9, 9}, m, nil)
	if err != nil {
		t.Fatal(err)
	}
	var queries []Query
	for _, number := range []int64{8, 6, 7} {
		queries = append(queries, Query{Source: []vocab.ID{2}, Limit: 9, Number: number})
	}
	named, err := d.Answer(t.Context(), queries, m, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range []int{2, 0, 1} {
		if !slices.Equal(named[i].Tokens, together[j].Tokens) {
			t.Errorf("stream %d: %v, in a batch %v", queries[i].Number, named[i].Tokens, together[j].Tokens)
		}
	}
	stopped := make(chan struct{})
	close(stopped)
	queries[1].Done = stopped
	if named, err = d.Answer(t.Context(), queries, m, 0, nil); err != nil || len(named[1].Tokens) != 0 || len(named[0].Tokens) == 0 || len(named[2].Tokens) == 0 {
		t.Errorf("a query that was stopped: %+v, %v", named, err)
	}
}

func mustTensor(t *testing.T, values any) *tensors.Tensor {
	t.Helper()
	x, err := tensors.FromAnyValue(values)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Sources of any number of lengths have their graphs. Caught when planted: GoMLX's own limit of 32.
func TestManyLengthsOfSources(t *testing.T) {
	d := tiny(t, false)
	for n := 1; n <= 33; n++ {
		out, err := d.cacheSource.Call(tensors.FromFlatDataAndDimensions(slices.Repeat([]vocab.ID{2}, n), 1, n))
		if err != nil {
			t.Fatalf("a source of %d tokens: %v", n, err)
		}
		free(out...)
	}
}
