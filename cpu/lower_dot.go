package cpu

import (
	"slices"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// dot adds a product of tensors, in the accumulator type if one is asked for.
func (g *graph) dot(a *dotAttr, dtype dtypes.DType, dims []int, l, r *expr) *expr {
	if acc := a.config.AccumulatorDType; acc != dtypes.InvalidDType {
		l, r = g.converted(l, acc), g.converted(r, acc)
	}
	axes := &dotAttr{lhsContract: a.lhsContract, lhsBatch: a.lhsBatch, rhsContract: a.rhsContract, rhsBatch: a.rhsBatch}
	return g.converted(g.add(compute.OpTypeDotGeneral, l.dtype, dims, *axes, l, r), dtype)
}

func (g *graph) converted(x *expr, dtype dtypes.DType) *expr {
	if x.dtype == dtype {
		return x
	}
	if !slices.Contains(nativeDTypes, dtype) {
		panic(unsupported{"DotGeneral with type " + dtype.String()})
	}
	return g.add(compute.OpTypeConvertDType, dtype, x.dims, nil, x)
}

// transposedDot swaps the operands of a product if that is all that the permutation does to its result.
func (g *graph) transposedDot(x *expr, permutation []int) *expr {
	a, ok := x.attr.(dotAttr)
	if !ok || x.op != compute.OpTypeDotGeneral {
		return nil
	}
	batch := len(a.lhsBatch)
	left := len(x.in[0].dims) - batch - len(a.lhsContract)
	right := len(x.dims) - batch - left
	dims := make([]int, len(x.dims))
	for i, p := range permutation {
		want := i
		if i >= batch {
			want = i + left
			if i >= batch+right {
				want = i - right
			}
		}
		if p != want {
			return nil
		}
		dims[i] = x.dims[p]
	}
	swapped := dotAttr{lhsContract: a.rhsContract, lhsBatch: a.rhsBatch, rhsContract: a.lhsContract, rhsBatch: a.lhsBatch}
	return g.add(compute.OpTypeDotGeneral, x.dtype, dims, swapped, x.in[1], x.in[0])
}

// dotAxis is one axis of a product: its size and its strides, in elements, in both operands and the result;
// a stride is 0 where the axis does not occur.
type dotAxis struct{ size, a, b, c int }

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
	kernel := em.kernels().gemm[e.dtype]
	if kernel == nil {
		panic(unsupported{"DotGeneral of " + e.dtype.String()})
	}
	batch, left, right, inner := dotAxes(e)
	m, n, k := popAxis(&left), popAxis(&right), popAxis(&inner)
	size := e.dtype.Size()
	l, r := e.in[0].view, e.in[1].view
	d := &dotInstr{
		a: denseIn{em.slotOf(l.base), l.offset * size}, b: denseIn{em.slotOf(r.base), r.offset * size}, c: em.slotOf(e),
		matmul: matmul{m: m.size, n: n.size, k: k.size, aRow: m.a * size, aK: k.a * size, bK: k.b * size, bN: n.b * size,
			cRow: m.c * size, kernel: kernel},
		bytes: e.bytes(), batches: 1, threads: em.prog.backend.threads,
	}
	if m.size == 1 {
		d.cRow = n.size * size
	}
	d.packA = d.aK != size && d.k > 1 && d.n > kernel.nr
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
	d.plan(em)
	whole := func(slot, offset, row int) access {
		return access{slot, offset == 0 && row*d.m == em.prog.slots[slot].bytes}
	}
	list := []access{whole(d.a.slot, d.a.offset, d.aRow), {slot: d.b.slot}, whole(d.c, 0, d.cRow), {slot: d.packed}}
	em.emitAccess(d, list)
}

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

	packed   int  // slot for all of b, -1 if each part packs into its scratch
	shared   bool // the threads share each product; otherwise each takes some of the batches
	byColumn bool // ... panels instead of rows
	serial   bool // too little work to share

	packTask, productTask task
}

// serialWork is the number of multiplications below which a product is not worth sharing.
const serialWork = 1 << 15

func (d *dotInstr) plan(em *emitter) {
	d.packed = -1
	work := d.m * d.n * d.k * d.batches
	d.serial = work < serialWork || d.threads == 1
	d.shared = !d.serial && len(d.sums) == 0 && d.batches < 4*d.threads && d.m*d.n*d.k >= serialWork
	em.needScratch(d.stripBytes() + cacheLine)
	if d.packA && d.canReadDirectly() {
		d.direct = true // sums are long and rows few: packing would cost more than it saves
	}
	if !d.shared {
		d.direct = d.direct || d.canReadDirectly() && d.m <= gemmK
		em.needScratch(roundUp(d.stripBytes(), cacheLine) + d.packedBytes() + cacheLine)
		return
	}
	d.packed = em.temp(d.packedBytes())
	strips := (d.m + d.kernel.mr - 1) / d.kernel.mr
	d.byColumn = d.panels() >= 2*d.threads && (strips < 2*d.threads || d.n >= 2*d.m)
	d.packTask, d.productTask = &dotPack{d}, &dotProduct{d}
}

func (d *dotInstr) run(fr *frame) {
	if d.bytes == 0 {
		return
	}
	if d.empty {
		clear(slice[byte](fr.ptrs[d.c], d.bytes))
		return
	}
	switch {
	case d.shared:
		fr.dotBatch = 0
		for ; fr.dotBatch < d.batches; fr.dotBatch++ {
			if !d.byColumn && !d.direct {
				fr.do(d.packTask)
			}
			fr.do(d.productTask)
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
type dotPack struct{ d *dotInstr }

func (t *dotPack) part(fr *frame, part, parts int) {
	_, b, _ := t.d.operands(fr, fr.dotBatch)
	lo, hi := split(t.d.panels(), part, parts)
	t.d.pack(fr.ptrs[t.d.packed], b, lo, hi)
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
type dotProduct struct{ d *dotInstr }

func (t *dotProduct) part(fr *frame, part, parts int) {
	d := t.d
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
