package decoding_test

import (
	"context"
	"errors"
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
	"universal-transformer/internal/longtest"
	"universal-transformer/internal/modeltest"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// models is every halting policy with every transition and both places of the norms, and models that differ in one field from one that halts by
// itself.
func models(precision dtypes.DType) map[string]universal.Config {
	return modelsOf(precision, func(int, int, int) bool { return true })
}

// pairedModels are half of models, in which every policy meets every transition, and both meet both places of the norms; all of them in
// the long form.
func pairedModels(precision dtypes.DType) map[string]universal.Config {
	return modelsOf(precision, func(policy, transition, norm int) bool { return longtest.Enabled() || (policy+transition+norm)%2 == 0 })
}

// modelsOf makes the models whose policy, transition and place of the norms are wanted, counted from 0, and those that differ in one field.
func modelsOf(precision dtypes.DType, wanted func(policy, transition, norm int) bool) map[string]universal.Config {
	transitions := append(modeltest.Transitions(8), universal.SeparableConvolution{Filter: 8, Widths: [2]int{3, 1}})
	base := universal.Config{
		SourceVocabulary: 7, TargetVocabulary: 6, Width: 8, Heads: 2, Seed: 1, Precision: precision,
		Dropout: universal.Dropout{Residual: 0.5}, Positions: universal.RandomOffset{Max: 50},
	}
	list := map[string]universal.Config{}
	for i, named := range modeltest.Policies(4) {
		p := named.Policy
		for j, transition := range transitions {
			for k, preNorm := range []bool{false, true} {
				if !wanted(i, j, k) {
					continue
				}
				_, tied := p.(halting.Length)
				config := base
				config.Transition, config.Halting, config.PreNorm, config.LearnedSteps = transition, p, preNorm, preNorm && !tied
				name := fmt.Sprintf("%T, %T, pre-norm %v", p, transition, preNorm)
				if j == 2 {
					name += ", other widths"
				}
				list[name] = config
				if _, fixed := p.(halting.Fixed); fixed {
					config.UntiedLayers, config.LearnedSteps = true, false
					list[name+", untied"] = config
				}
			}
		}
	}
	base.Transition, base.Halting = transitions[0], halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.05}}
	for _, v := range modeltest.Variants(base) {
		list["one field, "+v.Name] = v.Config
	}
	return list
}

// randomWeights gives a store of random weights for a model.
func randomWeights(t *testing.T, m universal.Model) *model.Store {
	t.Helper()
	store := model.NewStore()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		return m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits
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

// teacherForced gives the log-probabilities [B][N][V] after the true tokens.
func teacherForced(t *testing.T, m universal.Model, store *model.Store, sources, targets [][]int32) []float64 {
	t.Helper()
	exec, err := model.NewExec(enginetest.Backend(t), store, func(scope *model.Scope, source, target *Node) *Node {
		logits := m.Forward(scope, universal.Inputs{Source: source, Target: target}, universal.Options{}).Logits
		scope.Store().SetTraining(source.Graph(), false)
		return LogSoftmax(ConvertDType(logits, dtypes.Float64))
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

// tolerance is how far log-probabilities may be apart, for the largest of them.
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
			t.Errorf("%s: log-probability %d is off by %.2g", name, v, d)
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

// Decoding token by token with a cache, each source encoded once and padded as the decoder pads, gives the log-probabilities of teacher forcing and
// those of decoding without a cache: position by position, sources of unequal lengths, rows in another order, twice, or given up on the
// way; both precisions, all policies and transitions.
// Caught when planted: keys of one step used in all; a cache written one position off; positions behind the present one seen; coordinates
// of the position before; one convolution window used for both convolutions; a memory of another row.
func TestDecoderAgreesWithTeacherForcing(t *testing.T) {
	sources := [][]vocab.ID{{3, 6, 2}, {4, 2, 5, 5, 6, 3, 2, 2, 4}, {5, 5, 2, 6}}
	const length = 100
	targets := [][]vocab.ID{repeated(length, 0), repeated(length, 1), repeated(length, 3)}
	padded := [][]vocab.ID{append(slices.Clone(sources[0]), make([]vocab.ID, 6)...), sources[1], append(slices.Clone(sources[2]), make([]vocab.ID, 5)...)}
	for _, precision := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
		for name, config := range pairedModels(precision) {
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
			var tokens []vocab.ID
			for n := range length {
				got, err := batch.Next(parents, tokens)
				if err != nil {
					t.Fatal(err)
				}
				for r, source := range rows {
					compare(t, fmt.Sprintf("%s %s: source %d, position %d", precision, name, source, n), got[r], want[(source*length+n)*config.TargetVocabulary:][:config.TargetVocabulary], tolerance(precision))
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
				tokens = nil
				for _, p := range parents {
					next = append(next, rows[p])
					tokens = append(tokens, targets[rows[p]][n])
				}
				rows = next
			}
			batch.Close()
			d.Close()
		}
	}
}

// A cache and no cache give the same log-probabilities at every position, of language models with prompts too, whose common part is read at once.
// Caught when planted: what TestDecoderAgreesWithTeacherForcing says; room that is not made when a sequence grows; tokens of a prompt
// that are not counted; a prompt read one token off.
func TestCacheAgreesWithoutIt(t *testing.T) {
	sources := [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3, 2, 2, 4}}
	for name, config := range pairedModels(dtypes.Float64) {
		for _, language := range []bool{false, true} {
			if strings.HasPrefix(name, "halting.Length") && language {
				continue
			}
			d := decoder(t, config, language)
			defer d.Close()
			cached, uncached := start(t, d, sources)
			parents := []int{0, 1}
			var tokens []vocab.ID
			for n := range longtest.Of(40, 200) { // a cache begins with room for 16 positions, then for 32, 48, 80, ...
				got, err := cached.Next(parents, tokens)
				if err != nil {
					t.Fatal(err)
				}
				want, err := uncached.Next(parents, tokens)
				if err != nil {
					t.Fatal(err)
				}
				for r := range got {
					compare(t, fmt.Sprintf("%s, language %v: row %d, position %d", name, language, r, n), got[r], want[r], 1e-9)
				}
				tokens = []vocab.ID{vocab.ID(2 + n*n%4), vocab.ID(2 + (n/3)%4)}
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
		d, err = decoding.New(enginetest.Backend(t), randomWeights(t, m), m)
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

// limits of so many sources.
func limits(sources, limit int) []int {
	list := make([]int, sources)
	for i := range list {
		list[i] = limit
	}
	return list
}

// Every search finds the same with a cache and without: tokens, and scores to rounding; of sources that end at different times, and of
// prompts of different lengths. A source alone gets what it gets in a batch: each search decodes one of the sources alone, the long form all.
// Caught when planted: rows of a beam not moved; the memory of another source after a source has left; the end of a prompt searched for.
func TestSearchesAgree(t *testing.T) {
	sources := [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3, 2, 2, 4}, {2}, {5, 5, 3, 2, 2, 4}, {3, 3}}
	methods := map[string]decoding.Method{
		"greedy": {}, "beam": {Beam: decoding.Beam{Width: 3, Alpha: 0.6}}, "wide beam": {Beam: decoding.Beam{Width: 5}},
		"sampling": {Sampling: decoding.Sampling{Temperature: 1.5, TopK: 4, TopP: 0.95}, Seed: 7, First: 3},
	}
	ended, turn := 0, 0
	for name, config := range pairedModels(dtypes.Float64) {
		if !strings.Contains(name, "pre-norm false") && !strings.Contains(name, "Frozen") {
			continue
		}
		for _, language := range []bool{false, true} {
			if strings.HasPrefix(name, "halting.Length") && language {
				continue
			}
			d := decoder(t, config, language)
			defer d.Close()
			for called, method := range methods {
				found, err := d.Decode(t.Context(), sources, limits(5, 14), method, nil)
				if err != nil {
					t.Fatal(err)
				}
				_, uncached := start(t, d, sources)
				want, err := method.Search(t.Context(), decoding.Request{Limits: limits(5, 14), Next: uncached.Next, Rest: uncached.Rest()})
				if err != nil {
					t.Fatal(err)
				}
				turn++
				for i := range want {
					where := fmt.Sprintf("%s, language %v, %s, source %d", name, language, called, i)
					if !sameHypothesis(found[i], want[i]) {
						t.Errorf("%s: with a cache %+v, without %+v", where, found[i], want[i])
					}
					if found[i].Finished {
						ended++
					}
					if turn%len(sources) != i && !longtest.Enabled() {
						continue
					}
					alone := method
					alone.First += int64(i)
					if one, err := d.Decode(t.Context(), sources[i:i+1], limits(1, 14), alone, nil); err != nil || !sameHypothesis(one[0], found[i]) {
						t.Errorf("%s: alone %+v, in a batch %+v; %v", where, one, found[i], err)
					}
				}
			}
		}
	}
	if ended == 0 {
		t.Error("no sequence ended, so none left its batch")
	}
}

// What is sampled for a source in single precision does not depend on other sources that are padded to the same length: its
// log-probabilities are the same to the last bit.
func TestBatchesHaveTheLogitsOfTheirSources(t *testing.T) {
	config := models(dtypes.Float32)["halting.Frozen, universal.FeedForward, pre-norm true"]
	config.Width, config.Heads, config.Transition = 32, 2, universal.FeedForward{Filter: 96}
	d := decoder(t, config, false)
	defer d.Close()
	sources := [][]vocab.ID{repeated(20, 1), repeated(17, 2), repeated(24, 3)}
	batch, _ := start(t, d, sources)
	parents, tokens := []int{0, 1, 2}, []vocab.ID(nil)
	var together [][][]float64
	for range 70 {
		got, err := batch.Next(parents, tokens)
		if err != nil {
			t.Fatal(err)
		}
		kept := make([][]float64, len(got)) // they are valid until the next call
		for r := range got {
			kept[r] = slices.Clone(got[r])
		}
		together, tokens = append(together, kept), []vocab.ID{2, 3, 4}
	}
	for i := range sources {
		alone, _ := start(t, d, sources[i:i+1])
		tokens = nil
		for n := range 70 {
			got, err := alone.Next([]int{0}, tokens)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got[0], together[n][i]) {
				t.Fatalf("source %d, position %d: %v alone, %v in a batch", i, n, got[0], together[n][i])
			}
			tokens = []vocab.ID{vocab.ID(2 + i)}
		}
	}
}

// The cache has the size that the package comment states: 2 T S D numbers a row, T (2 D + 4 F) more with convolutions, and 2 M D for the
// source, whatever the rows that it has.
// Caught when planted: room doubled in place of half as much more; keys of the source kept for every step, or for every row.
func TestCacheSize(t *testing.T) {
	for name, windows := range map[string]int{"FeedForward": 0, "SeparableConvolution": 4 * (2*8 + 4*8)} {
		d := decoder(t, models(dtypes.Float64)["halting.Fixed, universal."+name+", pre-norm false"], false)
		defer d.Close()
		batch, _ := start(t, d, [][]vocab.ID{{2, 3, 4}, {2}})
		parents, tokens, rows := []int{0, 1}, []vocab.ID(nil), 2
		for n := range 100 {
			if n == 60 {
				parents, rows = []int{0, 0, 1}, 4 // each source has room for as many
			}
			if n == 61 {
				parents = []int{0, 1, 2}
			}
			if _, err := batch.Next(parents, tokens); err != nil {
				t.Fatal(err)
			}
			if tokens = []vocab.ID{2, 3}; n >= 59 {
				tokens = []vocab.ID{2, 3, 4}
			}
			room := 16
			for _, next := range []int{32, 48, 80, 128} {
				if n >= room {
					room = next
				}
			}
			const sources = 2 * (8*2*8*8 + 8) // keys and values, and masks
			if want := rows*8*(2*4*room*8+windows) + sources; batch.Bytes() != want {
				t.Fatalf("%s: %d bytes after %d tokens, want %d", name, batch.Bytes(), n+1, want)
			}
		}
	}
}

// Ids that the model does not have, rows that there are not, and a context that has ended are errors. Nothing is decoded of nothing.
func TestDecoderErrors(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	for _, id := range []vocab.ID{0, 7, -1} {
		if _, err := d.Start([][]vocab.ID{{2}, {3, id}}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("source 2 holds id %d, but ids go from 1 to 6", id)) {
			t.Errorf("id %d: %v", id, err)
		}
	}
	batch, _ := start(t, d, [][]vocab.ID{{2}})
	if _, err := batch.Next([]int{1}, nil); err == nil || !strings.Contains(err.Error(), "row 1 of 1") {
		t.Errorf("a row that there is not: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := d.Decode(ctx, [][]vocab.ID{{2}}, []int{20}, decoding.Method{}, func(int, vocab.ID) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
	if found, err := d.Decode(t.Context(), nil, nil, decoding.Method{}, nil); err != nil || len(found) != 0 {
		t.Errorf("nothing is decoded to %v, %v", found, err)
	}
	if found, err := d.Decode(t.Context(), [][]vocab.ID{{2}}, []int{0}, decoding.Method{}, nil); err != nil || len(found[0].Tokens) != 0 {
		t.Errorf("no tokens at most: %v, %v", found, err)
	}
}

// Rows of a source may continue any of its rows, several of them the same one: each has the log-probabilities of its own prefix. Parents
// are drawn at random, so that rows are often given up and copied three times in one step.
// Caught when planted: two copies of one parent in the same slot.
func TestRandomParentsAgreeWithoutCache(t *testing.T) {
	d := decoder(t, models(dtypes.Float64)["halting.Frozen, universal.FeedForward, pre-norm true"], false)
	defer d.Close()
	cached, uncached := start(t, d, [][]vocab.ID{{3, 5, 2}, {4, 2, 5, 5, 4, 3}})
	rng := rand.New(rand.NewPCG(8, 1))
	const perSource = 5
	sources, parents := []int{0, 1}, []int{0, 1}
	var tokens []vocab.ID
	for n := range 24 {
		got, err := cached.Next(parents, tokens)
		if err != nil {
			t.Fatal(err)
		}
		want, err := uncached.Next(parents, tokens)
		if err != nil {
			t.Fatal(err)
		}
		for r := range want {
			compare(t, fmt.Sprintf("row %d, position %d, parents %v", r, n, parents), got[r], want[r], 1e-9)
		}
		var next []int
		parents, tokens = nil, nil
		for source := range 2 {
			rows := of(sources, source)
			for range perSource {
				parents = append(parents, rows[rng.IntN(len(rows))])
				tokens = append(tokens, vocab.ID(2+rng.IntN(4)))
				next = append(next, source)
			}
		}
		sources = next
	}
}

// of lists the rows of a source.
func of(sources []int, source int) (rows []int) {
	for r, s := range sources {
		if s == source {
			rows = append(rows, r)
		}
	}
	return rows
}
