package cpu_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/nn"
	"universal-transformer/cpu"
)

// What the portable backend has and this one has not are fused operations that GoMLX writes in plain ones instead, and symbolic dimensions.
// Caught when planted: an operation that is no longer in the capabilities.
func TestUnsupported(t *testing.T) {
	ours, portable := newBackend(t, "cpu").Capabilities(), newBackend(t, "go:ops_sequential").Capabilities()
	written := []compute.OpType{compute.OpTypeFusedSoftmax, compute.OpTypeFusedLayerNorm, compute.OpTypeFusedGelu, compute.OpTypeFusedDense,
		compute.OpTypeFusedAttentionQKVProjection}
	unsupported, types := cpu.Unsupported()
	for op := compute.OpTypeInvalid + 1; op < compute.OpTypeLast; op++ {
		if missing := portable.Operations[op] && !ours.Operations[op]; missing != slices.Contains(written, op) {
			t.Errorf("%s: the portable backend %v, cpu %v", op, portable.Operations[op], ours.Operations[op])
		}
		if ours.Operations[op] && slices.Contains(unsupported, op) || portable.Operations[op] && !ours.Operations[op] && !slices.Contains(unsupported, op) {
			t.Errorf("%s: cpu %v, but Unsupported lists it: %v", op, ours.Operations[op], slices.Contains(unsupported, op))
		}
	}
	for dtype, has := range portable.DTypes {
		if has != ours.DTypes[dtype] {
			t.Errorf("%s: the portable backend %v, cpu %v", dtype, has, ours.DTypes[dtype])
		}
	}
	for _, dtype := range types {
		if !ours.DTypes[dtype] {
			t.Errorf("%s runs on the portable backend and is not in the capabilities", dtype)
		}
	}
}

// A graph with an operation without kernels runs on the portable backend, after a line that names it; an operation that no result
// needs does not matter. The gradient of a maximum over windows is such an operation.
// Caught when planted: minimum and maximum exchanged; strides that are left out; a table and its indices exchanged; a bias that is left out.
func TestReplayedOperations(t *testing.T) {
	if pointersChecked {
		t.Skip("the portable backend breaks the rules of unsafe.Pointer that are checked here")
	}
	image := make([]float32, 2*7*6*3)
	for i := range image {
		image[i] = float32((i*7919)%101) / 10
	}
	table := make([]uint8, 5*2*compute.GGMLQ8_0.BytesPerBlock()) // 5 rows of 64
	for i := range table {
		if table[i] = uint8(i * 37); i%compute.GGMLQ8_0.BytesPerBlock() < 2 {
			table[i] = 0x38 // a scale of .53 in half precision
		}
	}
	images := tensors.FromFlatDataAndDimensions(image, 2, 7, 6, 3)
	q8 := &Quantization{Scheme: compute.QuantGGML, GGMLType: compute.GGMLQ8_0}
	for _, c := range []struct {
		operation string // that the line names, or ""
		input     *tensors.Tensor
		build     func(x *Node) []*Node
	}{
		{"", images, func(x *Node) []*Node { return []*Node{MaxPool(x).Window(3).Strides(2).Done()} }},
		{"SelectAndScatterMax", images, func(x *Node) []*Node {
			y := MaxPool(x).Window(3).Strides(2).PadSame().Done()
			return []*Node{y, Gradient(ReduceAllSum(Mul(y, Sin(y))), x)[0]}
		}},
		{"SelectAndScatterMin", images, func(x *Node) []*Node {
			y := MinPool(x).Window(2).Strides(1).Done()
			return []*Node{y, Gradient(ReduceAllSum(Mul(y, Sin(y))), x)[0]}
		}},
		{"FusedQuantizedDense", tensors.FromFlatDataAndDimensions(image[:3*64], 3, 64), func(x *Node) []*Node {
			weights, bias := Const(x.Graph(), tensors.FromFlatDataAndDimensions(table, 5, len(table)/5)), Const(x.Graph(), []float32{1, 2, 3, 4, 5})
			return []*Node{nn.QuantizedDense(x, weights, q8, bias), nn.QuantizedDense(x, weights, q8, nil)}
		}},
		{"QuantizedEmbeddingLookup", tensors.FromFlatDataAndDimensions([]int32{4, 0, 2, 2}, 2, 2, 1), func(x *Node) []*Node {
			return []*Node{nn.QuantizedGather(Const(x.Graph(), tensors.FromFlatDataAndDimensions(table, 5, len(table)/5)), x, q8)}
		}},
	} {
		backend := newBackend(t, "cpu")
		var got []*tensors.Tensor
		said := captureLog(func() { got = MustNewExec(backend, c.build).MustCall(c.input.Value()) })
		if lines := strings.Count(said, "\n"); c.operation == "" && lines != 0 || c.operation != "" && (lines != 1 || !strings.Contains(said, "no kernels for "+c.operation+"\n")) {
			t.Errorf("%q: logged %q, want one line that names it", c.operation, said)
		}
		for i, want := range MustNewExec(newBackend(t, "go:ops_sequential"), c.build).MustCall(c.input.Value()) {
			if why := difference(got[i], want); why != "" {
				t.Errorf("%q, result %d: %s", c.operation, i, why)
			}
		}
	}
}

// Shapes are fixed, so the operations on shapes give constants, and a reshape to them has kernels. Sizes that a graph computes, and
// parameters with symbolic dimensions, are errors.
// Caught when planted: another axis; a symbolic dimension that is recorded.
func TestFixedShapes(t *testing.T) {
	backend := newBackend(t, "cpu")
	var got []*tensors.Tensor
	said := captureLog(func() {
		got = MustNewExec(backend, func(x *Node) []*Node {
			return []*Node{DynamicShape(x), DynamicDimensionSize(x, 1), DynamicReshape(x, NamedDynamicDim("columns", DynamicDimensionSize(x, 1)), NamedInferredDim("rest"))}
		}).MustCall([][]float32{{1, 2, 3}, {4, 5, 6}})
	})
	if said != "" {
		t.Errorf("logged %q", said)
	}
	for i, want := range []*tensors.Tensor{tensors.FromValue([]int32{2, 3}), tensors.FromScalar(int32(3)), tensors.FromValue([][]float32{{1, 2}, {3, 4}, {5, 6}})} {
		if !got[i].Equal(want) {
			t.Errorf("result %d is %v, want %v", i, got[i], want)
		}
	}
	_, _, err := MustNewExec(backend, func(x *Node) *Node {
		return DynamicReshape(x, NamedDynamicDim("rows", ReduceAllMax(ConvertDType(x, dtypes.Int32))), NamedInferredDim("rest"))
	}).CallWithGraph([][]float32{{1, 2, 3}})
	if !errors.Is(err, compute.ErrNotImplemented) || !strings.Contains(err.Error(), `axis "rows"`) {
		t.Errorf("a computed dimension: %v", err)
	}
	_, err = backend.Builder("symbolic").Main().Parameter("x", shapes.MakeDynamic(dtypes.Float32, []int{shapes.DynamicDim, 3}, []string{"rows", ""}), nil)
	if !errors.Is(err, compute.ErrNotImplemented) || !strings.Contains(err.Error(), "symbolic dimensions") {
		t.Errorf("a parameter with a symbolic dimension: %v", err)
	}
}
