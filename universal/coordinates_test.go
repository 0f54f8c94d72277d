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
	"universal-transformer/halting"
)

// coordinatesOf gives P^t [B*M*D] of tokens at positions; nil positions count from 1.
func coordinatesOf(t *testing.T, c Config, step, length int, positions [][]int32) []float64 {
	t.Helper()
	if positions == nil {
		positions = [][]int32{make([]int32, length)}
	} else {
		length = 0
	}
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(scope *model.Scope, ids *Node) *Node {
		at := ids
		if length > 0 {
			at = nil
		}
		zero := Zeros(ids.Graph(), shapeAs(InsertAxes(ids, -1), dtypes.Float64))
		zero = BroadcastToDims(zero, ids.Shape().Dimensions[0], ids.Shape().Dimensions[1], c.Width)
		return c.sourceCoordinates(scope, ids, at).add(step, zero)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(positions)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float64](out[0])
}

// Worked out by hand for d = 4: channels 0 and 1 turn by 1 radian a position or step, channels 2 and 3 by 1/100.
// Caught when planted: positions or steps counted from 0, exponents that differ between sine and cosine.
func TestCoordinatesByHand(t *testing.T) {
	c := Config{Width: 4, Precision: dtypes.Float64}
	for _, test := range []struct {
		step, position int
		want           []float64
	}{
		{1, 1, []float64{1.6829419696157930, 1.0806046117362795, 0.0199996666683333, 1.9999000008333305}},
		{1, 2, []float64{1.7507684116335782, 0.1241554693209974, 0.0299985000274997, 1.9997500070832430}},
		{2, 3, []float64{1.0504174348855488, -1.4061393331475878, 0.0499941668958287, 1.9993500404155653}},
	} {
		p := coordinatesOf(t, c, test.step, 3, nil)[(test.position-1)*4:][:4]
		for channel, want := range test.want {
			if math.Abs(p[channel]-want) > 1e-15 {
				t.Errorf("P^%d of position %d, channel %d: %.16f, want %.16f", test.step, test.position, channel, p[channel], want)
			}
		}
	}
}

// The coordinates of the authors' code, d = 4: channels 0 and 2 turn by 1 radian a position, 1 and 3 by 1/10000; all numbers count from 0.
// d = 7: half is 3, so exponents are 0, 1/2 and 1, and the last channel is empty.
// Caught when planted: counting from 1; exponents that end before 1; sines and cosines that alternate.
func TestTensor2TensorCoordinatesByHand(t *testing.T) {
	for _, test := range []struct {
		n, width int
		want     []float64
	}{
		{1, 4, []float64{0, 0, 1, 1}},
		{2, 4, []float64{0.8414709848078965, 0.0000999999998333, 0.5403023058681398, 0.9999999950000000}},
		{3, 4, []float64{0.9092974268256817, 0.0001999999986667, -0.4161468365471424, 0.9999999800000001}},
		{4, 7, []float64{0.1411200080598672, 0.0299955002024957, 0.0002999999955000, -0.9899924966004454, 0.9995500337489875, 0.9999999550000003, 0}},
	} {
		for channel, want := range test.want {
			if got := (Tensor2Tensor{}).At(test.n, channel, test.width); math.Abs(got-want) > 1e-15 {
				t.Errorf("%d of width %d, channel %d: %.16f, want %.16f", test.n, test.width, channel, got, want)
			}
		}
		for channel := range test.width / 2 * 2 { // alternating is the same in another order
			from := channel/2 + channel%2*(test.width/2)
			if got, want := (Tensor2Tensor{Alternate: true}).At(test.n, channel, test.width), test.want[from]; math.Abs(got-want) > 1e-15 {
				t.Errorf("alternating, %d of width %d, channel %d: %.16f, want %.16f", test.n, test.width, channel, got, want)
			}
		}
	}
	c := Config{Width: 4, Precision: dtypes.Float64, Coordinates: Tensor2Tensor{}} // P^2 of position 3 is the sum of both
	if p := coordinatesOf(t, c, 2, 3, nil)[2*4:]; math.Abs(p[0]-(0.9092974268256817+0.8414709848078965)) > 1e-15 || math.Abs(p[3]-(0.9999999800000001+0.9999999950000000)) > 1e-15 {
		t.Errorf("P^2 of position 3 is %v", p[:4])
	}
}

// Looked up by number, positions have the sinusoids that counting gives them: 1 .. M listed one by one change nothing, and a
// sequence that starts later has those of its numbers. A width that is odd works as well.
// Caught when planted: a table that starts at 0.
func TestPositionsByNumber(t *testing.T) {
	for _, width := range []int{4, 5} {
		c := Config{Width: width, Precision: dtypes.Float64, Positions: RandomOffset{Max: 40}}
		counted := coordinatesOf(t, c, 3, 40, nil)
		listed := coordinatesOf(t, c, 3, 0, [][]int32{{1, 2, 3}, {38, 39, 40}, {2, 17, 31}})
		want := slices.Concat(counted[:3*width], counted[37*width:], counted[width:2*width], counted[16*width:17*width], counted[30*width:31*width])
		if !slices.Equal(listed, want) {
			t.Errorf("width %d: got %v, want %v", width, listed, want)
		}
	}
}

// A learned step signal is one vector a step, added at every position, in place of the sinusoid in t; scaled, it is sqrt(d) times as large.
// Caught when planted: the first vector used in every step; no scale.
func TestLearnedSteps(t *testing.T) {
	learnedSteps(t, Config{Width: 2, Precision: dtypes.Float64, LearnedSteps: true, Halting: halting.Fixed{Steps: 3}}, 1)
	learnedSteps(t, Config{Width: 2, Precision: dtypes.Float64, LearnedSteps: true, ScaleSteps: true, Halting: halting.Fixed{Steps: 3}}, math.Sqrt2)
}

func learnedSteps(t *testing.T, c Config, scale float64) {
	t.Helper()
	store := model.NewStore()
	if _, err := store.CreateVariable("/step", tensors.FromValue([][]float64{{10, 20}, {30, 40}, {50, 60}})); err != nil {
		t.Fatal(err)
	}
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, ids *Node) []*Node {
		at := c.sourceCoordinates(scope, ids, nil)
		zero := Zeros(ids.Graph(), shapeAs(c.signals(ids.Graph(), 1, 2, c.Width), dtypes.Float64))
		return []*Node{at.add(1, zero), at.add(3, zero)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][]int32{{1, 1}})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range [][]float64{{10, 20}, {50, 60}} {
		got := tensors.MustCopyFlatData[float64](out[i])
		want := []float64{math.Sin(1) + scale*step[0], math.Cos(1) + scale*step[1], math.Sin(2) + scale*step[0], math.Cos(2) + scale*step[1]}
		if !slices.Equal(got, want) {
			t.Errorf("step %d: %v, want %v", 2*i+1, got, want)
		}
	}
}

// Draws rise, stay within 1 .. Max, and every position up to Max comes up. One offset is uniform over all that fit, and a
// subset with gaps is uniform over all subsets: each possible draw is equally likely.
// The statistic is Pearson's; its limit is passed by chance in fewer than 1 of 10^9 runs (seeds are fixed, so none is by chance).
// Caught when planted: an offset that leaves the last start out, or one too many; gaps left unsorted, or that never reach Max.
func TestDrawsAreUniform(t *testing.T) {
	for _, test := range []struct {
		positions Positions
		length    int
		outcomes  int
		limit     float64 // of chi squared with outcomes-1 degrees of freedom at 1 - 1e-9
	}{
		{RandomOffset{Max: 12}, 5, 8, 55.9},  // starts 1..8
		{RandomSubset{Max: 7}, 3, 35, 108.7}, // 7 over 3
		{RandomOffset{Max: 5}, 5, 1, 0},
		{RandomSubset{Max: 5}, 5, 1, 0},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		const draws = 20000
		_, gaps := test.positions.(RandomSubset)
		counts, covered := map[string]float64{}, map[int32]bool{}
		for range draws {
			drawn := test.positions.Draw(rng, test.length)
			counts[fmt.Sprint(drawn)]++
			for i, p := range drawn {
				covered[p] = true
				if p < 1 || int(p) > test.positions.Limit() || i > 0 && p <= drawn[i-1] || !gaps && p != drawn[0]+int32(i) {
					t.Fatalf("%+v drew %v", test.positions, drawn)
				}
			}
		}
		if len(counts) != test.outcomes || len(covered) != test.positions.Limit() {
			t.Errorf("%+v: %d different draws over %d positions, want %d and all", test.positions, len(counts), len(covered), test.outcomes)
			continue
		}
		expected, chi := draws/float64(test.outcomes), 0.0
		for _, n := range counts {
			chi += (n - expected) * (n - expected) / expected
		}
		if chi > test.limit {
			t.Errorf("%+v: chi squared is %.1f, at most %.1f", test.positions, chi, test.limit)
		}
	}
}

// What does not fit is counted from 1, as in a test.
func TestDrawOfALongSequence(t *testing.T) {
	for _, positions := range []Positions{RandomOffset{Max: 3}, RandomSubset{Max: 3}, RandomRuns{Max: 3}} {
		drawn := positions.Draw(rand.New(rand.NewPCG(1, 2)), 5)
		if !slices.Equal(drawn, []int32{1, 2, 3, 4, 5}) {
			t.Errorf("%T: %v", positions, drawn)
		}
	}
}

// The model gives the same bits whether positions are counted or listed from 1, and others if places stand elsewhere: those of the
// source alone, beyond the end of the target, change both stacks, since the decoder attends to the encoder.
// Caught when planted: positions left out of one stack.
func TestListedPositionsReachBothStacks(t *testing.T) {
	c := Config{
		SourceVocabulary: 5, TargetVocabulary: 5, Width: 4, Heads: 2, Positions: RandomOffset{Max: 9},
		Transition: FeedForward{Filter: 3}, Halting: halting.Fixed{Steps: 2},
	}
	store := model.NewStore()
	run := func(source []int32, target []int32, positions ...any) (encoder, decoder []float32) {
		exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, nodes []*Node) []*Node {
			in := Inputs{Source: nodes[0], Target: nodes[1]}
			if len(nodes) == 3 {
				in.Positions = nodes[2]
			}
			r := EncoderDecoder{c}.Forward(scope, in, Options{})
			return []*Node{r.Encoder.State, r.Decoder.State, r.Logits}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		out, err := exec.Call(append([]any{[][]int32{source}, [][]int32{target}}, positions...)...)
		if err != nil {
			t.Fatal(err)
		}
		return tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
	}
	for _, test := range []struct {
		source, target, positions      []int32
		encoderChanges, decoderChanges bool
	}{
		{[]int32{2, 3, 4}, []int32{4, 2}, []int32{1, 2, 3}, false, false},
		{[]int32{2, 3, 4}, []int32{4, 2}, []int32{1, 2, 9}, true, true},
		{[]int32{2, 3}, []int32{4, 2, 1}, []int32{1, 2, 9}, false, true},
	} {
		encoder, decoder := run(test.source, test.target)
		e, d := run(test.source, test.target, [][]int32{test.positions})
		if slices.Equal(e, encoder) == test.encoderChanges || slices.Equal(d, decoder) == test.decoderChanges {
			t.Errorf("%v: encoder equal %v, decoder equal %v", test, slices.Equal(e, encoder), slices.Equal(d, decoder))
		}
	}
}
