package decoding

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/gomlx/compute/shapes"
	"universal-transformer/internal/vocab"
)

// A Query is a source to be answered.
type Query struct {
	Source []vocab.ID
	Limit  int   // maximum number of tokens of the answer, including End
	Number int64 // number of its random stream in sampling, which does not depend on other queries

	Done    <-chan struct{} // closing it stops this query; its answer is what has been decoded; may be nil
	OnToken func(vocab.ID)  // [Request].OnToken; may be nil

	Ends func(tokens []vocab.ID) bool // [Request].Ends; may be nil

	// OnSteps is called before OnToken with the number of the token, from 0, and how many steps the decoder's position ran that chose it;
	// 0 if the model has no steps. A query that is answered again after an error begins anew. It may be nil.
	OnSteps func(token, steps int)
}

// Answer answers queries with a cache, in groups whose estimated memory is at most the given number of bytes; 0 means
// [DefaultMemory]. The estimate covers the cache of answers that reach their limits, and the log-probabilities. A query that needs
// more memory than that is answered alone. If yield is not nil, it is called before each token, and other queries may be answered
// during the call.
func (d *Decoder) Answer(ctx context.Context, queries []Query, m Method, memory int64, yield func()) ([]Hypothesis, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if memory <= 0 {
		memory = DefaultMemory()
	}
	found := make([]Hypothesis, 0, len(queries))
	for len(queries) > 0 {
		n := d.fitting(queries, max(1, m.Beam.Width), float64(memory))
		more, err := d.answer(ctx, queries[:n], m, yield)
		if err != nil {
			return nil, err
		}
		found, queries = append(found, more...), queries[n:]
	}
	return found, nil
}

// answer answers queries in one batch.
func (d *Decoder) answer(ctx context.Context, queries []Query, m Method, yield func()) ([]Hypothesis, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sources, limits := make([][]vocab.ID, len(queries)), make([]int, len(queries))
	for i, q := range queries {
		sources[i], limits[i] = q.Source, q.Limit
	}
	batch, err := d.Start(sources)
	if err != nil {
		return nil, err
	}
	defer batch.Close()
	batch.Expect(slices.Max(limits))
	if slices.ContainsFunc(queries, func(q Query) bool { return q.OnSteps != nil }) {
		batch.steps = make([]int, len(queries))
	}
	chosen := make([]int, len(queries)) // tokens
	next := batch.Next
	if yield != nil {
		next = func(parents []int, tokens []vocab.ID) ([][]float64, error) {
			yield()
			return batch.Next(parents, tokens)
		}
	}
	return m.Search(ctx, Request{
		Limits: limits, Next: next, Rest: batch.Rest(),
		Number: func(source int) int64 { return queries[source].Number },
		OnToken: func(source int, token vocab.ID) {
			q := queries[source]
			if q.OnSteps != nil {
				q.OnSteps(chosen[source], batch.steps[source])
				chosen[source]++
			}
			if q.OnToken != nil {
				q.OnToken(token)
			}
		},
		Ends: func(source int, tokens []vocab.ID) bool {
			ends := queries[source].Ends
			return ends != nil && ends(tokens)
		},
		Stopped: func(source int) bool {
			select {
			case <-queries[source].Done:
				return true
			default:
				return false
			}
		},
	})
}

// fitting returns how many of the first queries fit into the memory together according to the estimate, at least 1.
func (d *Decoder) fitting(queries []Query, beam int, memory float64) int {
	longest, limit := 0, 0
	for i, q := range queries {
		longest, limit = max(longest, len(q.Source)), max(limit, q.Limit)
		if i > 0 && d.bytes(Rows(i+1), beam, longest, limit) > memory {
			return i
		}
	}
	return len(queries)
}

// bytes estimates the memory of sources of a given length, with perSource rows each and answers of at most limit tokens: the cache,
// and the log-probabilities of a token.
func (d *Decoder) bytes(sources, perSource, source, limit int) float64 {
	limit = min(limit, maxEstimated)
	width, tokens := roundUp(source), limit
	if d.language {
		width, tokens = 0, source+limit
	}
	size := func(list []shapes.Shape) (bytes float64) {
		for _, shape := range list {
			bytes += float64(shape.ByteSize())
		}
		return bytes
	}
	const logP = 4 + 8 // bytes of a number from the backend, and of its copy for the searches
	_, vocabulary := d.model.Vocabularies()
	row := size(d.model.CacheShapes(1, d.capacityFor(tokens), width)) + logP*float64(vocabulary)
	return float64(sources) * (size(d.model.SourceCacheShapes(1, width)) + float64(perSource)*row)
}

// maxEstimated limits the tokens of an answer in estimates: more fit into no memory.
const maxEstimated = 1 << 30

// DefaultMemory returns the default memory limit in bytes for queries decoded together: 1 GiB, or a quarter of GOMEMLIMIT if that is
// less.
func DefaultMemory() int64 {
	const limit = 1 << 30
	return min(limit, max(1, debug.SetMemoryLimit(-1)/4)) // a negative argument only reads the limit
}
