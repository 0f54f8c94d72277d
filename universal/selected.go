package universal

import (
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
)

// haltedCache holds what later steps attend to if each step computes only selected positions: the keys and values of all positions,
// including halted ones, updated when states change. A halted position is attended to with the coordinates of the current step.
//
// With post-norm, keys and values are linear in X = H + P^t, and P^t is the sum of a term in the position and one in the step. They
// are therefore cached for H and the position's term, [B, M, D]. The step's term is the same for all positions. Added to the keys, it
// adds the same number to all scores of a query, which the softmax ignores; added to the values, it is added to the result, because
// weights sum to one. This needs scores that are linear in keys, and keys that depend on the position in no other way. With pre-norm, keys
// and values are not linear in X, and the states themselves are cached.
type haltedCache struct {
	coordinates coordinates // of all positions
	state       *Node       // H, [B, M, D]; pre-norm only
	key, value  *Node       // of H + the position's coordinates, [B, M, D]; post-norm only
}

// selectPositions makes the following steps compute only selected positions.
func (s *stack) selectPositions(selection *halting.Selection) {
	if s.halted == nil {
		s.halted = s.newHaltedCache()
	}
	s.selection = selection
	s.coordinates = s.halted.coordinates.selected(selection)
	s.masks.selectPositions(selection)
}

// newHaltedCache returns the cache before the first step.
func (s *stack) newHaltedCache() *haltedCache {
	cache := &haltedCache{coordinates: s.coordinates}
	if s.PreNorm {
		cache.state = s.state
		return cache
	}
	x := Add(s.state, s.coordinates.position)
	cache.key, cache.value = s.projectSelf("key", x), s.projectSelf("value", x)
	return cache
}

// reach returns the positions around one that its transition depends on.
func (s *stack) reach() (r halting.Reach) {
	for _, w := range s.Transition.CacheWindows(s.Width) {
		if s.causal {
			r.Before += w.Positions
		} else {
			r.Before += w.Positions / 2
			r.After += w.Positions - w.Positions/2
		}
	}
	return r
}

// updateHalted adds the change of the selected positions' states to the cache.
func (s *stack) updateHalted(change *Node) {
	if s.PreNorm {
		s.halted.state = s.selection.Add(s.halted.state, change)
		return
	}
	s.halted.key = s.selection.Add(s.halted.key, s.projectSelf("key", change))
	s.halted.value = s.selection.Add(s.halted.value, s.projectSelf("value", change))
}

// selfContext returns the keys and values of self-attention in step t: those of the states x or, if positions are selected, of all
// positions in the cache.
func (s *stack) selfContext(t int, x *Node) *attentionContext {
	cache := s.halted
	switch {
	case cache == nil:
		return s.newContext("self_attention", x)
	case s.PreNorm:
		return s.newContext("self_attention", s.norm("self_attention_norm", cache.coordinates.add(t, cache.state)))
	}
	context := &attentionContext{key: s.heads(cache.key), value: s.heads(cache.value), valueShift: s.projectSelf("value", cache.coordinates.step(t))}
	if s.Dropout.Attention > 0 { // weights with dropout do not sum to one
		context.value, context.valueShift = s.heads(Add(cache.value, context.valueShift)), nil
	}
	return context
}

// projectSelf computes keys or values of self-attention.
func (s *stack) projectSelf(name string, x *Node) *Node {
	return s.weights().Dense(s.layer.At("self_attention"), name, x, s.Width)
}

// selectedCausalMask returns the mask [R, C, 1, M] with which selected positions attend to themselves and earlier positions.
func (s *stack) selectedCausalMask() *Node {
	columns := InsertAxes(s.selection.Columns(s.mask.Graph()), -1, -1) // [R, C, 1, 1]
	dims := columns.Shape().Dimensions
	columns = BroadcastToDims(columns, dims[0], dims[1], 1, s.mask.Shape().Dimensions[1])
	return LessOrEqual(Iota(columns.Graph(), columns.Shape(), 3), columns)
}
