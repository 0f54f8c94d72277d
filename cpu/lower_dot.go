package cpu

import (
	"slices"
)

// mergeAxes joins neighbours that one stride covers everywhere.
func mergeAxes(axes []dotAxis) []dotAxis {
	var out []dotAxis
	for _, x := range axes {
		if x.size == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].a == x.a*x.size && out[k].b == x.b*x.size && out[k].c == x.c*x.size {
			out[k] = dotAxis{out[k].size * x.size, x.a, x.b, x.c}
			continue
		}
		out = append(out, x)
	}
	return out
}

// popAxis takes the last axis, or one of size one.
func popAxis(axes *[]dotAxis) dotAxis {
	n := len(*axes)
	if n == 0 {
		return dotAxis{size: 1}
	}
	x := (*axes)[n-1]
	*axes = (*axes)[:n-1]
	return x
}

// dotAxes sorts the axes of a product into aligned, left, right and contracted ones.
func dotAxes(e *expr) (batch, left, right, inner []dotAxis) {
	attr := e.attr.(dotAttr)
	l, r := e.in[0].view, e.in[1].view
	out := contiguous(e.dims)
	for i, la := range attr.lhsBatch {
		batch = append(batch, dotAxis{l.dims[la], l.strides[la], r.strides[attr.rhsBatch[i]], out[i]})
	}
	at := len(batch)
	for i, d := range l.dims {
		if !slices.Contains(attr.lhsBatch, i) && !slices.Contains(attr.lhsContract, i) {
			left = append(left, dotAxis{d, l.strides[i], 0, out[at]})
			at++
		}
	}
	for i, d := range r.dims {
		if !slices.Contains(attr.rhsBatch, i) && !slices.Contains(attr.rhsContract, i) {
			right = append(right, dotAxis{d, 0, r.strides[i], out[at]})
			at++
		}
	}
	for i, la := range attr.lhsContract {
		inner = append(inner, dotAxis{l.dims[la], l.strides[la], r.strides[attr.rhsContract[i]], 0})
	}
	return batch, mergeAxes(left), mergeAxes(right), mergeAxes(inner)
}

// lowerDot emits a product of tensors: loops around a matrix product on the operands as they lie in memory.
func (em *emitter) lowerDot(e *expr) {
	gemm := em.kernels().gemm[e.dtype]
	if gemm == nil {
		panic(unsupported{"DotGeneral of " + e.dtype.String()})
	}
	batch, left, right, inner := dotAxes(e)
	m, n, k := popAxis(&left), popAxis(&right), popAxis(&inner)
	size := e.dtype.Size()
	l, r := e.in[0].view, e.in[1].view
	d := &dotInstr{
		a: denseIn{em.slotOf(l.base), l.offset * size}, b: denseIn{em.slotOf(r.base), r.offset * size}, c: em.slotOf(e),
		matmul: matmul{m: m.size, n: n.size, k: k.size, aRow: m.a * size, aK: k.a * size, bK: k.b * size, bN: n.b * size,
			cRow: m.c * size, kernel: gemm},
		bytes: e.bytes(), batches: 1, threads: em.prog.machine.threads,
	}
	if m.size == 1 {
		d.cRow = n.size * size
	}
	d.packA = d.aK != size && d.k > 1 && d.n > gemm.nr
	d.loops = mergeAxes(slices.Concat(batch, left, right))
	d.sums = inner
	for _, lists := range [][]dotAxis{d.loops, d.sums} {
		for i := range lists {
			lists[i].a *= size
			lists[i].b *= size
			lists[i].c *= size
		}
	}
	for _, x := range d.loops {
		d.batches *= x.size
	}
	for _, x := range d.sums {
		d.empty = d.empty || x.size == 0
	}
	d.empty = d.empty || d.k == 0
	em.planDot(d)
	whole := func(slot, offset, row int) access {
		return access{slot, offset == 0 && row*d.m == em.prog.slots[slot].bytes}
	}
	list := []access{whole(d.a.slot, d.a.offset, d.aRow), {slot: d.b.slot}, whole(d.c, 0, d.cRow), {slot: d.packed}}
	em.emitAccess(d, list)
}

// planDot chooses how the threads share a product, and where its right operand is packed.
func (em *emitter) planDot(d *dotInstr) {
	d.packed = -1
	work := d.m * d.n * d.k * d.batches
	serialWork := 4 * em.prog.machine.share // multiplications below which a product is not worth sharing
	d.chainable = em.prog.machine.share / 32
	d.serial = work < serialWork || d.threads == 1
	d.shared = !d.serial && len(d.sums) == 0 && d.batches < 4*d.threads && d.m*d.n*d.k >= serialWork
	em.needScratch(d.stripBytes() + cacheLine)
	if d.packA && d.canReadDirectly() {
		d.direct = true // sums are long and rows few: packing would cost more than it saves
	}
	if d.m <= d.kernel.mr && d.canReadDirectly() {
		d.direct = true // every panel is used once
	}
	if !d.shared {
		d.direct = d.direct || d.canReadDirectly() && d.m <= gemmK
		em.needScratch(roundUp(d.stripBytes(), cacheLine) + d.packedBytes() + cacheLine)
		return
	}
	d.packed = em.temp(d.packedBytes())
	strips := (d.m + d.kernel.mr - 1) / d.kernel.mr
	d.byColumn = d.panels() >= 2*d.threads && (strips < 2*d.threads || d.n >= 2*d.m)
}
