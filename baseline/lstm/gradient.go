package lstm

import . "github.com/gomlx/gomlx/core/graph"

// withGradient is run with a custom gradient. GoMLX's gradient of the positions of z, taken one by one, adds M tensors of the size of
// z, and computes U's gradient in M products. This gradient concatenates the positions of z and computes U's gradient in one product.
// Training is several times as fast (docs/log.md, 2026-11-22).
//
// GoMLX allows a custom gradient only for the identity. So everything that run reads is packed into one vector; its first entries are
// added to the result of run and subtracted again. That changes no value, and the gradient of the result arrives at the vector.
func withGradient(z, u *Node, start state) state {
	s := run(z, u, start)
	all := s.states()
	result := pack(all.hidden, all.cell)
	size := result.Shape().Size()
	both := append([]int{2, len(s.hidden)}, start.hidden.Shape().Dimensions...) // [2, M, B, D]
	read := IdentityWithCustomGradient(pack(z, u, start.hidden, start.cell), func(_, v *Node) *Node {
		of := Reshape(Slice(v, AxisRange(0, size)), both...)
		return s.gradient(state{at(of, 0), at(of, 1)})
	})
	carrier := Slice(read, AxisRange(0, size)) // z alone is twice as large
	result = Reshape(Add(StopGradient(result), Sub(carrier, StopGradient(carrier))), both...)
	return state{at(result, 0), at(result, 1)}
}

// pack concatenates all entries of nodes into one vector.
func pack(list ...*Node) *Node {
	flat := make([]*Node, len(list))
	for i, x := range list {
		flat[i] = Reshape(x, x.Shape().Size())
	}
	return Concatenate(flat, 0)
}

// gradient returns the gradient of z, U, and the state and the cell before the first position, packed, given that of the states and
// cells of all positions, [M, B, D]. With h and c for the gradients of a position's state and cell, including that of the next
// position, and a' for sigmoid(a) or tanh(g):
//
//	c += h o' (1 - tanh(c_t)^2)
//	i = c g' i'(1 - i'),  f = c c_{t-1} f'(1 - f'),  g = c i' (1 - g'^2),  o = h tanh(c_t) o'(1 - o')
//	before: h = (i, f, g, o) U',  c = c f'
func (s *steps) gradient(of state) *Node {
	positions := len(s.hidden)
	z := make([]*Node, positions)
	hidden, cell := at(of.hidden, positions-1), at(of.cell, positions-1)
	for t := positions - 1; t >= 0; t-- {
		i, f, g, o := s.gate[input][t], s.gate[forget][t], s.gate[candidate][t], s.gate[output][t]
		before := s.start.cell
		if t > 0 {
			before = s.cell[t-1]
		}
		cell = Add(cell, Mul(Mul(hidden, o), OneMinus(Square(s.squashed[t]))))
		var parts [gates]*Node
		parts[input] = Mul(Mul(cell, g), slope(i))
		parts[forget] = Mul(Mul(cell, before), slope(f))
		parts[candidate] = Mul(Mul(cell, i), OneMinus(Square(g)))
		parts[output] = Mul(Mul(hidden, s.squashed[t]), slope(o))
		z[t] = Concatenate(parts[:], 1)                       // [B, 4D]
		hidden = EinsumAxes(z[t], s.u, [][2]int{{1, 1}}, nil) // [B, D]
		cell = Mul(cell, f)
		if t > 0 {
			hidden, cell = Add(hidden, at(of.hidden, t-1)), Add(cell, at(of.cell, t-1))
		}
	}
	all, read := Stack(z, 0), Stack(append([]*Node{s.start.hidden}, s.hidden[:positions-1]...), 0)
	u := EinsumAxes(flatRows(read), flatRows(all), [][2]int{{0, 0}}, nil) // [D, 4D]
	return pack(all, u, hidden, cell)
}

// slope returns the derivative of the sigmoid where it has the given value.
func slope(sigmoid *Node) *Node { return Mul(sigmoid, OneMinus(sigmoid)) }

// flatRows reshapes [M, B, C] to [M*B, C].
func flatRows(x *Node) *Node { return Reshape(x, -1, x.Shape().Dimensions[2]) }
