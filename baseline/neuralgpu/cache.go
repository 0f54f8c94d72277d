package neuralgpu

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
)

// Vocabularies returns the numbers of ids of sources and targets.
func (m Model) Vocabularies() (source, target int) { return m.SourceVocabulary, m.TargetVocabulary }

// CheckSource returns an error if the graph of a source with this number of positions takes too long to make.
func (m Model) CheckSource(positions int) error {
	if positions > maxPositions {
		return fmt.Errorf("the graph has as many steps as the source has tokens: at most %d can be read", maxPositions)
	}
	return nil
}

// CacheShapes returns nil: logits do not depend on the tokens before.
func (m Model) CacheShapes(int, int, int) []shapes.Shape { return nil }

// CacheCapacityAxis returns -1, as there is no cache.
func (m Model) CacheCapacityAxis(int) int { return -1 }

// SourceCacheShapes lists the shape of CacheSource's result: the logits of all slots, [B, M+1, V].
func (m Model) SourceCacheShapes(sources, positions int) []shapes.Shape {
	precision := m.Precision
	if precision == dtypes.InvalidDType {
		precision = dtypes.Float32
	}
	return []shapes.Shape{shapes.Make(precision, sources, positions+1, m.TargetVocabulary)}
}

// CacheSource computes the logits of all slots for sources [B, M].
func (m Model) CacheSource(scope *model.Scope, source *Node) []*Node {
	state, _ := m.run(scope, source)
	return []*Node{m.embedding().Readout(scope, state)}
}

// DecodeStep returns the logits [R, V] of the slot that follows the tokens [R, N] and those before them. It does not read the tokens.
func (m Model) DecodeStep(_ *model.Scope, tokens *Node, cache *universal.Cache) *Node {
	logits := universal.PerRow(cache.Source[0], tokens.Shape().Dimensions[0])
	slots := logits.Shape().Dimensions[1]
	at := AddScalar(cache.Length, float64(tokens.Shape().Dimensions[1]-1)) // the first token marks the start
	chosen := ReduceSum(Mul(logits, InsertAxes(OneHot(at, slots, logits.DType()), 0, -1)), 1)
	past := BroadcastToDims(GreaterOrEqual(at, Scalar(at.Graph(), at.DType(), slots)), chosen.Shape().Dimensions...)
	return Where(past, BroadcastToDims(certainEnd(logits), chosen.Shape().Dimensions...), chosen)
}
