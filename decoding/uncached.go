package decoding

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Uncached is a batch that is being decoded without a cache: sources are encoded once, but for every token the decoder runs over
// the whole prefix. [Cached] is tested against it.
type Uncached struct {
	d        *Decoder
	prompts  [][]vocab.ID
	source   []*tensors.Tensor
	rows     []int // the source of each row
	prefixes [][]vocab.ID
}

// StartUncached is Start without a cache.
func (d *Decoder) StartUncached(sources [][]vocab.ID) (*Uncached, error) {
	if err := d.check(sources); err != nil || len(sources) == 0 {
		return &Uncached{d: d}, err
	}
	u := &Uncached{d: d, prompts: sources}
	if d.model != nil {
		var err error
		if u.source, err = d.encodeSources(d.encode, sources); err != nil {
			return nil, err
		}
		u.prompts = nil
	}
	return u, nil
}

// Close frees the tensors.
func (u *Uncached) Close() {
	free(u.source...)
	u.source = nil
}

// Rest is that of [Cached].
func (u *Uncached) Rest() [][]vocab.ID { return rest(u.prompts) }

// Next is the function that the searches call.
func (u *Uncached) Next(parents []int, tokens []vocab.ID) ([][]float64, error) {
	rows, prefixes := make([]int, len(parents)), make([][]vocab.ID, len(parents))
	for r, parent := range parents {
		switch {
		case tokens != nil:
			rows[r] = u.rows[parent]
			prefixes[r] = append(slices.Clone(u.prefixes[parent]), tokens[r])
		case u.prompts != nil:
			prefixes[r] = u.prompts[parent][:shortest(u.prompts)]
			fallthrough
		default:
			rows[r] = parent
		}
	}
	u.rows, u.prefixes = rows, prefixes
	return u.logits()
}

// logits runs the model over all prefixes.
func (u *Uncached) logits() ([][]float64, error) {
	n := len(u.prefixes[0])
	width := roundUp(n + 1)
	ids := make([]vocab.ID, 0, len(u.rows)*width)
	for _, prefix := range u.prefixes {
		ids = append(ids, prefix...)
		for range width - n { // not read, but not padding either: adaptive models halt at padding
			ids = append(ids, vocab.End)
		}
	}
	args := []any{tensors.FromFlatDataAndDimensions(ids, len(u.rows), width), int32(n), integers(u.rows)}
	for _, t := range u.source {
		args = append(args, t)
	}
	out, err := u.d.uncached.Call(args...)
	if err != nil {
		return nil, err
	}
	return logitRows(out[0]), nil
}

// uncachedGraph gives the logits [R, V] at one position of the decoder, from the rows' tokens [R, N], the position, counted from 0, the
// source that each row belongs to [R], and, if there are sources, what encodeGraph gives.
func (d *Decoder) uncachedGraph(scope *model.Scope, nodes []*Node) []*Node {
	tokens, position, rows := nodes[0], nodes[1], nodes[2]
	g, in := tokens.Graph(), universal.Inputs{Target: tokens}
	scope.Store().SetTraining(g, false)
	var logits *Node // [R, N, V]
	if d.language != nil {
		logits = d.language.Forward(scope, in, universal.Options{}).Logits
	} else {
		memory := universal.Memory{State: rowsOf(nodes[3], rows), Mask: rowsOf(nodes[4], rows)}
		logits = d.model.Decode(scope, memory, in, universal.Options{}).Logits
	}
	here := Equal(Iota(g, shapes.Make(dtypes.Int32, logits.Shape().Dimensions...), 1), position)
	return []*Node{ReduceSum(Where(here, logits, ZerosLike(logits)), 1)} // GoMLX's portable backend has no DynamicSlice
}
