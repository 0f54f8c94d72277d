package universal

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/seed"
)

// An Initial draws entry i of a parameter of the given shape.
type Initial = func(rng *rand.Rand, i int, dims []int) float64

func zeros(*rand.Rand, int, []int) float64 { return 0 }
func ones(*rand.Rand, int, []int) float64  { return 1 }

// glorot draws uniformly within sqrt(6 / (inputs + outputs)) (Glorot and Bengio, 2010), as the authors' code does.
func glorot(rng *rand.Rand, _ int, dims []int) float64 {
	return (2*rng.Float64() - 1) * math.Sqrt(6/float64(dims[0]+dims[1]))
}

// normalAroundOne draws from a normal distribution with mean and standard deviation 1.
func normalAroundOne(rng *rand.Rand, _ int, _ []int) float64 { return 1 + rng.NormFloat64() }

// nearIdentity draws kernels [width, C] of depthwise convolutions: near one in the row of the position itself, and near zero
// elsewhere.
func nearIdentity(own int) Initial {
	return func(rng *rand.Rand, i int, dims []int) float64 {
		noise := 0.2*rng.Float64() - 0.1
		if i/dims[1] == own {
			return 1 + noise
		}
		return noise
	}
}

func normal(deviation float64) Initial {
	return func(rng *rand.Rand, _ int, _ []int) float64 { return rng.NormFloat64() * deviation }
}

// Weights makes parameters of one precision, whose initial values are drawn from one seed. It implements halting.Weights.
type Weights struct {
	Seed      uint64
	Precision dtypes.DType // 0 means Float32
}

func (c Config) weights() Weights { return Weights{Seed: c.Seed, Precision: c.Precision} }

// Parameter returns a variable, declaring it unless an earlier step has done so. Its initial value depends only on the seed and its
// name, not on the order of declaration or the backend.
func (w Weights) Parameter(scope *model.Scope, name string, draw Initial, dims ...int) *model.Variable {
	start := func(g *Graph, shape shapes.Shape) *Node {
		rng := seed.Rand(w.Seed, "parameter "+Name(model.JoinPath(scope.Scope(), name)), 0)
		values := make([]float64, shape.Size())
		for i := range values {
			values[i] = draw(rng, i, dims)
		}
		return constant(g, shape.DType, values, dims...)
	}
	return scope.WithInitializer(start).VariableWithShape(name, shapes.Make(precision(w.Precision), dims...))
}

// Dense computes x W without bias; the parameter called name is the matrix W [inputs, outputs].
func (w Weights) Dense(scope *model.Scope, name string, x *Node, outputs int) *Node {
	inputs := x.Shape().Dimensions[x.Rank()-1]
	return matmul(x, w.Parameter(scope, name, glorot, inputs, outputs).NodeValue(x))
}

// matmul computes x W: the last axis of x with the first of W [inputs, outputs].
func matmul(x, w *Node) *Node { return EinsumAxes(x, w, [][2]int{{x.Rank() - 1, 0}}, nil) }

// Affine computes x W + b, with b the parameter called bias.
func (w Weights) Affine(scope *model.Scope, name string, x *Node, outputs int) *Node {
	y := w.Dense(scope, name, x, outputs)
	return Add(y, expandTo(w.Parameter(scope, "bias", zeros, outputs).NodeValue(x), y))
}

// Name returns the public name of the parameter at a variable's path: "/encoder/transition/inner/weight" is
// "encoder.transition.inner.weight".
func Name(path string) string {
	return strings.ReplaceAll(strings.TrimPrefix(path, model.ScopeSeparator), model.ScopeSeparator, ".")
}

// Path is the inverse of Name.
func Path(name string) string {
	return model.ScopeSeparator + strings.ReplaceAll(name, ".", model.ScopeSeparator)
}
