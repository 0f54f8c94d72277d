package cpu

import "unsafe"

// dotInstr is a product of tensors.
type dotInstr struct {
	matmul
	a, b    denseIn
	c       int
	loops   []dotAxis // around the matrix product, strides in bytes
	sums    []dotAxis // contracted axes besides k: their products are added up
	batches int       // of the loops
	threads int
	bytes   int
	empty   bool // nothing to add up: zero

	packed    int  // slot for all of b, -1 if each part packs into its scratch
	shared    bool // the threads share each product; otherwise each takes some of the batches
	byColumn  bool // ... panels instead of rows
	serial    bool // too little work to share
	chainable int  // rows from which a chain is worth its overhead
}

// dotAxis is one axis of a product: its size and its strides, in elements, in both operands and the result;
// a stride is 0 where the axis does not occur.
type dotAxis struct{ size, a, b, c int }

func (d *dotInstr) run(fr *frame) {
	if d.bytes == 0 {
		return
	}
	if d.empty {
		clear(execSlice[byte](fr.ptrs[d.c], d.bytes))
		return
	}
	switch {
	case d.shared:
		fr.dotBatch = 0
		for ; fr.dotBatch < d.batches; fr.dotBatch++ {
			if !d.byColumn && !d.direct {
				fr.do((*dotPack)(d))
			}
			fr.do((*dotProduct)(d))
		}
	case d.serial:
		d.part(fr, 0, 1)
	default:
		fr.do(d)
	}
}

// operands returns the addresses for one batch.
func (d *dotInstr) operands(fr *frame, batch int) (a, b, c unsafe.Pointer) {
	a, b, c = d.a.at(fr), d.b.at(fr), fr.ptrs[d.c]
	for i := len(d.loops) - 1; i >= 0; i-- {
		x := &d.loops[i]
		j := batch % x.size
		batch /= x.size
		a, b, c = unsafe.Add(a, j*x.a), unsafe.Add(b, j*x.b), unsafe.Add(c, j*x.c)
	}
	return a, b, c
}

// dotPack packs the right operand, shared by panels.
type dotPack dotInstr

func (t *dotPack) part(fr *frame, part, parts int) {
	d := (*dotInstr)(t)
	_, b, _ := d.operands(fr, fr.dotBatch)
	lo, hi := split(d.panels(), part, parts)
	d.pack(fr.ptrs[d.packed], b, lo, hi)
}

// packShare packs the share of one part: for products that run in a chain.
func (d *dotInstr) packShare(fr *frame, part, parts int) {
	lo, hi := split(d.panels(), part, parts)
	d.pack(fr.ptrs[d.packed], d.b.at(fr), lo, hi)
}

// runRows computes rows lo to hi of a product that is shared by rows, its right operand packed.
func (d *dotInstr) runRows(fr *frame, part, lo, hi int) {
	w := d.all()
	w.r0, w.r1 = lo, hi
	d.multiply(&fr.calls[part].gemmCall, d.a.at(fr), fr.ptrs[d.packed], fr.ptrs[d.c], fr.scratch[part], w, false)
}

// dotProduct multiplies, shared by strips of rows, or by panels, which each thread packs for itself.
type dotProduct dotInstr

func (t *dotProduct) part(fr *frame, part, parts int) {
	d := (*dotInstr)(t)
	a, b, c := d.operands(fr, fr.dotBatch)
	right := fr.ptrs[d.packed]
	if d.direct {
		right = b
	}
	if d.byColumn {
		w := d.all()
		w.p0, w.p1 = split(d.panels(), part, parts)
		if !d.direct {
			d.pack(right, b, w.p0, w.p1)
		}
		d.multiply(&fr.calls[part].gemmCall, a, right, c, fr.scratch[part], w, false)
		return
	}
	w := d.all()
	lo, hi := split((d.m+d.kernel.mr-1)/d.kernel.mr, part, parts)
	w.r0, w.r1 = lo*d.kernel.mr, min(hi*d.kernel.mr, d.m)
	d.multiply(&fr.calls[part].gemmCall, a, right, c, fr.scratch[part], w, false)
}

// part computes a share of the batches, packing the right operand of each.
func (d *dotInstr) part(fr *frame, part, parts int) {
	lo, hi := split(d.batches, part, parts)
	packed := unsafe.Add(fr.scratch[part], roundUp(d.stripBytes(), cacheLine))
	var last unsafe.Pointer
	for batch := lo; batch < hi; batch++ {
		a, b, c := d.operands(fr, batch)
		for s := range d.sumCount() {
			x, y := a, b
			for i, rest := len(d.sums)-1, s; i >= 0; i-- {
				j := rest % d.sums[i].size
				rest /= d.sums[i].size
				x, y = unsafe.Add(x, j*d.sums[i].a), unsafe.Add(y, j*d.sums[i].b)
			}
			right := packed
			if d.direct {
				right = y
			} else if y != last {
				d.pack(packed, y, 0, d.panels())
				last = y
			}
			d.multiply(&fr.calls[part].gemmCall, x, right, c, fr.scratch[part], d.all(), s > 0)
		}
	}
}

func (d *dotInstr) sumCount() int {
	n := 1
	for _, x := range d.sums {
		n *= x.size
	}
	return n
}
