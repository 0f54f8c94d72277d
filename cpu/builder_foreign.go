package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapeinference"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// foreignOps are the operations without kernels that are recorded nevertheless: a graph that needs one runs on the portable backend.
var foreignOps = []compute.OpType{
	compute.OpTypeSelectAndScatterMax, compute.OpTypeSelectAndScatterMin, compute.OpTypeFusedQuantizedDense, compute.OpTypeQuantizedEmbeddingLookup,
}

// SelectAndScatterMax implements compute.StandardOps. It is the gradient of a maximum over windows.
func (f *function) SelectAndScatterMax(x, source compute.Value, dimensions, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMax, compute.Function.SelectAndScatterMax, x, source, dimensions, strides, paddings)
}

// SelectAndScatterMin implements compute.StandardOps.
func (f *function) SelectAndScatterMin(x, source compute.Value, dimensions, strides []int, paddings [][2]int) (compute.Value, error) {
	return f.selectAndScatter(compute.OpTypeSelectAndScatterMin, compute.Function.SelectAndScatterMin, x, source, dimensions, strides, paddings)
}

func (f *function) selectAndScatter(op compute.OpType, method func(f compute.Function, x, source compute.Value, dimensions, strides []int, paddings [][2]int) (compute.Value, error),
	x, source compute.Value, dimensions, strides []int, paddings [][2]int) (compute.Value, error) {
	in, err := f.nodesOf(op.String(), x, source)
	if err != nil {
		return nil, err
	}
	shape, err := shapeinference.SelectAndScatter(in[0].Shape, in[1].Shape, dimensions, strides, paddings)
	if err != nil {
		return nil, err
	}
	dimensions, strides, paddings = slices.Clone(dimensions), slices.Clone(strides), slices.Clone(paddings)
	return f.add(op, shape, &ir.ForeignAttr{Record: func(to compute.Function, in []compute.Value) (compute.Value, error) {
		return method(to, in[0], in[1], dimensions, strides, paddings)
	}}, in...)
}

// FusedQuantizedDense implements compute.FusedOps for weights in GGML's formats. GoMLX writes the others in plain operations.
func (f *function) FusedQuantizedDense(x, weights, bias compute.Value, q *compute.Quantization, activation compute.ActivationType) (compute.Value, error) {
	const op = compute.OpTypeFusedQuantizedDense
	if q.Scheme != compute.QuantGGML {
		return nil, notImplemented(op)
	}
	inputs := []compute.Value{x, weights}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	in, err := f.nodesOf(op.String(), inputs...)
	if err != nil {
		return nil, err
	}
	if in[0].Shape.Rank() < 1 || in[1].Shape.Rank() != 2 {
		return nil, fmt.Errorf("%s: cannot multiply %s by quantized weights %s", op, in[0].Shape, in[1].Shape)
	}
	kind := q.GGMLType
	return f.add(op, withLast(in[0].Shape, in[1].Shape.Dim(0)), &ir.ForeignAttr{Record: func(to compute.Function, in []compute.Value) (compute.Value, error) {
		var bias compute.Value
		if len(in) > 2 {
			bias = in[2]
		}
		return to.FusedQuantizedDense(in[0], in[1], bias, &compute.Quantization{Scheme: compute.QuantGGML, GGMLType: kind}, activation)
	}}, in...)
}

// QuantizedEmbeddingLookup implements compute.FusedOps for tables in GGML's formats.
func (f *function) QuantizedEmbeddingLookup(data, indices compute.Value, q *compute.Quantization) (compute.Value, error) {
	const op = compute.OpTypeQuantizedEmbeddingLookup
	if q.Scheme != compute.QuantGGML {
		return nil, notImplemented(op)
	}
	in, err := f.nodesOf(op.String(), data, indices)
	if err != nil {
		return nil, err
	}
	kind := q.GGMLType
	if in[0].Shape.Rank() != 2 || in[1].Shape.Rank() < 1 || kind.BytesPerBlock() == 0 {
		return nil, fmt.Errorf("%s: cannot look up %s in a table %s of type %s", op, in[1].Shape, in[0].Shape, kind)
	}
	width := in[0].Shape.Dim(1) / kind.BytesPerBlock() * kind.ValuesPerBlock()
	return f.add(op, withLast(in[1].Shape, width), &ir.ForeignAttr{Record: func(to compute.Function, in []compute.Value) (compute.Value, error) {
		return to.QuantizedEmbeddingLookup(in[0], in[1], &compute.Quantization{Scheme: compute.QuantGGML, GGMLType: kind})
	}}, in...)
}

// withLast returns a shape of float32 with another last dimension.
func withLast(s shapes.Shape, last int) shapes.Shape {
	dims := slices.Clone(s.Dimensions)
	dims[len(dims)-1] = last
	return shapes.Make(dtypes.Float32, dims...)
}
