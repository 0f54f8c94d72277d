package decoding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
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
func models(precision dtypes.DType) map[string]universal.Config {
	act := halting.ACT{MaxSteps: 4, Epsilon: 0.05}
	list := map[string]universal.Config{}
	for _, p := range []halting.Policy{halting.Fixed{Steps: 3}, halting.Length{Max: 5}, halting.Listing{ACT: act}, halting.Graves{ACT: act}, halting.Frozen{ACT: act}} {
		for _, transition := range []universal.Transition{universal.FeedForward{Filter: 8}, universal.SeparableConvolution{Filter: 8}} {
			for _, preNorm := range []bool{false, true} {
				_, tied := p.(halting.Length)
				list[fmt.Sprintf("%T, %T, pre-norm %v", p, transition, preNorm)] = universal.Config{
					SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Transition: transition, Halting: p, PreNorm: preNorm,
					LearnedSteps: preNorm && !tied, Precision: precision,
					Dropout: universal.Dropout{Residual: 0.5}, Positions: universal.Positions{Max: 50},
				}
			}
		}
	}
	return list
}

// randomWeights gives a store of random weights for a model.
func randomWeights(t *testing.T, m universal.Model) *model.Store {
	t.Helper()
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Watch{}).Logits
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call([][]int32{{2, 3}}, [][]int32{{2, 3}}); err != nil { // makes the variables
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 1))
	for v := range store.IterVariables() {
		values := make([]float64, v.Shape().Size())
		for i := range values {
			values[i] = 0.6 * rng.NormFloat64()
		}
		tensor := tensors.FromFlatDataAndDimensions(values, v.Shape().Dimensions...)
		if v.Shape().DType == dtypes.Float32 {
			single := make([]float32, len(values))
			for i, x := range values {
				single[i] = float32(x)
			}
			tensor = tensors.FromFlatDataAndDimensions(single, v.Shape().Dimensions...)
		}
		if err := v.SetValue(tensor); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// teacherForced gives the logits [B][N][V] after the true symbols.
func teacherForced(t *testing.T, m universal.Model, store *model.Store, sources, targets [][]int32) []float64 {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		logits := m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Watch{}).Logits
		scope.Store().SetTraining(source.Graph(), false)
		return ConvertDType(logits, dtypes.Float64)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(sources, targets)
	if err != nil {
		t.Fatal(err)
	}
	return tensors.MustCopyFlatData[float64](out[0])
}

// tolerance is how far logits may be apart, for the largest of them.
func tolerance(precision dtypes.DType) float64 {
	if precision == dtypes.Float64 {
		return 1e-9
	}
	return 2e-5
}

func compare(t *testing.T, name string, got, want []float64, tolerance float64) {
	t.Helper()
	for v, l := range got {
		if d := math.Abs(l - want[v]); !(d <= tolerance*max(1, math.Abs(want[v]))) {
			t.Errorf("%s: logit %d is off by %.2g", name, v, d)
			return
		}
	}
}

// repeated gives ids of a length, out of a few.
func repeated(length, first int) []vocab.ID {
	ids := make([]vocab.ID, length)
	for i := range ids {
		ids[i] = vocab.ID(2 + (i*i+first+i/7)%4)
	}
	return ids
}

// Decoding symbol by symbol with a cache, each source encoded once and padded as the decoder pads, gives the logits of teacher forcing and
// those of decoding without a cache: position by position, sources of unequal lengths, rows in another order, twice, or given up on the
// way; both precisions, all policies and transitions.
// Caught when planted: keys of one step used in all; a cache written one position off; positions behind the present one seen; coordinates
// of the position before; convolution windows of one step used in all; a memory of another row; rows not moved when one goes on twice.
func TestDecoderAgreesWithTeacherForcing(t *testing.T) {
	sources := [][]vocab.ID{{3, 6, 2}, {4, 2, 5, 5, 6, 3, 2, 2, 4}, {5, 5, 2, 6}}
	const length = 100
	targets := [][]vocab.ID{repeated(length, 0), repeated(length, 1), repeated(length, 3)}
	padded := [][]vocab.ID{append(slices.Clone(sources[0]), make([]vocab.ID, 6)...), sources[1], append(slices.Clone(sources[2]), make([]vocab.ID, 5)...)}
	for _, precision := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
		for name, config := range models(precision) {
			m := universal.EncoderDecoder{Config: config}
			store := randomWeights(t, m)
			want := teacherForced(t, m, store, padded, targets)
			d, err := decoding.New(enginetest.Backend(t), store, m)
			if err != nil {
				t.Fatal(err)
			}
			batch, err := d.Start(sources)
			if err != nil {
				t.Fatal(err)
			}
			rows, parents := []int{2, 0, 1}, []int{2, 0, 1} // the source of each row
			var symbols []vocab.ID
			for n := range length {
				if testing.Short() && n > 20 {
					break
				}
				got, err := batch.Next(parents, symbols)
				if err != nil {
					t.Fatal(err)
				}
				for r, source := range rows {
					compare(t, fmt.Sprintf("%s %s: source %d, position %d", precision, name, source, n), got[r], want[(source*length+n)*6:][:6], tolerance(precision))
				}
				parents = []int{0, 1, 2, 3, 4, 5, 6, 7}[:len(rows)]
				switch n {
				case 3: // another order
					parents = []int{1, 2, 0}
				case 5: // two rows of a source
					parents = []int{0, 0, 2, 1}
				case 9: // one is given up, the others stay
					parents = []int{1, 2, 3}
				case 70: // one is left
					parents = []int{1}
				}
				var next []int
				symbols = nil
				for _, p := range parents {
					next = append(next, rows[p])
					symbols = append(symbols, targets[rows[p]][n])
				}
				rows = next
			}
			batch.Close()
			d.Close()
		}
	}
}

// Caught when planted: what TestDecoderAgreesWithTeacherForcing says, and room that is not made when a sequence grows.
func TestCacheAgreesWithoutIt(t *testing.T) {
	sources := [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3, 2, 2, 4}}
	for name, config := range models(dtypes.Float64) {
		for _, language := range []bool{false, true} {
			if strings.HasPrefix(name, "halting.Length") && language {
				continue
			}
			d := decoder(t, config, language)
			defer d.Close()
			cached, uncached := start(t, d, sources)
			parents := []int{0, 1}
			var symbols []vocab.ID
			for n := range 200 {
				if testing.Short() && n > 70 {
					break
				}
				got, err := cached.Next(parents, symbols)
				if err != nil {
					t.Fatal(err)
				}
				want, err := uncached.Next(parents, symbols)
				if err != nil {
					t.Fatal(err)
				}
				for r := range got {
					compare(t, fmt.Sprintf("%s, language %v: row %d, position %d", name, language, r, n), got[r], want[r], 1e-9)
				}
				symbols = []vocab.ID{vocab.ID(2 + n*n%4), vocab.ID(2 + (n/3)%4)}
			}
		}
	}
}

func decoder(t *testing.T, config universal.Config, language bool) *decoding.Decoder {
	t.Helper()
	var d *decoding.Decoder
	var err error
	if language {
		m := universal.Decoder{Config: config}
		d, err = decoding.NewLanguage(enginetest.Backend(t), randomWeights(t, m), m)
	} else {
		m := universal.EncoderDecoder{Config: config}
		d, err = decoding.New(enginetest.Backend(t), randomWeights(t, m), m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func start(t *testing.T, d *decoding.Decoder, sources [][]vocab.ID) (*decoding.Cached, *decoding.Uncached) {
	t.Helper()
	cached, err := d.Start(sources)
	if err != nil {
		t.Fatal(err)
	}
	uncached, err := d.StartUncached(sources)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cached.Close)
	t.Cleanup(uncached.Close)
	return cached, uncached
}
