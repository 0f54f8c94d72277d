package lstm

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
)

// Vocabularies returns the numbers of ids of sources and targets.
func (m EncoderDecoder) Vocabularies() (source, target int) {
	return m.SourceVocabulary, m.TargetVocabulary
}

// Vocabularies returns 0 for sources, which a language model does not have, and the number of ids of texts.
func (m Decoder) Vocabularies() (source, target int) { return 0, m.TargetVocabulary }

// maxPositions is the maximum length of a source. The time to make a graph grows faster than its number of positions.
const maxPositions = 2048

// CheckSource returns an error if the graph of a source with this number of positions takes too long to make.
func (m EncoderDecoder) CheckSource(positions int) error {
	if positions > maxPositions {
		return fmt.Errorf("the encoder's graph contains every position: at most %d can be read", maxPositions)
	}
	return nil
}

// CheckSource accepts any prompt, as prompts are read in chunks.
func (m Decoder) CheckSource(int) error { return nil }

// CacheShapes lists the tensors kept between tokens: the state and the cell of each layer, [R, D].
func (c Config) CacheShapes(rows, _, _ int) (list []shapes.Shape) {
	for range 2 * c.Layers {
		list = append(list, shapes.Make(c.precision(), rows, c.Width))
	}
	return list
}

// CacheCapacityAxis returns -1: the size of the cache does not depend on the number of tokens.
func (c Config) CacheCapacityAxis(int) int { return -1 }

// SourceCacheShapes lists the shapes of CacheSource's results: the initial states and cells of the decoder, as in CacheShapes, and,
// with attention, the mask of real positions [B, M] and the encoder's states [B, M, D].
func (m EncoderDecoder) SourceCacheShapes(sources, positions int) []shapes.Shape {
	list := m.CacheShapes(sources, 0, 0)
	if m.Attention {
		list = append(list, shapes.Make(dtypes.Bool, sources, positions), shapes.Make(m.precision(), sources, positions, m.Width))
	}
	return list
}

// SourceCacheShapes returns nil, as there is no source.
func (m Decoder) SourceCacheShapes(int, int) []shapes.Shape { return nil }

// CacheSource encodes sources [B, M].
func (m EncoderDecoder) CacheSource(scope *model.Scope, source *Node) []*Node {
	encoded, _ := m.encode(scope, source)
	list := listed(encoded.start)
	if m.Attention {
		list = append(list, encoded.mask, encoded.states)
	}
	return list
}

// CacheSource returns nil, as there is no source.
func (m Decoder) CacheSource(*model.Scope, *Node) []*Node { return nil }

// DecodeStep reads the next tokens [R, N] and returns the logits [R, V] of the token after them; see
// universal.EncoderDecoder.DecodeStep.
func (m EncoderDecoder) DecodeStep(scope *model.Scope, tokens *Node, cache *universal.Cache) *Node {
	start, kept := cache.Source[:2*m.Layers], cache.Tensors
	first := Equal(cache.Length, ScalarZero(tokens.Graph(), cache.Length.DType()))
	from := make([]*Node, len(kept))
	for i := range kept {
		from[i] = Where(first, universal.PerRow(start[i], tokens.Shape().Dimensions[0]), kept[i])
	}
	last := m.read(scope, tokens, from, cache) // [R, 1, D]
	if m.Attention {
		encoded := memory{mask: cache.Source[2*m.Layers], states: cache.Source[2*m.Layers+1]}
		queries := Reshape(last, encoded.states.Shape().Dimensions[0], -1, m.Width) // the rows of a source are adjacent
		queries, _ = m.attend(scope.At("decoder"), queries, encoded)
		last = Reshape(queries, last.Shape().Dimensions...)
	}
	return Squeeze(m.readout(scope, last), 1)
}

// DecodeStep is like that of [EncoderDecoder] without a source: a language model starts from the zeros of an empty cache.
func (m Decoder) DecodeStep(scope *model.Scope, tokens *Node, cache *universal.Cache) *Node {
	return Squeeze(m.readout(scope, m.read(scope, tokens, cache.Tensors, cache)), 1)
}

// read reads tokens [R, N], starting from the states and cells in from. It puts the states and cells after the tokens into the cache,
// and returns the last state of the last layer, [R, 1, D].
func (c Config) read(scope *model.Scope, tokens *Node, from []*Node, cache *universal.Cache) *Node {
	start := make([]state, c.Layers)
	for i := range start {
		start[i] = state{from[2*i], from[2*i+1]}
	}
	top, all := c.stack(scope.At("decoder"), c.embedding().Target(scope, tokens), start)
	for i := range all {
		start[i] = state{at(all[i].hidden, -1), at(all[i].cell, -1)}
	}
	cache.Tensors = listed(start)
	return SliceAxis(top, 1, AxisElem(-1))
}

// listed returns the states and cells of all layers in one list.
func listed(states []state) (list []*Node) {
	for _, s := range states {
		list = append(list, s.hidden, s.cell)
	}
	return list
}
