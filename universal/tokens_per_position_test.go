package universal_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
)

// twoWords is small with two tokens a position and adaptive halting.
func twoWords() universal.Config {
	c := small()
	c.TokensPerPosition = 2
	c.Halting = halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.01}}
	return c
}

// A position is the sum of its words, each times the mask of its place: setting embeddings and masks so that a two-word model adds up
// to what a one-word model looks up, both come to the same, state by state, whatever the padding.
// Caught when planted: masks left out, or of the wrong place; scale left out; padding that adds its row of the table; a position with
// one word taken for padding; where there are more positions than tokens, the mask of the first place for all, and padding that adds its row.
func TestWordsOfAPositionAreSummed(t *testing.T) {
	for _, scaled := range []bool{false, true} {
		c := twoWords()
		c.ScaleEmbedding = scaled
		two := newMachine(t, universal.Encoder{Config: c, Pool: universal.Last})
		c.TokensPerPosition, c.SourceVocabulary = 0, 6
		one := newMachine(t, universal.Encoder{Config: c, Pool: universal.Last})
		words, mask := values(two, "embedding.source"), values(two, "embedding.mask")
		sum := func(first, second int) []float64 { // of two ids, by hand; 0 is padding
			row := make([]float64, 6)
			for place, id := range []int{first, second} {
				for d := range row {
					if id != 0 {
						row[d] += mask[place*6+d] * words[id*6+d]
					}
				}
			}
			return row
		}
		table := make([]float64, 6, 36) // id 0
		table = slices.Concat(table, sum(3, 6), sum(2, 0), sum(5, 4), sum(6, 3), make([]float64, 6))
		set(one, "embedding.source", table)
		for _, times := range []int{1, 2} { // 6 positions are fewer than the 7 tokens of the vocabulary, 12 are more
			target := slices.Repeat([][]int32{{1}}, 2*times)
			have := two.run(slices.Repeat([][]int32{{3, 6, 2, 0, 5, 4}, {6, 3, 2, 0, 0, 0}}, times), target)
			want := one.run(slices.Repeat([][]int32{{1, 2, 3}, {4, 2, 0}}, times), target)
			for name := range want {
				if d := distance(have[name], want[name]); !(d <= 1e-12) {
					t.Errorf("scaled %v, %d rows: %s is off by %.2g", scaled, 2*times, name, d)
				}
			}
		}
		got := two.run([][]int32{{3, 6, 2, 0, 5, 4}, {6, 3, 2, 0, 0, 0}}, [][]int32{{1}, {1}})
		if distance(got["logits"], two.run([][]int32{{6, 3, 2, 0, 5, 4}, {6, 3, 2, 0, 0, 0}}, [][]int32{{1}, {1}})["logits"]) < 1e-6 {
			t.Error("the order of words within a position does not matter")
		}
	}
}

// Masks start around one, with deviation one, and are the only parameter more.
func TestWordsAddMasks(t *testing.T) {
	c := twoWords()
	with := shapesOf(t, universal.Encoder{Config: c})
	if with["embedding.mask"] != "[2 6]" {
		t.Errorf("the mask has shape %s", with["embedding.mask"])
	}
	delete(with, "embedding.mask")
	for _, words := range []int{0, 1} {
		c.TokensPerPosition = words
		same(t, "one word", shapesOf(t, universal.Encoder{Config: c}), with)
	}
	c.TokensPerPosition, c.Width = 2, 1200
	var mean, square float64
	for _, v := range values(newMachineAsInitialised(t, universal.Encoder{Config: c}), "embedding.mask") {
		mean, square = mean+v/2400, square+v*v/2400
	}
	if off := (mean - 1) * math.Sqrt(2400); math.Abs(off) > 5 {
		t.Errorf("masks start around %v, not 1", mean)
	}
	if variance := square - mean*mean; math.Abs(variance-1) > 5*math.Sqrt(2.0/2400) {
		t.Errorf("masks start with variance %v, not 1", variance)
	}
}

// Padding positions, of several words each, change nothing.
func TestPaddingOfSeveralWordsChangesNothing(t *testing.T) {
	for _, m := range []universal.Model{
		universal.Encoder{Config: twoWords()}, universal.Encoder{Config: twoWords(), Pool: universal.Last}, universal.EncoderDecoder{Config: twoWords()},
	} {
		x := newMachine(t, m)
		target := [][]int32{{3, 1}}
		alone := x.run([][]int32{{3, 6, 2, 0}}, target)["logits"]
		both := x.run([][]int32{{3, 6, 2, 0, 0, 0, 0, 0}, {4, 4, 4, 5, 2, 3, 6, 0}}, append(target, []int32{2, 1}))["logits"]
		if d := distance(both[:len(alone)], alone); !(d <= 1e-12) {
			t.Errorf("%T: logits are off by %.2g", m, d)
		}
	}
}

func TestWordsValidate(t *testing.T) {
	for want, change := range map[string]func(*universal.Config){
		"tokens_per_position is -1":  func(c *universal.Config) { c.TokensPerPosition = -1 },
		"needs one token a position": func(c *universal.Config) { c.TokensPerPosition, c.SharedEmbedding, c.TargetVocabulary = 2, true, 7 },
	} {
		c := twoWords()
		change(&c)
		if err := (universal.Encoder{Config: c}).Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// By hand, over lengths 3, 1 and 0. Caught when planted: a sum in place of the last, padding counted.
func TestPools(t *testing.T) {
	exec, err := model.NewExec(enginetest.Backend(t), model.NewStore(), func(_ *model.Scope, state, mask *Node) []*Node {
		return []*Node{universal.Mean(state, mask), universal.Last(state, mask)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call([][][]float64{{{1, 2}, {3, 5}, {5, 11}}, {{7, 8}, {9, 9}, {9, 9}}, {{4, 4}, {4, 4}, {4, 4}}},
		[][]bool{{true, true, true}, {true, false, false}, {false, false, false}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{3, 6, 7, 8, 0, 0}, {5, 11, 7, 8, 0, 0}} {
		if got := flat(out[i]); distance(got, want) > 1e-15 {
			t.Errorf("pool %d gives %v, want %v", i, got, want)
		}
	}
}

func values(x *machine, name string) []float64 {
	x.t.Helper()
	return flat(x.store.GetVariable(universal.Path(name)).MustValue())
}

func set(x *machine, name string, to []float64) {
	x.t.Helper()
	v := x.store.GetVariable(universal.Path(name))
	if err := v.SetValue(tensorOf(to, v.DType(), v.Shape().Dimensions)); err != nil {
		x.t.Fatal(err)
	}
}
