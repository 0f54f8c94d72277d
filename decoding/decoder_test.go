package decoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// models is every halting policy with every transition, both places of the norms, and all random weights.
func models() map[string]universal.EncoderDecoder {
	act := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
	list := map[string]universal.EncoderDecoder{}
	for _, p := range []halting.Policy{halting.Fixed{Steps: 3}, halting.Length{}, halting.Listing{ACT: act}, halting.Graves{ACT: act}, halting.Frozen{ACT: act}} {
		for _, transition := range []universal.Transition{universal.FeedForward{Filter: 8}, universal.SeparableConvolution{Filter: 8}} {
			for _, preNorm := range []bool{false, true} {
				list[fmt.Sprintf("%T, %T, pre-norm %v", p, transition, preNorm)] = universal.EncoderDecoder{Config: universal.Config{
					SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Transition: transition, Halting: p, PreNorm: preNorm,
					Dropout: universal.Dropout{Residual: 0.5}, Positions: universal.Positions{Max: 50},
				}}
			}
		}
	}
	return list
}

// teacherForced gives the logits [B][N][V] after the true symbols, and a store of random weights that they were computed with.
func teacherForced(t *testing.T, m universal.EncoderDecoder, sources, targets [][]int32) (logits []float32, store *model.Store) {
	t.Helper()
	store = model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Watch{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call(sources, targets); err != nil { // makes the variables
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 1))
	for v := range store.IterVariables() {
		values := make([]float32, v.Shape().Size())
		for i := range values {
			values[i] = float32(0.6 * rng.NormFloat64())
		}
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Call(sources, targets)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float32](out[0]), store
}

// Decoding symbol by symbol, each source encoded once and padded as the decoder pads, gives the logits of teacher forcing: position by position,
// in any order of rows, and several rows of one source.
// Caught when planted: padding behind the prefix, so that the position asked for does not ponder; logits of the position before; a memory
// of another row; a mask of the wrong source.
func TestDecoderAgreesWithTeacherForcing(t *testing.T) {
	sources := [][]vocab.ID{{3, 6, 2}, {4, 2, 5, 5, 6, 3, 2, 2, 4}}
	targets := [][]vocab.ID{{2, 4, 3, 5, 2, 2, 4, 3, 5, 1}, {3, 3, 4, 2, 5, 4, 3, 2, 4, 1}}
	padded := [][]vocab.ID{append(slices.Clone(sources[0]), make([]vocab.ID, 6)...), sources[1]}
	for name, m := range models() {
		want, store := teacherForced(t, m, padded, targets)
		d, err := decoding.New(enginetest.Backend(t), store, m)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := d.Encode(sources)
		if err != nil {
			t.Fatal(err)
		}
		largest := 0.0
		for _, l := range want {
			largest = max(largest, math.Abs(float64(l)))
		}
		rows := []int{1, 0, 1}
		for n := range 10 {
			prefixes := [][]vocab.ID{targets[1][:n], targets[0][:n], targets[1][:n]}
			got, err := encoded.Next(rows, prefixes)
			if err != nil {
				t.Fatal(err)
			}
			for r, source := range rows {
				for v, l := range got[r] {
					if d := math.Abs(float64(l - want[(source*10+n)*6+v])); !(d <= 1e-5*largest) {
						t.Errorf("%s: after %d symbols of source %d, logit %d is off by %.2g", name, n, source, v, d)
					}
				}
			}
		}
		encoded.Close()
		d.Close()
	}
}

// What a batch is decoded to is what each source is decoded to alone.
func TestBatchesDecodeAsTheirSourcesAlone(t *testing.T) {
	sources := [][]vocab.ID{{3, 6, 2}, {4, 2, 5, 5, 6, 3, 2, 2, 4}, {2}}
	m := models()["halting.Frozen, universal.SeparableConvolution, pre-norm false"]
	_, store := teacherForced(t, m, sources[:1], [][]int32{{2, 1}})
	d, err := decoding.New(enginetest.Backend(t), store, m)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	beam := decoding.Beam{Width: 3, Alpha: 0.6}
	greedy, err := d.Greedy(sources, 12)
	if err != nil {
		t.Fatal(err)
	}
	beams, err := d.Beam(sources, 12, beam)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sources {
		alone, err := d.Greedy(sources[i:i+1], 12)
		if err != nil || !slices.Equal(alone[0].Symbols, greedy[i].Symbols) {
			t.Errorf("source %d: greedily %v alone, %v in a batch; %v", i, alone, greedy[i], err)
		}
		alone, err = d.Beam(sources[i:i+1], 12, beam)
		if err != nil || !slices.Equal(alone[0].Symbols, beams[i].Symbols) {
			t.Errorf("source %d: by beam search %v alone, %v in a batch; %v", i, alone, beams[i], err)
		}
	}
	for _, bad := range []vocab.ID{0, -1, 7} {
		if _, err := d.Greedy([][]vocab.ID{{2, bad}}, 3); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("source 0 holds id %d", bad)) {
			t.Errorf("id %d: %v", bad, err)
		}
	}
}
