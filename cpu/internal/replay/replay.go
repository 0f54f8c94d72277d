// Package replay records a module again on another backend, operation by operation. Package cpu uses it for graphs that contain an
// operation or a type without kernels. Fused attention is written in plain operations (attention.go).
package replay

import (
	"fmt"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/ir"
)

// Module records the operations that the results of a module depend on, and its Return, on another builder.
func Module(module *ir.Module, target compute.Builder) error {
	r := &replayer{builder: target, values: make(map[*ir.Node]compute.Value), functions: make(map[*ir.Function]compute.Function)}
	return r.body(module.Main, target.Main())
}

// A replayer maps recorded nodes to values of the other backend.
type replayer struct {
	builder   compute.Builder
	values    map[*ir.Node]compute.Value
	functions map[*ir.Function]compute.Function
}

// body replays the live operations of a function, and its Return.
func (r *replayer) body(from *ir.Function, to compute.Function) error {
	for _, n := range from.Params {
		v, err := to.Parameter(n.Attr.(*ir.ParamAttr).Name, n.Shape, nil)
		if err != nil {
			return err
		}
		r.values[n] = v
	}
	live := ir.Live(from)
	for _, n := range from.Nodes {
		if !live[n] || n.Op == compute.OpTypeParameter {
			continue
		}
		if err := r.node(n, to); err != nil {
			return fmt.Errorf("replaying %s: %w", n.Op, err)
		}
	}
	results := make([]compute.Value, len(from.Results))
	for i, n := range from.Results {
		results[i] = r.values[n]
	}
	return to.Return(results, nil)
}

func (r *replayer) closure(from *ir.Function, parent compute.Function) (compute.Function, error) {
	to, err := parent.Closure()
	if err != nil {
		return nil, err
	}
	return to, r.body(from, to)
}

func (r *replayer) named(from *ir.Function) (compute.Function, error) {
	if to, ok := r.functions[from]; ok {
		return to, nil
	}
	to, err := r.builder.NewFunction(from.Name)
	if err != nil {
		return nil, err
	}
	r.functions[from] = to
	return to, r.body(from, to)
}

// node replays one operation.
func (r *replayer) node(n *ir.Node, to compute.Function) error {
	if n.Op == ir.OpOutput {
		return nil // set together with its operation
	}
	in := make([]compute.Value, len(n.Inputs))
	for i, x := range n.Inputs {
		in[i] = r.values[x]
	}
	var outs []compute.Value
	var err error
	switch n.Op {
	case compute.OpTypeCall:
		var fn compute.Function
		if fn, err = r.named(n.Attr.(*ir.CallAttr).Functions[0]); err == nil {
			outs, err = to.Call(fn, in...)
		}
	case compute.OpTypeIf, compute.OpTypeWhile:
		outs, err = r.control(n, to, in)
	case compute.OpTypeSort:
		a := n.Attr.(*ir.SortAttr)
		var fn compute.Function
		if fn, err = r.closure(a.Comparator, to); err == nil {
			outs, err = to.Sort(fn, a.Axis, a.Stable, in...)
		}
	case compute.OpTypeRNGBitGenerator:
		outs = make([]compute.Value, 2)
		outs[0], outs[1], err = to.RNGBitGenerator(in[0], n.Outputs[1].Shape)
	case compute.OpTypeFusedScaledDotProductAttention, compute.OpTypeFusedScaledDotProductAttentionVJP:
		outs, err = decomposeAttention(n, to, in)
	default:
		r.values[n], err = replaySingle(n, to, in)
		return err
	}
	for i := range outs {
		r.values[n.Outputs[i]] = outs[i]
	}
	return err
}

func (r *replayer) control(n *ir.Node, to compute.Function, in []compute.Value) ([]compute.Value, error) {
	fns := n.Attr.(*ir.CallAttr).Functions
	first, err := r.closure(fns[0], to)
	if err != nil {
		return nil, err
	}
	second, err := r.closure(fns[1], to)
	if err != nil {
		return nil, err
	}
	if n.Op == compute.OpTypeIf {
		return to.If(in[0], first, second)
	}
	return to.While(first, second, in...)
}

// replaySingle replays an operation with one output.
func replaySingle(n *ir.Node, to compute.Function, in []compute.Value) (compute.Value, error) {
	if method, ok := ir.UnaryMethods[n.Op]; ok {
		return method(to, in[0])
	}
	if method, ok := ir.BinaryMethods[n.Op]; ok {
		return method(to, in[0], in[1])
	}
	if method, ok := reduceMethods[n.Op]; ok {
		return method(to, in[0], n.Attr.([]int)...)
	}
	switch a := n.Attr.(type) {
	case *ir.ForeignAttr:
		return a.Record(to, in)
	case *ir.ConstAttr:
		return to.Constant(a.Flat, n.Shape.Dimensions...)
	case *ir.SliceAttr:
		return to.Slice(in[0], a.Starts, a.Limits, a.Strides)
	case *ir.DotAttr:
		return to.DotGeneral(in[0], a.LHSContract, a.LHSBatch, in[1], a.RHSContract, a.RHSBatch, a.Config)
	case *ir.ArgAttr:
		return to.ArgMinMax(in[0], a.Axis, a.DType, a.IsMin)
	case *ir.GatherAttr:
		return to.Gather(in[0], in[1], a.IndexVectorAxis, a.OffsetOutputAxes, a.CollapsedSliceAxes, a.StartIndexMap, a.Sizes, a.Sorted)
	case *ir.WindowAttr:
		return to.ReduceWindow(in[0], a.Reduction, a.Dimensions, a.Strides, a.InputDilations, a.WindowDilations, a.Paddings)
	case *ir.ConvAttr:
		return to.ConvGeneral(in[0], in[1], a.Axes, a.Strides, a.Paddings, a.InputDilations, a.KernelDilations,
			a.ChannelGroupCount, a.BatchGroupCount)
	case *ir.ScatterAttr:
		return scatterMethods[n.Op](to, in[0], in[1], in[2], a.IndexVectorAxis, a.UpdateWindowAxes, a.InsertedWindowAxes,
			a.ScatterAxesToOperandAxes, a.Sorted, a.Unique)
	}
	return replayShape(n, to, in)
}

// replayShape replays the operations that move values without computing.
func replayShape(n *ir.Node, to compute.Function, in []compute.Value) (compute.Value, error) {
	switch n.Op {
	case compute.OpTypeIdentity:
		return to.Identity(in[0])
	case compute.OpTypeWhere:
		return to.Where(in[0], in[1], in[2])
	case compute.OpTypeConvertDType:
		return to.ConvertDType(in[0], n.Shape.DType)
	case compute.OpTypeBitcast:
		return to.Bitcast(in[0], n.Shape.DType)
	case compute.OpTypeIota:
		return to.Iota(n.Shape, n.Attr.(int))
	case compute.OpTypeReshape:
		return to.Reshape(in[0], n.Shape.Dimensions...)
	case compute.OpTypeTranspose:
		return to.Transpose(in[0], n.Attr.([]int)...)
	case compute.OpTypeBroadcastInDim:
		return to.BroadcastInDim(in[0], n.Shape, n.Attr.([]int))
	case compute.OpTypeReverse:
		return to.Reverse(in[0], n.Attr.([]int)...)
	case compute.OpTypePad:
		return to.Pad(in[0], in[1], n.Attr.([]compute.PadAxis)...)
	case compute.OpTypeConcatenate:
		return to.Concatenate(n.Attr.(int), in...)
	case compute.OpTypeDynamicSlice:
		return to.DynamicSlice(in[0], in[1:], n.Attr.([]int))
	case compute.OpTypeDynamicUpdateSlice:
		return to.DynamicUpdateSlice(in[0], in[1], in[2:])
	case compute.OpTypeOptimizationBarrier:
		outs, err := to.OptimizationBarrier(in[0])
		if err != nil {
			return nil, err
		}
		return outs[0], nil
	case compute.OpTypeSchedulingBarrier:
		return to.SchedulingBarrier(in[0], in[1:]...)
	}
	return nil, fmt.Errorf("cannot replay %s", n.Op)
}

var reduceMethods = map[compute.OpType]func(compute.Function, compute.Value, ...int) (compute.Value, error){
	compute.OpTypeReduceSum:        compute.Function.ReduceSum,
	compute.OpTypeReduceProduct:    compute.Function.ReduceProduct,
	compute.OpTypeReduceMax:        compute.Function.ReduceMax,
	compute.OpTypeReduceMin:        compute.Function.ReduceMin,
	compute.OpTypeReduceBitwiseAnd: compute.Function.ReduceBitwiseAnd,
	compute.OpTypeReduceBitwiseOr:  compute.Function.ReduceBitwiseOr,
	compute.OpTypeReduceBitwiseXor: compute.Function.ReduceBitwiseXor,
	compute.OpTypeReduceLogicalAnd: compute.Function.ReduceLogicalAnd,
	compute.OpTypeReduceLogicalOr:  compute.Function.ReduceLogicalOr,
	compute.OpTypeReduceLogicalXor: compute.Function.ReduceLogicalXor,
}

var scatterMethods = map[compute.OpType]func(f compute.Function, operand, indices, updates compute.Value, axis int,

	updateWindowAxes, insertedWindowAxes, scatterAxes []int, sorted, unique bool) (compute.Value, error){
	compute.OpTypeScatterSum: compute.Function.ScatterSum,
	compute.OpTypeScatterMax: compute.Function.ScatterMax,
	compute.OpTypeScatterMin: compute.Function.ScatterMin,
}
