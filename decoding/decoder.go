package decoding

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// A Decoder decodes with a model. It keeps its compiled graphs, so one decoder should be used for all sources. It is not safe for
// concurrent use.
type Decoder struct {
	backend   compute.Backend
	model     Model
	language  bool // the model is a language model, whose sources are prompts
	shared    bool // tensors are plain memory in row order, so rows can be copied in place
	fewGraphs bool // compile few graphs; see engine.CompilesSlowly

	cacheSource, next, counted, uncached *model.Exec
	gather, grow                         *Exec
}

// A Model can be decoded: it reads a sequence token by token and keeps a cache between tokens. It is an interface because attention
// caches keys and values, and a recurrent network its state.
type Model interface {
	universal.Model
	// Vocabularies returns the number of ids of sources and targets; source is 0 for a language model, whose sources are prompts.
	Vocabularies() (source, target int)
	// CheckSource returns an error if a source with this number of positions is too long for the model.
	CheckSource(positions int) error
	// SourceCacheShapes lists the shapes of CacheSource's results.
	SourceCacheShapes(sources, positions int) []shapes.Shape
	// CacheSource computes the part of sources [B, M] that all tokens of an answer read: nodes [B, ...].
	CacheSource(scope *model.Scope, source *Node) []*Node
	// CacheShapes lists the tensors [R, ...] of the cache for a number of rows of at most capacity tokens, whose sources have the
	// given number of positions. The cache is initially zero.
	CacheShapes(rows, capacity, source int) []shapes.Shape
	// CacheCapacityAxis returns the axis of the i-th tensor of CacheShapes whose size is the capacity, or -1 if there is none.
	CacheCapacityAxis(i int) int
	// DecodeStep reads the next tokens [R, N] (the first token of a sequence is 0) and returns the logits [R, V] of the token after them.
	// Every source has R/B adjacent rows.
	DecodeStep(scope *model.Scope, tokens *Node, cache *universal.Cache) *Node
}

// New makes a decoder for a model whose variables are in store. The sources of a language model are prompts, possibly empty, which
// its answers continue.
func New(backend compute.Backend, store *model.Store, m Model) (*Decoder, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	source, _ := m.Vocabularies()
	few := engine.CompilesSlowly(backend)
	// XLA may share memory too, but does not guarantee the row order of tensors, nor that its results may be changed.
	d := &Decoder{backend: backend, model: m, language: source == 0, shared: !few && backend.HasSharedBuffers(), fewGraphs: few}
	return d, d.prepare(store)
}

func (d *Decoder) prepare(store *model.Store) (err error) {
	if d.gather, err = NewExec(d.backend, gatherGraph); err != nil {
		return err
	}
	if d.grow, err = NewExec(d.backend, d.growGraph); err != nil {
		return err
	}
	d.gather.SetMaxCache(-1)
	d.grow.SetMaxCache(-1)
	for _, e := range []struct {
		exec  **model.Exec
		graph func(*model.Scope, []*Node) []*Node
	}{{&d.cacheSource, d.cacheSourceGraph}, {&d.next, d.nextGraph}, {&d.counted, d.countedGraph}, {&d.uncached, d.uncachedGraph}} {
		if *e.exec, err = model.NewExec(d.backend, store, e.graph); err != nil {
			return err
		}
		(*e.exec).SetMaxCache(-1)
	}
	return nil
}

// Close frees the compiled graphs.
func (d *Decoder) Close() {
	for _, e := range []*model.Exec{d.cacheSource, d.next, d.counted, d.uncached} {
		e.Finalize()
	}
	d.gather.Finalize()
	d.grow.Finalize()
}

// pad returns sources as a rectangle, with the last source repeated up to the number of rows given by Rows.
func pad(sources [][]vocab.ID) (ids []vocab.ID, rows, width int) {
	var longest int
	for _, s := range sources {
		longest = max(longest, len(s))
	}
	rows, width = Rows(len(sources)), roundUp(longest)
	ids = make([]vocab.ID, rows*width)
	for i := range rows {
		copy(ids[i*width:], sources[min(i, len(sources)-1)])
	}
	return ids, rows, width
}

// check rejects ids outside the model's vocabulary.
func (d *Decoder) check(sources [][]vocab.ID) error {
	size, target := d.model.Vocabularies()
	if d.language {
		size = target
	}
	for i, s := range sources {
		if err := d.model.CheckSource(len(s)); err != nil {
			return fmt.Errorf("source %d has %d tokens, and %w", i+1, len(s), err)
		}
		for _, id := range s {
			if id < 1 || int(id) >= size {
				return fmt.Errorf("decoding: source %d holds id %d, but ids go from 1 to %d", i+1, id, size-1)
			}
		}
	}
	return nil
}

// free releases tensors.
func free(list ...*tensors.Tensor) {
	for _, t := range list {
		_ = t.FinalizeAll()
	}
}

// integers returns values as a tensor [R] of int32.
func integers(values []int) *tensors.Tensor {
	flat := make([]int32, len(values))
	for i, v := range values {
		flat[i] = int32(v)
	}
	return tensors.FromFlatDataAndDimensions(flat, len(values))
}
