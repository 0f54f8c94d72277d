package decoding

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// Uncached is a batch that is decoded without a cache: for every token the model runs over the source and the whole prefix, as in
// training. The tests compare [Cached] with it.
type Uncached struct {
	d        *Decoder
	sources  [][]vocab.ID // prompts of a language model
	rows     []int        // the source of each row
	prefixes [][]vocab.ID
	last     []float64 // log-probabilities, [R][V]
}

// StartUncached is like Start, without a cache.
func (d *Decoder) StartUncached(sources [][]vocab.ID) (*Uncached, error) {
	return &Uncached{d: d, sources: sources}, d.check(sources)
}

// Close does nothing.
func (u *Uncached) Close() {}

// prompts returns the prefixes' beginnings.
func (u *Uncached) prompts() [][]vocab.ID {
	if u.d.language {
		return u.sources
	}
	return nil
}

// Rest is like that of [Cached].
func (u *Uncached) Rest() [][]vocab.ID { return rest(u.prompts()) }

// Next implements [Next] for the searches.
func (u *Uncached) Next(parents []int, tokens []vocab.ID) ([][]float64, error) {
	rows, prefixes := make([]int, len(parents)), make([][]vocab.ID, len(parents))
	for r, parent := range parents {
		if tokens != nil {
			rows[r], prefixes[r] = u.rows[parent], append(slices.Clone(u.prefixes[parent]), tokens[r])
			continue
		}
		if rows[r] = parent; u.d.language {
			prefixes[r] = u.sources[parent][:shortest(u.sources)]
		}
	}
	u.rows, u.prefixes = rows, prefixes
	return u.logP()
}

// logP runs the model over all sources and prefixes.
func (u *Uncached) logP() ([][]float64, error) {
	n := len(u.prefixes[0])
	width := roundUp(n + 1)
	ids := make([]vocab.ID, 0, len(u.rows)*width)
	sources := make([][]vocab.ID, len(u.rows))
	for r, prefix := range u.prefixes {
		sources[r] = u.sources[u.rows[r]]
		ids = append(ids, prefix...)
		for range width - n { // ignored, but not padding, at which adaptive models halt
			ids = append(ids, vocab.End)
		}
	}
	source, rows, positions := pad(sources)
	out, err := u.d.uncached.Call(
		tensors.FromFlatDataAndDimensions(ids, len(u.rows), width), int32(n),
		tensors.FromFlatDataAndDimensions(source[:len(source)/rows*len(u.rows)], len(u.rows), positions))
	if err != nil {
		return nil, engine.Plain(err)
	}
	return readRows(out[0], &u.last)
}

// uncachedGraph computes the log-probabilities [R, V] at one position of the decoder, from the rows' tokens [R, N], the position, counted
// from 0, and the rows' sources [R, M], which a language model does not read.
func (d *Decoder) uncachedGraph(scope *model.Scope, nodes []*Node) []*Node {
	tokens, position, source := nodes[0], nodes[1], nodes[2]
	g := tokens.Graph()
	scope.Store().SetTraining(g, false)
	logits := d.model.Forward(scope, universal.Inputs{Source: source, Target: tokens}, universal.Options{}).Logits // [R, N, V]
	here := Equal(Iota(g, shapes.Make(dtypes.Int32, logits.Shape().Dimensions...), 1), position)
	return []*Node{LogSoftmax(ReduceSum(Where(here, logits, ZerosLike(logits)), 1))} // GoMLX's portable backend has no DynamicSlice
}
