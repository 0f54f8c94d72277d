package cpu

import (
	"fmt"

	"github.com/gomlx/compute"
)

// replayModule records the operations that the results of a module depend on, and its Return, on another builder.
func replayModule(module *irModule, target compute.Builder) error {
	r := &replayer{builder: target, values: make(map[*node]compute.Value), functions: make(map[*irFunction]compute.Function)}
	return r.body(module.main, target.Main())
}

// replayer maps what was recorded to what the portable backend made of it.
type replayer struct {
	builder   compute.Builder
	values    map[*node]compute.Value
	functions map[*irFunction]compute.Function
}

// body replays the live operations of a function, and its Return.
func (r *replayer) body(from *irFunction, to compute.Function) error {
	for _, n := range from.params {
		v, err := to.Parameter(n.attr.(*paramAttr).name, n.shape, nil)
		if err != nil {
			return err
		}
		r.values[n] = v
	}
	live := liveNodes(from)
	for _, n := range from.nodes {
		if !live[n] || n.op == compute.OpTypeParameter {
			continue
		}
		if err := r.node(n, to); err != nil {
			return fmt.Errorf("replaying %s: %w", n.op, err)
		}
	}
	results := make([]compute.Value, len(from.results))
	for i, n := range from.results {
		results[i] = r.values[n]
	}
	return to.Return(results, nil)
}

func (r *replayer) closure(from *irFunction, parent compute.Function) (compute.Function, error) {
	to, err := parent.Closure()
	if err != nil {
		return nil, err
	}
	return to, r.body(from, to)
}

func (r *replayer) named(from *irFunction) (compute.Function, error) {
	if to, ok := r.functions[from]; ok {
		return to, nil
	}
	to, err := r.builder.NewFunction(from.name)
	if err != nil {
		return nil, err
	}
	r.functions[from] = to
	return to, r.body(from, to)
}

// node replays one operation.
func (r *replayer) node(n *node, to compute.Function) error {
	if n.op == opOutput {
		return nil // set together with its operation
	}
	in := make([]compute.Value, len(n.inputs))
	for i, x := range n.inputs {
		in[i] = r.values[x]
	}
	var outs []compute.Value
	var err error
	switch n.op {
	case compute.OpTypeCall:
		var fn compute.Function
		if fn, err = r.named(n.attr.(*callAttr).fns[0]); err == nil {
			outs, err = to.Call(fn, in...)
		}
	case compute.OpTypeIf, compute.OpTypeWhile:
		outs, err = r.control(n, to, in)
	case compute.OpTypeSort:
		a := n.attr.(*sortAttr)
		var fn compute.Function
		if fn, err = r.closure(a.comparator, to); err == nil {
			outs, err = to.Sort(fn, a.axis, a.stable, in...)
		}
	case compute.OpTypeRNGBitGenerator:
		outs = make([]compute.Value, 2)
		outs[0], outs[1], err = to.RNGBitGenerator(in[0], n.outputs[1].shape)
	case compute.OpTypeFusedScaledDotProductAttention, compute.OpTypeFusedScaledDotProductAttentionVJP:
		outs, err = decomposeAttention(n, to, in)
	default:
		r.values[n], err = replaySingle(n, to, in)
		return err
	}
	for i := range outs {
		r.values[n.outputs[i]] = outs[i]
	}
	return err
}

func (r *replayer) control(n *node, to compute.Function, in []compute.Value) ([]compute.Value, error) {
	fns := n.attr.(*callAttr).fns
	first, err := r.closure(fns[0], to)
	if err != nil {
		return nil, err
	}
	second, err := r.closure(fns[1], to)
	if err != nil {
		return nil, err
	}
	if n.op == compute.OpTypeIf {
		return to.If(in[0], first, second)
	}
	return to.While(first, second, in...)
}

// replaySingle replays an operation with one output.
func replaySingle(n *node, to compute.Function, in []compute.Value) (compute.Value, error) {
	if method, ok := unaryMethods[n.op]; ok {
		return method(to, in[0])
	}
	if method, ok := binaryMethods[n.op]; ok {
		return method(to, in[0], in[1])
	}
	if method, ok := reduceMethods[n.op]; ok {
		return method(to, in[0], n.attr.([]int)...)
	}
	switch a := n.attr.(type) {
	case *constAttr:
		return to.Constant(a.flat, n.shape.Dimensions...)
	case *sliceAttr:
		return to.Slice(in[0], a.starts, a.limits, a.strides)
	case *dotAttr:
		return to.DotGeneral(in[0], a.lhsContract, a.lhsBatch, in[1], a.rhsContract, a.rhsBatch, a.config)
	case *argAttr:
		return to.ArgMinMax(in[0], a.axis, a.dtype, a.isMin)
	case *gatherAttr:
		return to.Gather(in[0], in[1], a.indexVectorAxis, a.offsetOutputAxes, a.collapsedSliceAxes, a.startIndexMap, a.sizes, a.sorted)
	case *windowAttr:
		return to.ReduceWindow(in[0], a.reduction, a.dimensions, a.strides, a.inputDilations, a.windowDilations, a.paddings)
	case *convAttr:
		return to.ConvGeneral(in[0], in[1], a.axes, a.strides, a.paddings, a.inputDilations, a.kernelDilations,
			a.channelGroupCount, a.batchGroupCount)
	case *scatterAttr:
		return scatterMethods[n.op](to, in[0], in[1], in[2], a.indexVectorAxis, a.updateWindowAxes, a.insertedWindowAxes,
			a.scatterAxesToOperandAxes, a.sorted, a.unique)
	}
	return replayShape(n, to, in)
}

// replayShape replays the operations that move values without computing.
func replayShape(n *node, to compute.Function, in []compute.Value) (compute.Value, error) {
	switch n.op {
	case compute.OpTypeIdentity:
		return to.Identity(in[0])
	case compute.OpTypeWhere:
		return to.Where(in[0], in[1], in[2])
	case compute.OpTypeConvertDType:
		return to.ConvertDType(in[0], n.shape.DType)
	case compute.OpTypeBitcast:
		return to.Bitcast(in[0], n.shape.DType)
	case compute.OpTypeIota:
		return to.Iota(n.shape, n.attr.(int))
	case compute.OpTypeReshape:
		return to.Reshape(in[0], n.shape.Dimensions...)
	case compute.OpTypeTranspose:
		return to.Transpose(in[0], n.attr.([]int)...)
	case compute.OpTypeBroadcastInDim:
		return to.BroadcastInDim(in[0], n.shape, n.attr.([]int))
	case compute.OpTypeReverse:
		return to.Reverse(in[0], n.attr.([]int)...)
	case compute.OpTypePad:
		return to.Pad(in[0], in[1], n.attr.([]compute.PadAxis)...)
	case compute.OpTypeConcatenate:
		return to.Concatenate(n.attr.(int), in...)
	case compute.OpTypeDynamicSlice:
		return to.DynamicSlice(in[0], in[1:], n.attr.([]int))
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
	return nil, fmt.Errorf("cannot replay %s", n.op)
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
