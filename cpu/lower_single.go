package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// denseIn is an operand whose elements lie in order: a slot and bytes into it.
type denseIn struct{ slot, offset int }

func (d denseIn) at(fr *frame) unsafe.Pointer { return unsafe.Add(fr.ptrs[d.slot], d.offset) }

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

// copyInstr copies bytes.
type copyInstr struct {
	src   denseIn
	dst   int
	bytes int
}

func (c *copyInstr) run(fr *frame) { copyBytes(fr.ptrs[c.dst], c.src.at(fr), c.bytes) }

// box is a set of elements in two memories: dims with strides in bytes. Its innermost axis is a block of
// consecutive bytes on both sides.
type box struct {
	dims     []int
	dst, src []int
	block    int
}

// newBox describes the copy of dims elements of size bytes between strided memories (strides in elements).
func newBox(dims, dst, src []int, size int) box {
	b := box{block: size}
	i := len(dims)
	for i > 0 && (dims[i-1] == 1 || dst[i-1]*size == b.block && src[i-1]*size == b.block) {
		b.block *= dims[i-1]
		i--
	}
	b.dims = slices.Clone(dims[:i])
	for j := range i {
		b.dst, b.src = append(b.dst, dst[j]*size), append(b.src, src[j]*size)
	}
	return b
}

// each calls f with the addresses of every block, in order.
func (b *box) each(dst, src unsafe.Pointer, f func(dst, src unsafe.Pointer)) {
	if b.block == 0 || product(b.dims) == 0 {
		return
	}
	b.walk(0, dst, src, f)
}

func (b *box) walk(axis int, dst, src unsafe.Pointer, f func(dst, src unsafe.Pointer)) {
	if axis == len(b.dims) {
		f(dst, src)
		return
	}
	for i := range b.dims[axis] {
		b.walk(axis+1, unsafe.Add(dst, i*b.dst[axis]), unsafe.Add(src, i*b.src[axis]), f)
	}
}

func (b *box) copy(dst, src unsafe.Pointer) {
	b.each(dst, src, func(d, s unsafe.Pointer) { copyBytes(d, s, b.block) })
}

// concatInstr puts operands side by side: for each of outer rows, one block of every operand.
type concatInstr struct {
	src    []denseIn
	blocks []int // bytes
	dst    int
	outer  int
	row    int // bytes of a row of the result
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

func (c *concatInstr) run(fr *frame) {
	at := 0
	for i, src := range c.src {
		from, block := src.at(fr), c.blocks[i]
		if block == 0 {
			continue
		}
		for r := range c.outer {
			copyBytes(unsafe.Add(fr.ptrs[c.dst], r*c.row+at), unsafe.Add(from, r*block), block)
		}
		at += block
	}
}

// padInstr fills the result and puts the operand's elements that remain inside.
type padInstr struct {
	src, fill  denseIn
	dst        int
	count      int // elements of the result
	size       int
	from, into int // bytes to the first element that remains
	box        box
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

func (p *padInstr) run(fr *frame) {
	dst := fr.ptrs[p.dst]
	if p.count == 0 {
		return
	}
	portableKernels.fill[p.size](dst, p.fill.at(fr), nil, nil, 1, p.count)
	if p.box.block == 0 || product(p.box.dims) == 0 {
		return
	}
	p.box.copy(unsafe.Add(dst, p.into), unsafe.Add(p.src.at(fr), p.from))
}
