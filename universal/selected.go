package universal

import (
	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/halting"
)

// shown is what the positions of a stack show each other while only some of them are worked on. A halted position is not
// transformed any more, but it is seen, with the coordinates of the step that looks.
//
// Post-norm, keys and values are linear in X = H + P^t, and P^t is a sum of one term in the position and one in the step. So
// they are kept for H and the position, [B, M, D], and changed where states changed. The step's term is the same for all: added to the
// keys it adds the same number to all scores of a query, which the softmax does not see, and added to the values it comes out as
// it is, because weights sum to one. Pre-norm, keys and values are not linear, and the states themselves are kept.
type shown struct {
	positions  coordinates // of all positions
	state      *Node       // H, [B, M, D]; pre-norm only
	key, value *Node       // of H + the position's coordinates, [B, M, D]; post-norm only
}

// choose makes the stack work on selected positions.
func (s *stack) choose(selection *halting.Selection) {
	if s.shown == nil {
		s.shown = s.show()
	}
	s.selection = selection
	s.coordinates = s.shown.positions.of(selection)
	s.masks.of(selection)
}

// show is what is seen before the first step.
func (s *stack) show() *shown {
	all := &shown{positions: s.coordinates}
	if s.PreNorm {
		all.state = s.state
		return all
	}
	located := Add(s.state, s.coordinates.position)
	all.key, all.value = s.project("key", located), s.project("value", located)
	return all
}

// moved lets the others see what became of the selected positions.
func (s *stack) moved(change *Node) {
	add := func(all **Node, change *Node) { *all = s.selection.Add(*all, change) }
	if s.PreNorm {
		add(&s.shown.state, change)
		return
	}
	add(&s.shown.key, s.project("key", change))
	add(&s.shown.value, s.project("value", change))
}

// keys gives the keys and values of self-attention in step t: those of the states x that are worked on, or those of all that are shown.
func (s *stack) keys(t int, x *Node) *lookup {
	all := s.shown
	switch {
	case all == nil:
		return s.lookup("self_attention", x)
	case s.PreNorm:
		return s.lookup("self_attention", s.norm("self_attention_norm", all.positions.add(t, all.state)))
	}
	of := &lookup{key: s.heads(all.key), value: s.heads(all.value), shift: s.project("value", all.positions.step(t))}
	if s.Dropout.Attention > 0 { // dropped weights do not sum to one
		of.value, of.shift = s.heads(Add(all.value, of.shift)), nil
	}
	return of
}

// project makes keys or values of self-attention.
func (s *stack) project(name string, context *Node) *Node {
	return s.weights().Dense(s.layer.At("self_attention"), name, context, s.Width)
}

// backwards is the mask [R, C, 1, M] of selected positions that look at themselves and those before them.
func (s *stack) backwards() *Node {
	columns := InsertAxes(s.selection.Columns(s.mask.Graph()), -1, -1) // [R, C, 1, 1]
	dims := columns.Shape().Dimensions
	columns = BroadcastToDims(columns, dims[0], dims[1], 1, s.mask.Shape().Dimensions[1])
	return LessOrEqual(Iota(columns.Graph(), columns.Shape(), 3), columns)
}
