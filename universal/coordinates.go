package universal

import (
	"math"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
	"universal-transformer/internal/part"
)

const int32Type = dtypes.Int32

// Coordinates encode positions and steps. It is an interface because published models use different ones, and a trained model needs
// its own: [Sinusoidal] is the paper's choice, [Tensor2Tensor] that of the authors' code.
type Coordinates interface {
	// At returns the summand of position n, or of step n, both counted from 1, in a channel from 0 to width-1.
	At(n, channel, width int) float64
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// Sinusoidal is the paper's choice. The two-dimensional coordinates of position i and step t are
//
//	P^t_{i,2j}   = sin(i / 10000^(2j/d)) + sin(t / 10000^(2j/d))
//	P^t_{i,2j+1} = cos(i / 10000^(2j/d)) + cos(t / 10000^(2j/d))
type Sinusoidal struct{}

// At returns one summand of P.
func (Sinusoidal) At(n, channel, width int) float64 {
	angle := float64(n) / math.Pow(10000, float64(channel-channel%2)/float64(width))
	if channel%2 == 0 {
		return math.Sin(angle) // (eq. 6)
	}
	return math.Cos(angle) // (eq. 7)
}

// Validate returns nil.
func (Sinusoidal) Validate() error { return nil }

// Tensor2Tensor is the choice of the authors' code. Positions and steps count from 0, and the largest exponent is 1:
//
//	P_{i,j}     = sin((i-1) / 10000^(j/(d/2-1)))  for j = 0 .. d/2-1
//	P_{i,j+d/2} = cos((i-1) / 10000^(j/(d/2-1)))
//
// The last channel of an odd width is 0. Weights trained with the authors' code need this order of channels. Alternate changes to the
// paper's order, which makes no difference for a model that is trained with it.
type Tensor2Tensor struct {
	Alternate bool `json:"alternate,omitempty"` // sines on even channels and cosines on odd ones, instead of two halves
}

// At returns one summand of P.
func (c Tensor2Tensor) At(n, channel, width int) float64 {
	half := width / 2
	if channel >= 2*half {
		return 0
	}
	j, cosine := channel%half, channel >= half
	if c.Alternate {
		j, cosine = channel/2, channel%2 == 1
	}
	angle := float64(n-1) / math.Pow(10000, float64(j)/float64(max(half-1, 1)))
	if cosine {
		return math.Cos(angle)
	}
	return math.Sin(angle)
}

// Validate returns nil.
func (Tensor2Tensor) Validate() error { return nil }

// coordinates holds the two summands of P^t of a stack as nodes.
type coordinates struct {
	position *Node           // [B or 1, M, D], the summand in i
	step     func(int) *Node // [1, 1, D], the summand in t; nil if layers are untied, in which case positions are added once, before the first layer
}

// add returns X = H^{t-1} + P^t.
func (c coordinates) add(t int, state *Node) *Node {
	switch {
	case c.step != nil:
		return Add(state, Add(c.position, c.step(t)))
	case t == 1:
		return Add(state, c.position)
	}
	return state
}

// selected returns the coordinates of selected positions.
func (c coordinates) selected(s *halting.Selection) coordinates {
	if c.position.Shape().Dimensions[0] == 1 {
		c.position = s.PickColumns(c.position)
	} else {
		c.position = s.Pick(c.position)
	}
	return c
}

// sourceCoordinates returns both summands for the tokens [B, M] of a source; positions are as in [Inputs].
func (c Config) sourceCoordinates(scope *model.Scope, tokens, positions *Node) coordinates {
	return c.newCoordinates(scope, c.counting().numbers(tokens), tokens.Shape().Dimensions[1], positions)
}

// targetCoordinates returns both summands for places [1 or B, N], from 1, of targets up to the given length.
func (c Config) targetCoordinates(scope *model.Scope, places *Node, longest int, positions *Node) coordinates {
	var numbers []*Node
	for _, s := range c.counting().shares(c.Width) {
		if s.place {
			numbers = append(numbers, places)
		} else {
			numbers = append(numbers, ZerosLike(places))
		}
	}
	return c.newCoordinates(scope, numbers, longest, positions)
}

// newCoordinates returns both summands for the numbers of tokens, [1 or B, M] each, which are at most highest.
func (c Config) newCoordinates(scope *model.Scope, numbers []*Node, highest int, positions *Node) coordinates {
	g := numbers[0].Graph()
	var parts []*Node
	for i, s := range c.counting().shares(c.Width) {
		at, limit := numbers[i], highest
		switch {
		case positions == nil:
		case s.place:
			at, limit = lookUp(positions, at), max(c.positionLimit(), highest)
		default:
			at = BroadcastToDims(at, positions.Shape().Dimensions[0], at.Shape().Dimensions[1])
		}
		table := Reshape(c.signals(g, 0, limit, s.channels), -1, s.channels)
		parts = append(parts, Gather(table, InsertAxes(at, -1))) // [1 or B, M, channels]
	}
	return coordinates{position: Concatenate(parts, -1), step: c.stepCoordinates(scope, g)}
}

// lookUp returns the positions [B, R] of places [1 or B, M], which count from 1.
func lookUp(positions, places *Node) *Node {
	batch, length := positions.Shape().Dimensions[0], places.Shape().Dimensions[1]
	row := Iota(positions.Graph(), shapes.Make(int32Type, batch, length), 0)
	column := BroadcastToDims(AddScalar(places, -1), batch, length)
	return Gather(positions, Stack([]*Node{row, column}, -1))
}

// stepCoordinates returns the summand in t, or nil if layers are untied.
func (c Config) stepCoordinates(scope *model.Scope, g *Graph) func(t int) *Node {
	switch {
	case c.UntiedLayers:
		return nil
	case !c.LearnedSteps:
		return func(t int) *Node { return c.signals(g, t, t, c.Width) }
	}
	deviation := 1.0
	if c.ScaleSteps {
		deviation = c.embedding().deviation()
	}
	table := c.weights().Parameter(scope, "step", normal(deviation), c.ownSteps(), c.Width).NodeValue(g)
	if c.ScaleSteps {
		table = MulScalar(table, math.Sqrt(float64(c.Width)))
	}
	return func(t int) *Node { return Reshape(Slice(table, AxisElem(t-1)), 1, 1, c.Width) }
}

// signals returns a constant [1, to-from+1, width]: the coordinates of the integers from .. to, computed in float64.
func (c Config) signals(g *Graph, from, to, width int) *Node {
	kind := c.Coordinates
	if kind == nil {
		kind = Sinusoidal{}
	}
	p := part.Of("coordinates", kind)
	values := part.Call(p, func() []float64 {
		list := make([]float64, 0, (to-from+1)*width)
		for n := from; n <= to; n++ {
			for channel := range width {
				list = append(list, kind.At(n, channel, width))
			}
		}
		return list
	})
	if i := slices.IndexFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }); i >= 0 {
		panic(p.Errorf("returned %v as At(%d, %d, %d), want a finite number", values[i], from+i/width, i%width, width))
	}
	return constant(g, precision(c.Precision), values, 1, to-from+1, width)
}

// constant returns a constant with the given float64 values and element type.
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

// Mask returns the mask [B, M] of positions that hold a token: true at real positions, false at padding.
func Mask(tokens *Node) *Node {
	return NotEqual(tokens, ScalarZero(tokens.Graph(), tokens.DType()))
}

func shapeAs(x *Node, dtype dtypes.DType) shapes.Shape {
	return shapes.Make(dtype, x.Shape().Dimensions...)
}
