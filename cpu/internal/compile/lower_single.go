package compile

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
)

func (em *emitter) operand(x *graph.Expr) exec.Operand {
	if !x.View.IsDense() {
		panic(fmt.Sprintf("cpu: operand %s%v is not dense", x.Op, x.Dims))
	}
	return exec.Operand{Slot: em.slotOf(x.View.Base), Offset: x.View.Offset * x.DType.Size()}
}

func (em *emitter) operands(xs []*graph.Expr) []exec.Operand {
	out := make([]exec.Operand, len(xs))
	for i, x := range xs {
		out[i] = em.operand(x)
	}
	return out
}

// lowerSingle emits the instruction of an operation that is not part of a fused group.
func (em *emitter) lowerSingle(e *graph.Expr) {
	if e.Op == compute.OpTypeDotGeneral {
		em.lowerDot(e)
		return
	}
	if _, ok := e.Attr.(*ir.AttentionAttr); ok {
		em.lowerAttention(e)
		return
	}
	in := em.operands(e.Operands)
	dst := -1
	if len(e.Outputs) == 0 {
		dst = em.slotOf(e)
	}
	var op exec.Instruction
	switch a := e.Attr.(type) {
	case *ir.GatherAttr:
		op = newGather(a, e, in, dst)
	case *ir.ScatterAttr:
		op = em.newScatter(a, e, in, dst)
	case *ir.ArgAttr:
		op = em.newArg(a, e, in, dst)
	case *ir.WindowAttr:
		op = em.newWindow(a, e, in, dst)
	case *ir.ConvAttr:
		op = em.newConv(a, e, in, dst)
	case *ir.SortAttr:
		em.lowerSort(a, e, in)
		return
	case *ir.CallAttr:
		em.lowerControl(a, e, in)
		return
	}
	switch e.Op {
	case compute.OpTypeBitcast:
		op = &exec.Copy{Src: in[0], Dst: dst, Bytes: e.Bytes()}
	case compute.OpTypeConcatenate:
		op = newConcat(e, in, dst)
	case compute.OpTypePad:
		op = em.newPad(e, in, dst)
	case compute.OpTypeDynamicSlice:
		op = newDynamicSlice(e, in, dst)
	case compute.OpTypeDynamicUpdateSlice:
		em.dynamicUpdate(e, in, dst)
		return
	case compute.OpTypeRNGBitGenerator:
		op = &exec.RandomBits{State: in[0], NewState: em.slotOf(e.Outputs[0]), Bits: em.slotOf(e.Outputs[1]), Bytes: e.Outputs[1].Bytes(), Boolean: e.Outputs[1].DType == dtypes.Bool}
	}
	if op == nil {
		panic(ir.Unsupported{What: e.Op.String()})
	}
	em.emit(op, em.touched(e)...)
}

// touched returns the slots of an operation's operands and results.
func (em *emitter) touched(e *graph.Expr) []int {
	var slots []int
	for _, x := range e.Operands {
		slots = append(slots, em.slotOf(x.View.Base))
	}
	if len(e.Outputs) == 0 {
		return append(slots, em.slotOf(e))
	}
	for _, o := range e.Outputs {
		slots = append(slots, em.slotOf(o))
	}
	return slots
}

func newConcat(e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	axis := e.Attr.(int)
	c := &exec.Concatenate{Src: in, Dst: dst, Outer: graph.Product(e.Dims[:axis])}
	inner := graph.Product(e.Dims[axis+1:]) * e.DType.Size()
	c.Row = e.Dims[axis] * inner
	for _, x := range e.Operands {
		c.Blocks = append(c.Blocks, x.Dims[axis]*inner)
	}
	return c
}

func (em *emitter) newPad(e *graph.Expr, in []exec.Operand, dst int) exec.Instruction {
	x := e.Operands[0]
	p := &exec.Pad{Src: in[0], Fill: in[1], Dst: dst, Count: e.Size(), Size: e.DType.Size(), Parts: em.partsOf(e.Size())}
	srcStrides, dstStrides := graph.Contiguous(x.Dims), graph.Contiguous(e.Dims)
	dims := slices.Clone(x.Dims)
	steps := slices.Clone(dstStrides)
	for i, a := range e.Attr.([]compute.PadAxis) {
		pitch := a.Interior + 1
		first := max(0, (-a.Start+pitch-1)/pitch) // elements cut off before
		last := x.Dims[i]                         // index after the last that remains
		for last > first && a.Start+(last-1)*pitch >= e.Dims[i] {
			last--
		}
		dims[i] = max(0, last-first)
		p.From += first * srcStrides[i]
		p.Into += (a.Start + first*pitch) * dstStrides[i]
		steps[i] *= pitch
	}
	p.From *= p.Size
	p.Into *= p.Size
	p.Box = exec.NewBox(dims, steps, srcStrides, p.Size)
	return p
}
