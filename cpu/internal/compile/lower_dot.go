package compile

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// mergeAxes joins adjacent axes that one stride covers in all operands.
func mergeAxes(axes []exec.DotAxis) []exec.DotAxis {
	var out []exec.DotAxis
	for _, x := range axes {
		if x.Size == 1 {
			continue
		}
		if k := len(out) - 1; k >= 0 && out[k].A == x.A*x.Size && out[k].B == x.B*x.Size && out[k].C == x.C*x.Size {
			out[k] = exec.DotAxis{Size: out[k].Size * x.Size, A: x.A, B: x.B, C: x.C}
			continue
		}
		out = append(out, x)
	}
	return out
}

// popAxis removes and returns the last axis, or returns one of size one.
func popAxis(axes *[]exec.DotAxis) exec.DotAxis {
	n := len(*axes)
	if n == 0 {
		return exec.DotAxis{Size: 1}
	}
	x := (*axes)[n-1]
	*axes = (*axes)[:n-1]
	return x
}

// dotAxes sorts the axes of a product into aligned, left, right and contracted ones.
func dotAxes(e *graph.Expr) (batch, left, right, inner []exec.DotAxis) {
	attr := e.Attr.(ir.DotAttr)
	l, r := e.Operands[0].View, e.Operands[1].View
	out := graph.Contiguous(e.Dims)
	for i, la := range attr.LHSBatch {
		batch = append(batch, exec.DotAxis{Size: l.Dims[la], A: l.Strides[la], B: r.Strides[attr.RHSBatch[i]], C: out[i]})
	}
	at := len(batch)
	for i, d := range l.Dims {
		if !slices.Contains(attr.LHSBatch, i) && !slices.Contains(attr.LHSContract, i) {
			left = append(left, exec.DotAxis{Size: d, A: l.Strides[i], B: 0, C: out[at]})
			at++
		}
	}
	for i, d := range r.Dims {
		if !slices.Contains(attr.RHSBatch, i) && !slices.Contains(attr.RHSContract, i) {
			right = append(right, exec.DotAxis{Size: d, A: 0, B: r.Strides[i], C: out[at]})
			at++
		}
	}
	for i, la := range attr.LHSContract {
		inner = append(inner, exec.DotAxis{Size: l.Dims[la], A: l.Strides[la], B: r.Strides[attr.RHSContract[i]], C: 0})
	}
	return batch, mergeAxes(left), mergeAxes(right), mergeAxes(inner)
}

// lowerDot emits a product of tensors: loops around a matrix product of the operands in place.
func (em *emitter) lowerDot(e *graph.Expr) {
	if em.kernels().Gemm[e.DType] == nil {
		panic(ir.Unsupported{What: "DotGeneral of " + e.DType.String()})
	}
	batch, left, right, inner := dotAxes(e)
	m, n, k := popAxis(&left), popAxis(&right), popAxis(&inner)
	gemm := em.gemmFor(e, m.Size, n.Size, k.Size)
	size := e.DType.Size()
	l, r := e.Operands[0].View, e.Operands[1].View
	d := &exec.Dot{
		A: exec.Operand{Slot: em.slotOf(l.Base), Offset: l.Offset * size}, B: exec.Operand{Slot: em.slotOf(r.Base), Offset: r.Offset * size}, C: em.slotOf(e),
		Matmul: kernel.Matmul{M: m.Size, N: n.Size, K: k.Size, ARow: m.A * size, AK: k.A * size, BK: k.B * size, BN: n.B * size,
			CRow: m.C * size, Kernel: gemm},
		Bytes: e.Bytes(), Batches: 1,
	}
	if m.Size == 1 {
		d.CRow = n.Size * size
	}
	d.PackA = d.PaysToPackA()
	d.Loops = mergeAxes(slices.Concat(batch, left, right))
	d.Sums = inner
	for _, lists := range [][]exec.DotAxis{d.Loops, d.Sums} {
		for i := range lists {
			lists[i].A *= size
			lists[i].B *= size
			lists[i].C *= size
		}
	}
	for _, x := range d.Loops {
		d.Batches *= x.Size
	}
	for _, x := range d.Sums {
		d.Empty = d.Empty || x.Size == 0
	}
	d.Empty = d.Empty || d.K == 0
	em.planDot(d, em.packingOf(e))
	whole := func(slot, offset, row int) access {
		return access{slot, offset == 0 && row*d.M == em.prog.Slots[slot].Bytes}
	}
	list := []access{whole(d.A.Slot, d.A.Offset, d.ARow), {slot: d.B.Slot}, whole(d.C, 0, d.CRow), {slot: d.Packed}}
	em.emitAccess(d, list)
}

// gemmFor returns the kernel of a product: one that rounds its operands if that is requested and the product is large enough. One of few
// rows is if its right operand is a matrix of a parameter, as it is then packed once for many executions; see [exec.Packing]. A product with
// batches, such as attention to states that are an input of the graph, is like one of operands that change.
func (em *emitter) gemmFor(e *graph.Expr, m, n, k int) *kernel.Gemm {
	if !slices.Contains(em.g.Params, e.Operands[1].View.Base) || len(e.Attr.(ir.DotAttr).LHSBatch) > 0 {
		return em.gemmOf(e.DType, m, n, k)
	}
	least := em.prog.Machine.LeastRounded
	if rounding := em.kernels().ByParameter; rounding != nil && e.DType == dtypes.Float32 && min(n, k) >= least {
		return rounding
	}
	return em.gemmOf(e.DType, least, n, k)
}

// gemmOf is gemmFor for operands that change in every execution.
func (em *emitter) gemmOf(dtype dtypes.DType, m, n, k int) *kernel.Gemm {
	if rounding := em.kernels().Rounded; rounding != nil && dtype == dtypes.Float32 && min(m, n, k) >= em.prog.Machine.LeastRounded {
		return rounding
	}
	return em.kernels().Gemm[dtype]
}

// planDot determines how the threads share a product, and where its right operand is packed.
func (em *emitter) planDot(d *exec.Dot, right packing) {
	d.Packed = -1
	work := d.M * d.N * d.K * d.Batches
	const each = 4 // multiplications take the time of one element
	threads := em.prog.Machine.Threads
	d.ChainRows = em.prog.Machine.Share / 32
	d.Parts = em.partsOf(work / each)
	shared := d.Parts > 1 && len(d.Sums) == 0 && d.Batches < 4*threads && d.M*d.N*d.K >= each*em.prog.Machine.Share
	few := d.M <= d.Kernel.MR || !shared && d.M <= kernel.BlockK // rows: every panel is used once, or a few times by one thread
	rows := d.M
	if shared {
		rows /= threads
	}
	d.ReadRight(few, rows)
	em.needScratch(d.StripBytes() + exec.CacheLine)
	defer em.keep(d, right)
	if !shared {
		if d.Parts > 1 {
			d.Split = exec.ByBatch
		}
		if d.Packed = em.packedBefore(d, right); d.Packed < 0 {
			em.needScratch(kernel.RoundUp(d.StripBytes(), exec.CacheLine) + d.PackedBytes() + exec.CacheLine)
		}
		return
	}
	if d.Packed = em.packedBefore(d, right); d.Packed < 0 {
		d.Packed = em.temp(d.PackedBytes())
	}
	strips := (d.M + d.Kernel.MR - 1) / d.Kernel.MR
	d.Split = exec.ByRow
	if d.Panels() >= 2*threads && (strips < 2*threads || d.N >= 2*d.M) {
		d.Split = exec.ByColumn
		if d.PackA {
			d.Parts = threads // each part packs the whole left operand
		}
	}
}

// packing describes how a right operand is packed.
type packing struct {
	base                   *graph.Expr
	offset, n, k, row, col int
	kernel                 *kernel.Gemm
}

// A keptSlot is the slot of a right operand that callers may have packed.
type keptSlot struct {
	packing
	slot int
}

// packingOf returns the packing of a product.
func (em *emitter) packingOf(e *graph.Expr) packing {
	defer ir.Blame(e.Name())
	_, left, right, inner := dotAxes(e)
	m, n, k := popAxis(&left), popAxis(&right), popAxis(&inner)
	r := e.Operands[1].View
	return packing{r.Base, r.Offset, n.Size, k.Size, k.B, n.B, em.gemmFor(e, m.Size, n.Size, k.Size)}
}

// countPackings counts the products with the same right operand.
func (em *emitter) countPackings() {
	for _, e := range em.g.Exprs {
		if e.Op == compute.OpTypeDotGeneral {
			em.packings[em.packingOf(e)]++
		}
	}
}

// packedBefore returns the slot of a right operand that several products share, such as weights in every step; the first of them
// packs it. It returns -1 for others, which are packed for each product.
func (em *emitter) packedBefore(d *exec.Dot, right packing) int {
	if d.Direct() || d.Batches > 1 || len(d.Sums) > 0 || em.packings[right] < 2 && !d.Kernel.Rounds() {
		return -1
	}
	slot, ok := em.packed[right]
	if !ok {
		slot = em.temp(d.PackedBytes())
		em.packed[right], em.shared[slot] = slot, true
	}
	return slot
}

// keep lets a product of several rows use its right operand as callers have packed it, if it is a parameter and no product before it packs
// it.
func (em *emitter) keep(d *exec.Dot, right packing) {
	if em.shared[d.Packed] || d.Batches > 1 || len(d.Sums) > 0 || !slices.Contains(em.g.Params, right.base) {
		return
	}
	slot := d.Packed
	if slot < 0 {
		slot = em.temp(0) // callers have the memory
		kept := *d
		kept.Packed, kept.Reading = slot, kernel.Packed
		d.Kept = &kept
	}
	em.kept = append(em.kept, keptSlot{right, slot})
}

// keepPackings lists the operands that are packed from parameters.
func (em *emitter) keepPackings() {
	for right, slot := range em.packed {
		em.keepPacking(right, slot)
	}
	for _, k := range em.kept {
		em.keepPacking(k.packing, k.slot)
	}
	slices.SortFunc(em.prog.Packings, func(a, b exec.Packing) int { return a.Slot - b.Slot })
}

// keepPacking lists an operand if it is packed from a parameter.
func (em *emitter) keepPacking(right packing, slot int) {
	param := slices.Index(em.g.Params, right.base)
	if param < 0 {
		return
	}
	size := right.base.DType.Size()
	em.prog.Packings = append(em.prog.Packings, exec.Packing{Param: param, Offset: right.offset * size, Slot: slot,
		Layout: kernel.Matmul{N: right.n, K: right.k, BK: right.row * size, BN: right.col * size, Kernel: right.kernel}})
}

// packOnce lets products use operands that were packed before them.
func (em *emitter) packOnce() {
	done := make(map[int]bool)
	visit := func(in exec.Instruction) {
		if d, ok := in.(*exec.Dot); ok && em.shared[d.Packed] {
			d.Reuse = done[d.Packed]
			done[d.Packed] = true
		}
	}
	for _, in := range em.prog.Instructions {
		if c, ok := in.(*exec.Chain); ok {
			for _, m := range c.Members {
				visit(m)
			}
			continue
		}
		visit(in)
	}
}
