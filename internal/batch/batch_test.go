package batch_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

func TestPad(t *testing.T) {
	examples := []task.Example{
		{Source: []vocab.ID{5, 6}, Target: []vocab.ID{7, 1}},
		{Source: []vocab.ID{8}, Target: []vocab.ID{9, 9, 1}},
	}
	b, err := batch.Pad(examples, 3, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	if want := []vocab.ID{5, 6, 8, 0, 0, 0}; !slices.Equal(b.Source, want) {
		t.Errorf("source %v, want %v", b.Source, want)
	}
	if want := []vocab.ID{7, 1, 0, 0, 9, 9, 1, 0, 0, 0, 0, 0}; !slices.Equal(b.Target, want) {
		t.Errorf("target %v, want %v", b.Target, want)
	}
	if b.Rows != 3 || b.SourceLength != 2 || b.TargetLength != 4 || b.Examples != 2 {
		t.Errorf("%+v", b)
	}
	if source, target := b.Tokens(); source != 3 || target != 5 {
		t.Errorf("%d and %d tokens, want 3 and 5", source, target)
	}
	if got := b.TargetRow(1); !slices.Equal(got, []vocab.ID{9, 9, 1, 0}) {
		t.Errorf("target row 1 is %v", got)
	}
	if got := b.SourceRow(1); !slices.Equal(got, []vocab.ID{8, 0}) {
		t.Errorf("source row 1 is %v", got)
	}
}

func TestPadRefuses(t *testing.T) {
	e := task.Example{Source: []vocab.ID{5, 6}, Target: []vocab.ID{7, 1}}
	for _, c := range []struct {
		n, rows, source, target int
		want                    string
	}{
		{2, 1, 2, 2, "2 examples do not fit 1 rows"},
		{1, 1, 1, 2, "example 0 has lengths 2 and 2"},
		{1, 1, 2, 1, "example 0 has lengths 2 and 2"},
		{0, -1, 2, 2, "negative"},
	} {
		if _, err := batch.Pad(slices.Repeat([]task.Example{e}, c.n), c.rows, c.source, c.target); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// sized is an example of the given lengths whose first target id says which one it is.
func sized(number, source, target int) task.Example {
	e := task.Example{Source: slices.Repeat([]vocab.ID{2}, source), Target: slices.Repeat([]vocab.ID{3}, target)}
	e.Target[target-1] = vocab.End
	e.Target[0] = vocab.ID(10 + number)
	return e
}

func TestChunkKeepsEveryExampleOnce(t *testing.T) {
	var examples []task.Example
	for i := range 57 {
		examples = append(examples, sized(i, 1+i*7%50, 2+i*11%40))
	}
	batches := batch.Chunk(examples, batch.Plan{Tokens: 100, MaxSource: 20, MaxTarget: 20})
	seen := make([]bool, len(examples))
	for _, b := range batches {
		if len(b.Index) != b.Examples || b.Examples == 0 || b.Examples > b.Rows {
			t.Fatalf("batch of %d rows, %d examples, index %v", b.Rows, b.Examples, b.Index)
		}
		for row, i := range b.Index {
			if seen[i] {
				t.Fatalf("example %d is there twice", i)
			}
			seen[i] = true
			e := examples[i]
			source, target := b.SourceRow(row), b.TargetRow(row)
			if !slices.Equal(source[:len(e.Source)], e.Source) || !slices.Equal(target[:len(e.Target)], e.Target) {
				t.Fatalf("row %d is not example %d", row, i)
			}
			if !padding(source[len(e.Source):]) || !padding(target[len(e.Target):]) {
				t.Fatalf("example %d is followed by %v, %v", i, source, target)
			}
		}
		if !padding(b.Source[b.Examples*b.SourceLength:]) || !padding(b.Target[b.Examples*b.TargetLength:]) {
			t.Fatal("an empty row is not padding")
		}
		if positions := b.Rows * max(b.SourceLength, b.TargetLength); positions > 100 {
			t.Errorf("%d rows of %d and %d are more than 100 tokens", b.Rows, b.SourceLength, b.TargetLength)
		}
	}
	if i := slices.Index(seen, false); i >= 0 {
		t.Errorf("example %d is in no batch", i)
	}
}

func padding(ids []vocab.ID) bool {
	return !slices.ContainsFunc(ids, func(id vocab.ID) bool { return id != vocab.Padding })
}

// lengths is the rectangle rows that one example comes into.
func lengths(t *testing.T, plan batch.Plan, source, target int) [2]int {
	t.Helper()
	e := task.Example{Source: make([]vocab.ID, source), Target: make([]vocab.ID, target)}
	batches := batch.Chunk([]task.Example{e}, plan)
	if len(batches) != 1 {
		t.Fatalf("one example makes %d batches", len(batches))
	}
	return [2]int{batches[0].SourceLength, batches[0].TargetLength}
}

func TestBoundaries(t *testing.T) {
	plan := batch.Plan{Rows: 1, MaxSource: 40, MaxTarget: 41}
	for _, c := range [][4]int{
		{1, 2, 8, 9}, {8, 9, 8, 9}, {9, 10, 10, 11}, {10, 3, 10, 9}, {11, 11, 12, 11}, {13, 14, 15, 16},
		{34, 35, 40, 41}, {40, 41, 40, 41}, // 41 is the next boundary, 40 the longest
		{50, 41, 50, 41}, // beyond the plan: the longest there is
	} {
		if got, want := lengths(t, plan, c[0], c[1]), [2]int{c[2], c[3]}; got != want {
			t.Errorf("lengths %d, %d come into %v, want %v", c[0], c[1], got, want)
		}
	}
	given := batch.Plan{Rows: 1, Boundaries: []int{5, 20}, MaxSource: 30, MaxTarget: 31}
	for _, c := range [][4]int{{5, 6, 5, 6}, {6, 7, 20, 21}, {21, 5, 30, 6}, {3, 31, 5, 31}} {
		if got, want := lengths(t, given, c[0], c[1]), [2]int{c[2], c[3]}; got != want {
			t.Errorf("boundaries given: lengths %d, %d come into %v, want %v", c[0], c[1], got, want)
		}
	}
	if got := lengths(t, batch.Plan{Rows: 1, MaxTarget: 20}, 0, 5); got != [2]int{0, 9} {
		t.Errorf("a language model's lengths are %v, want 0, 9", got)
	}
	if got := lengths(t, batch.Plan{Rows: 1}, 7, 0); got != [2]int{7, 0} {
		t.Errorf("without targets the lengths are %v, want 7, 0", got)
	}
}

// Shapes cost a compiled graph each: sources up to 400 with targets as long, and End, have one for every boundary.
func TestShapesAreFew(t *testing.T) {
	shapes := map[string]bool{}
	for n := 1; n <= 400; n++ {
		shapes[fmt.Sprint(lengths(t, batch.Plan{Rows: 1, MaxSource: 400, MaxTarget: 401}, n, n+1))] = true
	}
	if len(shapes) != 20 {
		t.Errorf("%d shapes, want 20", len(shapes))
	}
}

// The rows of aligned targets are as long as those of their sources, in positions, whatever the lengths, and there is a shape for every
// boundary. Without targets, as when a model is used, the rows are the same.
func TestAligned(t *testing.T) {
	for _, words := range []int{1, 3} {
		plan := batch.Plan{Rows: 1, MaxSource: 100 * words, MaxTarget: 100, TokensPerPosition: words, Aligned: true}
		shapes := map[string]bool{}
		for n := 1; n <= 100; n++ {
			with, without := lengths(t, plan, n*words, n), lengths(t, plan, n*words, 0)
			if with[0] != with[1]*words || with[1] < n || without != with {
				t.Errorf("%d ids a position, %d positions: lengths %v, without a target %v", words, n, with, without)
			}
			shapes[fmt.Sprint(with)] = true
		}
		if len(shapes) != 14 { // 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 63, 78, 97 and 100, of which the last is the maximum
			t.Errorf("%d shapes", len(shapes))
		}
	}
}

// Leftovers of short rows move into longer ones: 4 rows each and lengths in a chain leave one short batch at most.
func TestLeftoversMoveUp(t *testing.T) {
	var examples []task.Example
	for i := range 47 {
		n := 1 + i*13%40
		examples = append(examples, sized(i, n, n+1))
	}
	batches := batch.Chunk(examples, batch.Plan{Rows: 4, MaxSource: 40, MaxTarget: 41})
	if len(batches) != 12 {
		t.Errorf("47 examples in rows of 4 make %d batches, want 12", len(batches))
	}
}

// TestRoundUp: batches of ten rows become batches of sixteen where sixteen are computed for ten.
func TestRoundUp(t *testing.T) {
	var examples []task.Example
	for i := range 40 {
		examples = append(examples, sized(i, 10, 9))
	}
	plan := batch.Plan{Tokens: 100, MaxSource: 10, MaxTarget: 10, RoundUp: func(n int) int { return (n + 7) / 8 * 8 }}
	var sizes []int
	for _, b := range batch.Chunk(examples, plan) {
		sizes = append(sizes, b.Examples)
	}
	if want := []int{16, 16, 8}; !slices.Equal(sizes, want) {
		t.Errorf("batches of %v examples, want %v", sizes, want)
	}
}

func TestPlanValidate(t *testing.T) {
	for want, p := range map[string]batch.Plan{
		"rows is -1":               {Rows: -1},
		"tokens is -1":             {Tokens: -1},
		"rows and tokens are both": {},
		"max_source is -1":         {Rows: 1, MaxSource: -1},
		"max_target is -1":         {Rows: 1, MaxTarget: -1},
		"window is -1":             {Rows: 1, Window: -1},
		"boundaries are [4 4]":     {Rows: 1, Boundaries: []int{4, 4}},
		"boundaries are [0 4]":     {Rows: 1, Boundaries: []int{0, 4}},
	} {
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
}

// Numbers beyond all use are refused before anything is computed with them.
// Caught when planted: any of the bounds left out.
func TestPlanBounds(t *testing.T) {
	for want, p := range map[string]batch.Plan{
		"boundaries are [9223372036854775807]":                                {Tokens: 10, Boundaries: []int{math.MaxInt}},
		"rows is 9223372036854775807":                                         {Rows: math.MaxInt},
		"tokens is 9223372036854775807":                                       {Tokens: math.MaxInt},
		"window is 9223372036854775807":                                       {Rows: 1, Window: math.MaxInt},
		"rows is 1048576: 268435456 examples would be sorted together":        {Rows: 1 << 20},
		"tokens is 1073741824: 45812984320 examples would be sorted together": {Tokens: 1 << 30},
	} {
		p.MaxSource, p.MaxTarget = 5, 6
		s, err := batch.NewStream(numbered, p, 1)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v, want %q", p, s, err, want)
		}
	}
	s, err := batch.NewStream(func(int64) task.Example { return sized(1, 5, 6) }, batch.Plan{Rows: 2, Boundaries: []int{1 << 30}, MaxSource: 5, MaxTarget: 6, Window: 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.Next(); err != nil || b.SourceLength != 5 || b.TargetLength != 6 {
		t.Errorf("with the largest boundary: %+v, %v", b, err)
	}
}

// Caught when planted: the batch behind itself; a source of one token a position for several; examples counted once.
func TestTwice(t *testing.T) {
	b, err := batch.Pad([]task.Example{{Source: []vocab.ID{5, 6}, Target: []vocab.ID{7, 1}}, {Source: []vocab.ID{8}, Target: []vocab.ID{9, 9, 1}}}, 3, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	b.TokensPerPosition = 2
	twice := b.Twice()
	if twice.Rows != 6 || twice.Examples != 4 || twice.TokensPerPosition != 2 || twice.SourceLength != 2 || twice.TargetLength != 3 {
		t.Errorf("%+v", twice)
	}
	for i := range 6 {
		if !slices.Equal(twice.SourceRow(i), b.SourceRow(i/2)) || !slices.Equal(twice.TargetRow(i), b.TargetRow(i/2)) {
			t.Errorf("row %d is %v, %v, want %v, %v", i, twice.SourceRow(i), twice.TargetRow(i), b.SourceRow(i/2), b.TargetRow(i/2))
		}
	}
}

// A batch of few examples has the rows that Partial says, at most those of a full one. Caught when planted: rows of a full batch rounded.
func TestPartialBatches(t *testing.T) {
	plan := batch.Plan{Tokens: 60, Boundaries: []int{5, 20}, Partial: func(n int) int { return (n + 3) / 4 * 4 }}
	for examples, want := range map[int]string{1: "4", 4: "4", 5: "8", 9: "10", 10: "10", 11: "10 4"} {
		var list []task.Example
		for range examples {
			list = append(list, sized(1, 5, 6))
		}
		var rows []string
		for _, b := range batch.Chunk(list, plan) {
			rows = append(rows, fmt.Sprint(b.Rows))
		}
		if got := strings.Join(rows, " "); got != want {
			t.Errorf("%d examples are in batches of %s rows, want %s", examples, got, want)
		}
	}
}
