package cpu_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"github.com/gomlx/gomlx/ml/model"
	"github.com/gomlx/gomlx/ml/train/optimizer"
)

// transformer is an encoder-decoder whose steps share their parameters: the work this backend is for, with
// every kind of operation it has.
//
// B batch, M source positions, N target positions, D width, K heads, F filter, V vocabulary.
type transformer struct {
	width, filter, heads, steps, vocabulary int
	batch, length                           int
	dtype                                   dtypes.DType
}

var (
	small = transformer{width: 24, filter: 40, heads: 3, steps: 2, vocabulary: 11, batch: 3, length: 17, dtype: dtypes.Float32}
	// middle is large enough for everything that only large tensors go through: threads, chains, recomputing.
	middle = transformer{width: 64, filter: 160, heads: 4, steps: 2, vocabulary: 17, batch: 17, length: 32, dtype: dtypes.Float32}
	base   = transformer{width: 128, filter: 512, heads: 8, steps: 6, vocabulary: 32, batch: 32, length: 64, dtype: dtypes.Float32}
	wide   = transformer{width: 512, filter: 2048, heads: 8, steps: 6, vocabulary: 32, batch: 8, length: 128, dtype: dtypes.Float32}
)

// parameter draws normal numbers from a generator seeded by the name.
func (c transformer) parameter(scope *model.Scope, g *Graph, name string, dims ...int) *Node {
	draw := func(g *Graph, shape shapes.Shape) *Node {
		h := fnv.New64()
		fmt.Fprint(h, scope.Scope(), name)
		rng := rand.New(rand.NewSource(int64(h.Sum64())))
		values := make([]float32, shape.Size())
		for i := range values {
			values[i] = float32(rng.NormFloat64() / math.Sqrt(float64(dims[0])))
		}
		return ConvertDType(Const(g, tensors.FromFlatDataAndDimensions(values, dims...)), c.dtype)
	}
	return scope.WithInitializer(draw).VariableWithShape(name, shapes.Make(c.dtype, dims...)).NodeValue(g)
}

func (c transformer) dense(scope *model.Scope, name string, x *Node, outputs int) *Node {
	last := x.Rank() - 1
	w := c.parameter(scope, x.Graph(), name, x.Shape().Dimensions[last], outputs)
	return EinsumAxes(x, w, [][2]int{{last, 0}}, nil)
}

func (c transformer) norm(scope *model.Scope, name string, x *Node) *Node {
	g := x.Graph()
	centred := Sub(x, ReduceAndKeep(x, ReduceMean, -1))
	variance := ReduceAndKeep(Square(centred), ReduceMean, -1)
	gain := AddScalar(c.parameter(scope, g, name+"_gain", c.width), 1)
	bias := c.parameter(scope, g, name+"_bias", c.width)
	y := Div(centred, Sqrt(AddScalar(variance, 1e-5)))
	return Add(Mul(y, ExpandLeftToRank(gain, 3)), ExpandLeftToRank(bias, 3))
}

func (c transformer) attend(scope *model.Scope, name string, x, context *Node, options attention.CoreOptions) *Node {
	heads := func(part string, of *Node) *Node {
		y := c.dense(scope, name+"_"+part, of, c.width)
		return Reshape(y, y.Shape().Dimensions[0], y.Shape().Dimensions[1], c.heads, c.width/c.heads)
	}
	y, _ := attention.Core(heads("query", x), heads("key", context), heads("value", context), attention.LayoutBSHD, options)
	return c.dense(scope, name+"_output", Reshape(y, x.Shape().Dimensions...), c.width)
}

func (c transformer) transition(scope *model.Scope, x *Node) *Node {
	h := c.dense(scope, "hidden", x, c.filter)
	h = Add(h, ExpandLeftToRank(c.parameter(scope, x.Graph(), "hidden_bias", c.filter), 3))
	y := c.dense(scope, "out", MaxScalar(h, 0), c.width)
	return Add(y, ExpandLeftToRank(c.parameter(scope, x.Graph(), "out_bias", c.width), 3))
}

// embed looks symbols up; padding, symbol 0, becomes zero.
func (c transformer) embed(scope *model.Scope, name string, symbols *Node) *Node {
	table := c.parameter(scope, symbols.Graph(), name, c.vocabulary, c.width)
	return Mul(Gather(table, InsertAxes(symbols, -1)), ConvertDType(InsertAxes(c.mask(symbols), -1), c.dtype))
}

func (c transformer) mask(symbols *Node) *Node {
	return GreaterThan(symbols, ScalarZero(symbols.Graph(), dtypes.Int32))
}

// loss is the mean cross entropy of the target symbols [B, N] given the source [B, M].
func (c transformer) loss(scope *model.Scope, source, target *Node) *Node {
	g := source.Graph()
	visible := InsertAxes(c.mask(source), 1, 1)
	x, enc := c.embed(scope, "source", source), scope.At("encoder")
	for range c.steps {
		x = c.norm(enc, "norm1", Add(x, c.attend(enc, "self", x, x, attention.CoreOptions{AttentionMask: visible})))
		x = c.norm(enc, "norm2", Add(x, c.transition(enc, x)))
	}
	y, dec := c.embed(scope, "target", target), scope.At("decoder")
	y = Concatenate([]*Node{Zeros(g, shapes.Make(c.dtype, c.batch, 1, c.width)), Slice(y, AxisRange(), AxisRange(0, -1))}, 1)
	for range c.steps {
		y = c.norm(dec, "norm1", Add(y, c.attend(dec, "self", y, y, attention.CoreOptions{UseCausalMask: true})))
		y = c.norm(dec, "norm2", Add(y, c.attend(dec, "cross", y, x, attention.CoreOptions{AttentionMask: visible})))
		y = c.norm(dec, "norm3", Add(y, c.transition(dec, y)))
	}
	logits := LogSoftmax(c.dense(scope, "readout", y, c.vocabulary))
	hot := OneHot(target, c.vocabulary, c.dtype)
	counted := ConvertDType(c.mask(target), c.dtype)
	each := Neg(ReduceSum(Mul(logits, hot), -1))
	return Div(ReduceAllSum(Mul(each, counted)), ReduceAllSum(counted))
}

// trainer runs updates of a transformer on one batch.
type trainer struct {
	store          *model.Store
	exec           *model.Exec
	source, target *tensors.Tensor
}

func (c transformer) trainer(backend compute.Backend) *trainer {
	t := &trainer{store: model.NewStore()}
	t.exec = model.MustNewExec(backend, t.store, func(scope *model.Scope, source, target *Node) *Node {
		loss := c.loss(scope, source, target)
		optimizer.Adam().LearningRate(1e-3).Epsilon(1e-6).Done().UpdateGraph(scope, source.Graph(), loss)
		return loss
	})
	t.source, t.target = c.symbols(1), c.symbols(2)
	return t
}

// symbols draws a batch with padding at the right; one row is padding only.
func (c transformer) symbols(seed int64) *tensors.Tensor {
	rng := rand.New(rand.NewSource(seed))
	flat := make([]int32, c.batch*c.length)
	for i := range flat {
		row, at := i/c.length, i%c.length
		if row != 1 && at < c.length-row%3 {
			flat[i] = 1 + int32(rng.Intn(c.vocabulary-1))
		}
	}
	return tensors.FromFlatDataAndDimensions(flat, c.batch, c.length)
}

func (t *trainer) step() float64 {
	switch loss := t.exec.MustCall1(t.source, t.target).Value().(type) {
	case float32:
		return float64(loss)
	default:
		return loss.(float64)
	}
}

// TestTraining compares losses and parameters after a few updates with the portable backend's.
func TestTraining(t *testing.T) {
	for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
		for name, c := range map[string]transformer{"small": small, "middle": middle} {
			c.dtype = dtype
			tolerance := map[dtypes.DType]float64{dtypes.Float32: 2e-4, dtypes.Float64: 1e-9}[dtype]
			want := c.trainer(reference(t))
			losses := make([]float64, 3)
			for i := range losses {
				losses[i] = want.step()
			}
			for _, config := range configs {
				t.Run(fmt.Sprintf("%s/%s/%s", name, dtype, config), func(t *testing.T) {
					got := c.trainer(newBackend(t, config))
					for i, loss := range losses {
						if x := got.step(); !(math.Abs(x-loss) <= tolerance*math.Abs(loss)) {
							t.Errorf("loss of update %d is %.10g, want %.10g", i, x, loss)
						}
					}
				})
			}
		}
	}
}

// gradients of the loss by every parameter, in the order of names.
func (c transformer) gradients(backend compute.Backend) []*tensors.Tensor {
	exec := model.MustNewExec(backend, model.NewStore(), func(scope *model.Scope, source, target *Node) []*Node {
		return scope.BuildTrainableVariablesGradientsGraph(c.loss(scope, source, target))
	})
	return exec.MustCall(c.symbols(1), c.symbols(2))
}

// TestGradients compares the gradients of a transformer with the portable backend's, relative to the largest element.
func TestGradients(t *testing.T) {
	for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
		c := middle
		c.dtype = dtype
		tolerance := map[dtypes.DType]float64{dtypes.Float32: 2e-4, dtypes.Float64: 1e-11}[dtype]
		want := c.gradients(reference(t))
		for _, config := range configs {
			t.Run(fmt.Sprintf("%s/%s", dtype, config), func(t *testing.T) {
				for i, got := range c.gradients(newBackend(t, config)) {
					largest := 0.0
					for _, v := range numbers(want[i]) {
						largest = max(largest, math.Abs(v))
					}
					if d := distance(got, want[i]); !(d <= tolerance*largest) {
						t.Errorf("gradient %d %s differs by %.2g of its largest element", i, got.Shape(), d/largest)
					}
				}
			})
		}
	}
}
