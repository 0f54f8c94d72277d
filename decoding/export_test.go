package decoding

import (
	"context"

	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/internal/vocab"
)

// FewGraphs makes a decoder compile few graphs, as it does where that takes long.
func (d *Decoder) FewGraphs() { d.fewGraphs = true }

// Rows is how many rows the tensors have.
func (c *Cached) Rows() int { return c.rows() }

// Chunks are the numbers of tokens of a prompt that are read at once.
func (d *Decoder) Chunks(tokens int) []int { return d.chunks(tokens) }

// NotShared makes a decoder gather all rows where it could copy some in place, as it does where tensors are not plain memory.
func (d *Decoder) NotShared() { d.shared = false }

// Memory is what so many sources take, with so many rows each.
func (d *Decoder) Memory(sources, perSource, source, limit int) float64 {
	return d.bytes(Rows(sources), perSource, source, limit)
}

// CallAll calls every graph without inputs and returns the errors.
func (d *Decoder) CallAll() map[string]error {
	errs := map[string]error{}
	for name, call := range map[string]func(...any) ([]*tensors.Tensor, error){
		"cacheSource": d.cacheSource.Call, "next": d.next.Call, "counted": d.counted.Call, "uncached": d.uncached.Call, "gather": d.gather.Call, "grow": d.grow.Call,
	} {
		_, errs[name] = call()
	}
	return errs
}

// Decode answers sources with a cache, with at most limits[i] tokens for source i. If onToken is not nil, it is used as
// [Request].OnToken.
func (d *Decoder) Decode(ctx context.Context, sources [][]vocab.ID, limits []int, m Method, onToken func(source int, token vocab.ID)) ([]Hypothesis, error) {
	queries := make([]Query, len(sources))
	for i := range queries {
		queries[i] = Query{Source: sources[i], Limit: limits[i], Number: m.First + int64(i)}
		if onToken != nil {
			queries[i].OnToken = func(token vocab.ID) { onToken(i, token) }
		}
	}
	return d.Answer(ctx, queries, m, 0, nil)
}
