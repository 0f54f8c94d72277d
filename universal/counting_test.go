package universal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
)

// twoSeparators are the tokens 3 and 5.
func twoSeparators() Segments {
	ids := map[string]int32{"+": 3, ";": 5}
	return Segments{Separators: []string{"+", "absent", ";"}}.resolve(func(token string) (int32, bool) {
		id, known := ids[token]
		return id, known
	})
}

// counted numbers a source as the comment of Counting says, token by token: from the start and from the end of its segment, and the segment.
func counted(source []int32, separators ...int32) (fromStart, fromEnd, segment []int32) {
	begin, number := 0, int32(1)
	flush := func(end int, closed bool) {
		n := int32(end - begin)
		for k := int32(1); k <= n; k++ {
			fromStart, segment = append(fromStart, k), append(segment, number)
			switch {
			case closed && k == n:
				fromEnd = append(fromEnd, n)
			case closed:
				fromEnd = append(fromEnd, n-k)
			default:
				fromEnd = append(fromEnd, n+1-k)
			}
		}
		begin, number = end, number+1
	}
	for i, token := range source {
		if token == 1 || slices.Contains(separators, token) {
			flush(i+1, true)
		}
	}
	if begin < len(source) {
		flush(len(source), false)
	}
	return fromStart, fromEnd, segment
}

// sources are random tokens 1..6, many of them separators, of different lengths.
func sources() [][]int32 {
	rng := rand.New(rand.NewPCG(7, 8))
	list := [][]int32{{4, 6, 2, 1}, {4, 4, 3, 6, 1}, {3}, {1}, {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, {4, 3, 3, 5, 1, 6, 6}}
	for range 40 {
		source := make([]int32, 1+rng.IntN(11))
		for i := range source {
			source[i] = 1 + rng.Int32N(6)
		}
		list = append(list, source)
	}
	return list
}

// The graph numbers every source as the plain loop does, padding behind or not.
// Caught when planted: a separator that begins the next segment, a count from the end that ignores padding, segments from 0.
func TestNumbers(t *testing.T) {
	separators := twoSeparators()
	for _, c := range []struct {
		counting Counting
		want     func(source []int32) [][]int32
	}{
		{FromStart{}, func(s []int32) [][]int32 { return [][]int32{oneTo(len(s))} }},
		{FromEnd{}, func(s []int32) [][]int32 { _, e, _ := counted(s); return [][]int32{e} }},
		{Restarting{separators}, func(s []int32) [][]int32 { a, _, n := counted(s, 3, 5); return [][]int32{a, n} }},
		{BothEnds{separators}, func(s []int32) [][]int32 { a, e, n := counted(s, 3, 5); return [][]int32{a, e, n} }},
	} {
		exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, tokens *Node) []*Node {
			var all []*Node
			for _, n := range c.counting.numbers(tokens) {
				all = append(all, BroadcastToDims(n, tokens.Shape().Dimensions...))
			}
			return all
		})
		if err != nil {
			t.Fatal(err)
		}
		const length = 14
		var padded [][]int32
		for _, source := range sources() {
			padded = append(padded, append(slices.Clone(source), make([]int32, length-len(source))...))
		}
		out, err := exec.Call(padded)
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range sources() {
			highest := int32(0)
			for k, want := range c.want(source) {
				got := tensors.MustCopyFlatData[int32](out[k])[i*length:][:len(source)]
				if !slices.Equal(got, want) {
					t.Errorf("%T, number %d of %v: %v, want %v", c.counting, k, source, got, want)
				}
				if c.counting.shares(16)[k].place {
					highest = max(highest, slices.Max(want))
				}
			}
			if got := c.counting.Highest(source); got != int(highest) {
				t.Errorf("%T: the highest number of %v is %d, want %d", c.counting, source, got, highest)
			}
		}
		for _, number := range out { // that of padding is in the range of the tables, too
			if all := tensors.MustCopyFlatData[int32](number); slices.Min(all) < 1 || slices.Max(all) > length+1 {
				t.Errorf("%T: numbers %d to %d", c.counting, slices.Min(all), slices.Max(all))
			}
		}
		exec.Finalize()
	}
}

func oneTo(n int) []int32 { return consecutive(0, n) }

// Every number has the sinusoids of its share of the channels, drawn positions in place of places; the target counts from its start in
// all of them and has segment 0.
// Caught when planted: shares in another order, a draw that the count from the end does not get, a segment that is drawn.
func TestCoordinatesOfBothEnds(t *testing.T) {
	const width, step = 16, 2
	c := Config{Width: width, Precision: dtypes.Float64, Counting: BothEnds{twoSeparators()}, Positions: RandomRuns{Max: 50}}
	sinusoids := func(n, width int) (list []float64) {
		for j := range width {
			list = append(list, Sinusoidal{}.At(n, j, width))
		}
		return list
	}
	source, positions := []int32{4, 6, 3, 2, 1}, []int32{7, 20, 41, 44, 50}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, tokens, positions *Node) []*Node {
		zero := Zeros(tokens.Graph(), shapeAs(c.signals(tokens.Graph(), 1, 5, width), dtypes.Float64))
		var all []*Node
		for _, at := range []*Node{nil, positions} {
			all = append(all, c.sourceCoordinates(scope, tokens, at).add(step, zero), c.targetCoordinates(scope, ranks(tokens), 5, at).add(step, zero))
		}
		return all
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{source}, [][]int32{positions})
	if err != nil {
		t.Fatal(err)
	}
	start, end, segment := counted(source, 3, 5)
	for i, drawn := range []bool{false, true} {
		stands := func(place int32) int {
			if drawn {
				return int(positions[place-1])
			}
			return int(place)
		}
		for k, of := range []func(i int) (a, b, number int){
			func(i int) (int, int, int) { return stands(start[i]), stands(end[i]), int(segment[i]) },
			func(i int) (int, int, int) { return stands(int32(i + 1)), stands(int32(i + 1)), 0 },
		} {
			got := tensors.MustCopyFlatData[float64](out[2*i+k])
			for token := range source {
				a, b, number := of(token)
				want := slices.Concat(sinusoids(a, 8), sinusoids(b, 6), sinusoids(number, 2))
				for j, signal := range sinusoids(step, width) {
					if x := got[token*width+j]; math.Abs(x-want[j]-signal) > 1e-14 {
						t.Fatalf("drawn %v, stack %d, token %d, channel %d: %v, want %v", drawn, k, token, j, x, want[j]+signal)
					}
				}
			}
		}
	}
}

// A draw has a position for every place of the example, not of its padding, and a source with several ids a position has fewer places.
// Caught when planted: padding that is drawn for; ids counted as positions.
func TestDraws(t *testing.T) {
	both := BothEnds{twoSeparators()}
	for _, c := range []struct {
		counting Counting
		source   []int32
		words    int
		target   []int32
		places   int
	}{
		{nil, []int32{4, 6, 2, 0, 0}, 0, []int32{4, 1, 0}, 3},
		{nil, []int32{4, 6, 2, 0, 0}, 1, []int32{4, 4, 4, 4, 1}, 5},
		{nil, []int32{4, 6, 0, 2, 0, 0, 0, 0, 0}, 3, []int32{1, 0, 0}, 2},
		{both, []int32{4, 6, 3, 2, 1, 0}, 1, []int32{4, 1}, 3},
		{both, []int32{0, 0}, 1, []int32{0, 0}, 1},
	} {
		t.Run(fmt.Sprint(c.counting, c.source), func(t *testing.T) {
			d := Draws{Counting: c.counting, Positions: RandomSubset{Max: 20}}
			if got, err := d.Draw(rand.New(rand.NewPCG(1, 2)), c.source, c.words, c.target); err != nil || len(got) != c.places {
				t.Errorf("%d positions, %v, want %d", len(got), err, c.places)
			}
		})
	}
	if (Draws{}).Random() || (Draws{Positions: FromOne{}}).Random() || !(Draws{Positions: RandomRuns{Max: 5}}).Random() {
		t.Error("FromOne draws nothing, the others do")
	}
}

// Runs of consecutive positions, by the definition: their number n has probability log((n+1)/n) / log(length+1), a quarter of the sequences begin
// at 1 (and those others that do so by chance), and every position up to Max comes up.
// Caught when planted: runs that always begin where the sequence does, one run only, sequences that all begin at 1, a last position that
// is never drawn.
func TestRandomRuns(t *testing.T) {
	const length, maximum, draws = 6, 1000, 40_000
	rng := rand.New(rand.NewPCG(3, 4))
	runs, fromOne, low, high := make([]float64, length+1), 0.0, 0.0, int32(0)
	starts := make([]float64, length)
	for range draws {
		drawn := RandomRuns{Max: maximum}.Draw(rng, length)
		n := 1
		for i, p := range drawn {
			if i == 0 {
				continue
			}
			if p <= drawn[i-1] {
				t.Fatalf("positions do not increase: %v", drawn)
			}
			if p != drawn[i-1]+1 {
				n++
				starts[i]++
			}
		}
		runs[n]++
		if drawn[0] == 1 {
			fromOne++
		}
		if n > 1 && drawn[0] > 1 {
			low++
		}
		high = max(high, drawn[length-1])
	}
	for n := 1; n <= length; n++ { // two runs meet once in a thousand
		if got, want := runs[n]/draws, math.Log(float64(n+1)/float64(n))/math.Log(length+1); math.Abs(got-want) > 0.01 {
			t.Errorf("%d runs come up with %.3f, want %.3f", n, got, want)
		}
	}
	if share := fromOne / draws; math.Abs(share-0.25) > 0.01 || low == 0 || high != maximum {
		t.Errorf("%.3f of the sequences begin at 1, %v of several runs do not, and the highest position is %d", share, low, high)
	}
	for i := 2; i < length; i++ { // runs begin anywhere alike
		if math.Abs(starts[i]/starts[1]-1) > 0.05 {
			t.Errorf("runs begin at %d %v times, at 1 %v times", i, starts[i], starts[1])
		}
	}
}
