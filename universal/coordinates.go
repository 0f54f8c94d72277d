package universal

import (
	"math"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

const int32Type = dtypes.Int32

// coordinates adds the two-dimensional coordinate embedding P^t of the paper: position i and step t, both from 1,
//
//	P^t_{i,2j}   = sin(i / 10000^(2j/d)) + sin(t / 10000^(2j/d))
//	P^t_{i,2j+1} = cos(i / 10000^(2j/d)) + cos(t / 10000^(2j/d))
type coordinates struct {
	position *Node           // [B or 1, M, D], the summand in i
	step     func(int) *Node // [1, 1, D], the summand in t; nil if layers are untied, where positions are added once, below the first
}

// add is X = H^{t-1} + P^t.
func (c coordinates) add(t int, state *Node) *Node {
	switch {
	case c.step != nil:
		return Add(state, Add(c.position, c.step(t)))
	case t == 1:
		return Add(state, c.position)
	}
	return state
}

// of gives the coordinates of selected positions.
func (c coordinates) of(s *halting.Selection) coordinates {
	if c.position.Shape().Dimensions[0] == 1 {
		c.position = s.PickColumns(c.position)
	} else {
		c.position = s.Pick(c.position)
	}
	return c
}

// newCoordinates prepares both summands for a batch of tokens [B, M] that stand at positions [B, M], or at 1 .. M if nil.
func (c Config) newCoordinates(scope *model.Scope, tokens, positions *Node) coordinates {
	g, length := tokens.Graph(), tokens.Shape().Dimensions[1]
	at := coordinates{step: c.stepCoordinates(scope, g)}
	if positions == nil {
		at.position = c.sinusoids(g, 1, length)
		return at
	}
	table := Reshape(c.sinusoids(g, 1, max(c.positionLimit(), length)), -1, c.Width)
	at.position = Gather(table, InsertAxes(AddScalar(positions, -1), -1))
	return at
}

// stepCoordinates is the summand in t, nil if layers are untied.
func (c Config) stepCoordinates(scope *model.Scope, g *Graph) func(t int) *Node {
	switch {
	case c.UntiedLayers:
		return nil
	case !c.LearnedSteps:
		return func(t int) *Node { return c.sinusoids(g, t, t) }
	}
	table := c.weights().parameter(scope, "step", normal(1), c.trainedSteps(), c.Width).NodeValue(g)
	return func(t int) *Node { return Reshape(Slice(table, AxisElem(t-1)), 1, 1, c.Width) }
}

// sinusoids is a constant [1, to-from+1, D] with the sinusoids of the whole numbers from .. to, computed in float64.
func (c Config) sinusoids(g *Graph, from, to int) *Node {
	values := make([]float64, 0, (to-from+1)*c.Width)
	for i := from; i <= to; i++ {
		for channel := range c.Width {
			angle := float64(i) / math.Pow(10000, float64(channel-channel%2)/float64(c.Width))
			if channel%2 == 0 {
				values = append(values, math.Sin(angle)) // (eq. 6)
			} else {
				values = append(values, math.Cos(angle)) // (eq. 7)
			}
		}
	}
	return constant(g, precision(c.Precision), values, 1, to-from+1, c.Width)
}

// constant puts float64 values into the graph at the precision asked for.
func constant(g *Graph, dtype dtypes.DType, values []float64, dims ...int) *Node {
	if dtype == dtypes.Float64 {
		return ConstTensor(g, tensors.FromFlatDataAndDimensions(values, dims...))
	}
	single := make([]float32, len(values))
	for i, v := range values {
		single[i] = float32(v)
	}
	return ConvertDType(ConstTensor(g, tensors.FromFlatDataAndDimensions(single, dims...)), dtype)
}

// real is the mask [B, M] of positions that hold a token.
func real(tokens *Node) *Node {
	return NotEqual(tokens, ScalarZero(tokens.Graph(), tokens.DType()))
}

func shapeAs(x *Node, dtype dtypes.DType) shapes.Shape {
	return shapes.Make(dtype, x.Shape().Dimensions...)
}
