package lstm

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/layers"
	"github.com/gomlx/gomlx/ml/model"
)

// A state is the memory of one layer after some positions; both nodes are [B, D].
type state struct{ hidden, cell *Node }

// stack applies the layers to x [B, M, D] in order, each from its state in start. It returns the states of the last layer at every
// position, [B, M, D], and the states and cells of every layer at every position, [M, B, D].
func (c Config) stack(scope *model.Scope, x *Node, start []state) (top *Node, all []state) {
	x = TransposeAllAxes(x, 1, 0, 2) // [M, B, D]
	for i := range c.Layers {
		layer := c.layer(scope.At("layer_%d", i+1), c.drop(scope, x), start[i])
		all = append(all, layer)
		x = layer.hidden
	}
	return TransposeAllAxes(x, 1, 0, 2), all
}

// zero returns the states of all layers before the first position of x [B, M, D].
func (c Config) zero(x *Node) []state {
	zeros := Zeros(x.Graph(), shapes.Make(x.DType(), x.Shape().Dimensions[0], c.Width))
	return slices.Repeat([]state{{zeros, zeros}}, c.Layers)
}

// layer applies one layer to x [M, B, D] and returns its states and cells at every position, [M, B, D] each. Initial weights are
// uniform within 1/sqrt(D). Initial biases are zero, except those of forget gates, which are one, so that cells remember initially
// (Jozefowicz et al., 2015).
func (c Config) layer(scope *model.Scope, x *Node, start state) state {
	uniform := func(rng *rand.Rand, _ int, _ []int) float64 {
		return (2*rng.Float64() - 1) / math.Sqrt(float64(c.Width))
	}
	bias := func(_ *rand.Rand, i int, _ []int) float64 {
		if i/c.Width == forget {
			return 1
		}
		return 0
	}
	w := c.weights().Parameter(scope, "input", uniform, c.Width, gates*c.Width).NodeValue(x)
	u := c.weights().Parameter(scope, "recurrent", uniform, c.Width, gates*c.Width).NodeValue(x)
	b := c.weights().Parameter(scope, "bias", bias, gates*c.Width).NodeValue(x)
	z := Add(EinsumAxes(x, w, [][2]int{{2, 0}}, nil), InsertAxes(b, 0, 0)) // [M, B, 4D]
	if scope.IsTraining(x.Graph()) {
		return withGradient(z, u, start)
	}
	return run(z, u, start).states()
}

// Parts of x W + h U + b, in this order.
const (
	input = iota
	forget
	candidate
	output
	gates
)

// drop applies dropout in training.
func (c Config) drop(scope *model.Scope, x *Node) *Node {
	return layers.DropoutStatic(scope, x, c.Dropout)
}

// steps holds the values that a layer computed at each position, [B, D] each.
type steps struct {
	start        state
	u            *Node
	gate         [gates][]*Node // sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
	hidden, cell []*Node
	squashed     []*Node // tanh(c')
}

// states returns the states and cells of all positions, [M, B, D].
func (s *steps) states() state { return state{Stack(s.hidden, 0), Stack(s.cell, 0)} }

// run applies the equations of the package comment position by position. z is x W + b, [M, B, 4D]; u is U, [D, 4D].
func run(z, u *Node, start state) *steps {
	s := &steps{start: start, u: u}
	h, c, width := start.hidden, start.cell, u.Shape().Dimensions[0]
	for t := range z.Shape().Dimensions[0] {
		a := Add(at(z, t), Dot(h, u).Product()) // [B, 4D]
		for k := range gates {
			part, squash := SliceAxis(a, 1, AxisRange(k*width, (k+1)*width)), Sigmoid
			if k == candidate {
				squash = Tanh
			}
			s.gate[k] = append(s.gate[k], squash(part))
		}
		c = Add(Mul(s.gate[forget][t], c), Mul(s.gate[input][t], s.gate[candidate][t]))
		squashed := Tanh(c)
		h = Mul(s.gate[output][t], squashed)
		s.hidden, s.cell, s.squashed = append(s.hidden, h), append(s.cell, c), append(s.squashed, squashed)
	}
	return s
}

// at returns element t of the first axis.
func at(x *Node, t int) *Node { return Squeeze(Slice(x, AxisElem(t)), 0) }
