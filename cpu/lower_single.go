package cpu

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

func (em *emitter) denseIn(x *expr) denseIn {
	if !x.view.isDense() {
		panic(fmt.Sprintf("cpu: operand %s%v is not dense", x.op, x.dims))
	}
	return denseIn{em.slotOf(x.view.base), x.view.offset * x.dtype.Size()}
}

func (em *emitter) denseIns(xs []*expr) []denseIn {
	out := make([]denseIn, len(xs))
	for i, x := range xs {
		out[i] = em.denseIn(x)
	}
	return out
}

// lowerSingle emits the instruction of an operation that is not part of a fused group.
func (em *emitter) lowerSingle(e *expr) {
	if e.op == compute.OpTypeDotGeneral {
		em.lowerDot(e)
		return
	}
	if _, ok := e.attr.(*attentionAttr); ok {
		em.lowerAttention(e)
		return
	}
	in := em.denseIns(e.in)
	dst := -1
	if len(e.outs) == 0 {
		dst = em.slotOf(e)
	}
	var op instr
	switch a := e.attr.(type) {
	case *gatherAttr:
		op = newGather(a, e, in, dst)
	case *scatterAttr:
		op = em.newScatter(a, e, in, dst)
	case *argAttr:
		op = em.newArg(a, e, in, dst)
	case *windowAttr:
		op = em.newWindow(a, e, in, dst)
	case *convAttr:
		op = em.newConv(a, e, in, dst)
	case *sortAttr:
		em.lowerSort(a, e, in)
		return
	case *callAttr:
		em.lowerControl(a, e, in)
		return
	}
	switch e.op {
	case compute.OpTypeBitcast:
		op = &copyInstr{in[0], dst, e.bytes()}
	case compute.OpTypeConcatenate:
		op = newConcat(e, in, dst)
	case compute.OpTypePad:
		op = newPad(e, in, dst)
	case compute.OpTypeDynamicSlice:
		op = newDynamicSlice(e, in, dst)
	case compute.OpTypeDynamicUpdateSlice:
		em.dynamicUpdate(e, in, dst)
		return
	case compute.OpTypeRNGBitGenerator:
		op = &rngInstr{in[0], em.slotOf(e.outs[0]), em.slotOf(e.outs[1]), e.outs[1].bytes(), e.outs[1].dtype == dtypes.Bool}
	}
	if op == nil {
		panic(unsupported{e.op.String()})
	}
	em.emit(op, em.touched(e)...)
}

// touched are the slots of an operation's operands and results.
func (em *emitter) touched(e *expr) []int {
	var slots []int
	for _, x := range e.in {
		slots = append(slots, em.slotOf(x.view.base))
	}
	if len(e.outs) == 0 {
		return append(slots, em.slotOf(e))
	}
	for _, o := range e.outs {
		slots = append(slots, em.slotOf(o))
	}
	return slots
}

func newConcat(e *expr, in []denseIn, dst int) instr {
	axis := e.attr.(int)
	c := &concatInstr{src: in, dst: dst, outer: product(e.dims[:axis])}
	inner := product(e.dims[axis+1:]) * e.dtype.Size()
	c.row = e.dims[axis] * inner
	for _, x := range e.in {
		c.blocks = append(c.blocks, x.dims[axis]*inner)
	}
	return c
}

func newPad(e *expr, in []denseIn, dst int) instr {
	x := e.in[0]
	p := &padInstr{src: in[0], fill: in[1], dst: dst, count: e.size(), size: e.dtype.Size()}
	srcStrides, dstStrides := contiguous(x.dims), contiguous(e.dims)
	dims := slices.Clone(x.dims)
	steps := slices.Clone(dstStrides)
	for i, a := range e.attr.([]compute.PadAxis) {
		pitch := a.Interior + 1
		first := max(0, (-a.Start+pitch-1)/pitch) // elements cut off before
		last := x.dims[i]                         // one past the last that remains
		for last > first && a.Start+(last-1)*pitch >= e.dims[i] {
			last--
		}
		dims[i] = max(0, last-first)
		p.from += first * srcStrides[i]
		p.into += (a.Start + first*pitch) * dstStrides[i]
		steps[i] *= pitch
	}
	p.from *= p.size
	p.into *= p.size
	p.box = newBox(dims, steps, srcStrides, p.size)
	return p
}
