package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// Dot is a product of tensors.
type Dot struct {
	kernel.Matmul
	A, B    Operand
	C       int
	Loops   []DotAxis // around the matrix product, with strides in bytes
	Sums    []DotAxis // contracted axes other than k, whose products are summed
	Batches int       // number of iterations of the loops
	Parts   int
	Bytes   int
	Empty   bool // there are no terms: the result is zero

	Packed    int  // slot for all of b; -1 if each part packs into its scratch memory
	Kept      *Dot // the product for b that was packed before the execution; nil if there is none
	Reuse     bool // an earlier instruction has packed b
	Split     Split
	ChainRows int // minimum number of rows for a chain
}

// A Split is the way in which threads share a product.
type Split int

const (
	Serial   Split = iota // not at all: there is too little work
	ByBatch               // each thread takes some of the batches
	ByRow                 // the threads share each batch by strips of rows
	ByColumn              // the threads share each batch by panels
)

// A DotAxis is one axis of a product: its size and its strides, in elements, in both operands and the result. A stride is 0 if the
// axis does not occur.
type DotAxis struct{ Size, A, B, C int }

func (d *Dot) run(fr *frame) {
	if d.Bytes == 0 {
		return
	}
	if d.Kept != nil && d.Kept.isPacked(fr) {
		d = d.Kept
	}
	if d.Empty {
		clear(slice[byte](fr.ptrs[d.C], d.Bytes))
		return
	}
	switch d.Split {
	case Serial:
		d.part(fr, whole)
	case ByBatch:
		fr.do(d, d.Parts)
	default:
		fr.dotBatch = 0
		for ; fr.dotBatch < d.Batches; fr.dotBatch++ {
			if d.Split == ByRow && !d.Direct() && !d.isPacked(fr) {
				fr.do((*dotPack)(d), fr.prog.Machine.Threads)
			}
			fr.do((*dotProduct)(d), d.Parts)
		}
	}
}

// isPacked reports whether the right operand was packed by an earlier instruction, or before the execution.
func (d *Dot) isPacked(fr *frame) bool { return d.Reuse || d.Packed >= 0 && fr.given[d.Packed] }

// operands returns the addresses for one batch.
func (d *Dot) operands(fr *frame, batch int) (a, b, c unsafe.Pointer) {
	a, b, c = d.A.at(fr), d.B.at(fr), fr.ptrs[d.C]
	for i := len(d.Loops) - 1; i >= 0; i-- {
		x := &d.Loops[i]
		j := batch % x.Size
		batch /= x.Size
		a, b, c = unsafe.Add(a, j*x.A), unsafe.Add(b, j*x.B), unsafe.Add(c, j*x.C)
	}
	return a, b, c
}

// dotPack packs the right operand, shared by panels.
type dotPack Dot

func (t *dotPack) part(fr *frame, mine share) {
	d := (*Dot)(t)
	_, b, _ := d.operands(fr, fr.dotBatch)
	lo, hi := mine.of(d.Panels())
	d.Pack(fr.ptrs[d.Packed], b, lo, hi)
}

// packShare packs the share of one part, for products in a chain.
func (d *Dot) packShare(fr *frame, mine share) {
	if d.isPacked(fr) {
		return
	}
	lo, hi := mine.of(d.Panels())
	d.Pack(fr.ptrs[d.Packed], d.B.at(fr), lo, hi)
}

// runRows computes rows lo to hi of a product that is shared by rows, with a packed right operand.
func (d *Dot) runRows(fr *frame, mine share, lo, hi int) {
	w := d.All()
	w.R0, w.R1 = lo, hi
	d.Multiply(&fr.calls[mine.thread].GemmCall, d.A.at(fr), fr.ptrs[d.Packed], fr.ptrs[d.C], fr.scratch[mine.thread], w, false)
}

// dotProduct multiplies, shared by strips of rows, or by panels, which each thread packs for itself.
type dotProduct Dot

func (t *dotProduct) part(fr *frame, mine share) {
	d := (*Dot)(t)
	a, b, c := d.operands(fr, fr.dotBatch)
	right := fr.ptrs[d.Packed]
	if d.Direct() {
		right = b
	}
	if d.Split == ByColumn {
		w := d.All()
		w.P0, w.P1 = mine.of(d.Panels())
		if !d.Direct() && !d.isPacked(fr) {
			d.Pack(right, b, w.P0, w.P1)
		}
		d.Multiply(&fr.calls[mine.thread].GemmCall, a, right, c, fr.scratch[mine.thread], w, false)
		return
	}
	w := d.All()
	lo, hi := mine.of((d.M + d.Kernel.MR - 1) / d.Kernel.MR)
	w.R0, w.R1 = lo*d.Kernel.MR, min(hi*d.Kernel.MR, d.M)
	d.Multiply(&fr.calls[mine.thread].GemmCall, a, right, c, fr.scratch[mine.thread], w, false)
}

// part computes a share of the batches, packing the right operand of each.
func (d *Dot) part(fr *frame, mine share) {
	lo, hi := mine.of(d.Batches)
	packed := unsafe.Add(fr.scratch[mine.thread], kernel.RoundUp(d.StripBytes(), CacheLine))
	if d.Packed >= 0 {
		packed = fr.ptrs[d.Packed]
	}
	var last unsafe.Pointer
	for batch := lo; batch < hi; batch++ {
		a, b, c := d.operands(fr, batch)
		for s := range d.sumCount() {
			x, y := a, b
			for i, rest := len(d.Sums)-1, s; i >= 0; i-- {
				j := rest % d.Sums[i].Size
				rest /= d.Sums[i].Size
				x, y = unsafe.Add(x, j*d.Sums[i].A), unsafe.Add(y, j*d.Sums[i].B)
			}
			right := packed
			if d.Direct() {
				right = y
			} else if y != last && !d.isPacked(fr) {
				d.Pack(packed, y, 0, d.Panels())
				last = y
			}
			d.Multiply(&fr.calls[mine.thread].GemmCall, x, right, c, fr.scratch[mine.thread], d.All(), s > 0)
		}
	}
}

func (d *Dot) sumCount() int {
	n := 1
	for _, x := range d.Sums {
		n *= x.Size
	}
	return n
}
