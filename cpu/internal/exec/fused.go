package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// Fused computes a fused group tile by tile. A tile is a few rows, small enough that its intermediate values stay in the L1 cache.
// Each step is one kernel on one tile.
type Fused struct {
	Rows, Cols int // of the whole group
	Tile       int // rows of a tile
	Parts      int // 1 if there is too little work to share
	Prologue   []Step
	Steps      []Step
	Partials   []Partial
	Views      int // number of operands that may be read in place
	Run        int // consecutive rows of the first view: no tile crosses a multiple of it; 0: tiles end anywhere
}

// Address is the location of a step's operand: Offset + row*RowStep + part*PartStep bytes from the slot.
type Address struct {
	Slot, Offset, RowStep, PartStep int
}

// Slots that are not memory of the program.
const (
	slotNone    = -1
	SlotScratch = -2 // registers of the thread
	SlotView    = -3 // result of a load: the register, or the memory itself
)

// Nowhere is the address of an operand that a kernel does not have.
var Nowhere = Address{Slot: slotNone}

func (a *Address) at(fr *frame, mine share, row int) unsafe.Pointer {
	if a.Slot >= 0 {
		return unsafe.Add(fr.ptrs[a.Slot], a.Offset+row*a.RowStep+mine.part*a.PartStep)
	}
	switch a.Slot {
	case SlotScratch:
		return unsafe.Add(fr.scratch[mine.thread], a.Offset)
	case SlotView:
		return fr.views[mine.thread][a.Offset]
	}
	return nil
}

// Extent determines the rows and columns that a kernel gets.
type Extent uint8

const (
	ExtentTile Extent = iota // tile x cols
	ExtentFlat               // 1 x tile*cols: an operand that repeats one element
	ExtentRows               // tile x 1
	ExtentOne                // 1 x tile
	ExtentUnit               // 1 x 1
)

// A Step is one kernel call for each tile, or one strided load into Dst.
type Step struct {
	Kernel       kernel.Func
	Dst, A, B, C Address
	Extent       Extent
	Load         *StridedLoad
	View         int // index of a load's view, from 1; 0: the loaded value is always read in the register
}

// A Partial is a reduction over all rows: each part accumulates its own, and they are combined in order.
type Partial struct {
	Slot    int // memory for parts x Count elements
	Dst     int // slot of the result
	Count   int
	Size    int
	Neutral [8]byte
	Combine kernel.Func
}

func (p *Fused) run(fr *frame) {
	p.begin(fr)
	if p.Parts == 1 {
		p.part(fr, whole)
	} else {
		fr.do(p, p.Parts)
	}
	p.end(fr)
}

// begin sets the accumulators of the parts to the neutral element.
func (p *Fused) begin(fr *frame) {
	for i := range p.Partials {
		r := &p.Partials[i]
		fillNeutral(fr.ptrs[r.Slot], p.Parts*r.Count, r.Size, r.Neutral)
	}
}

// end combines the accumulators of the parts in order.
func (p *Fused) end(fr *frame) {
	for i := range p.Partials {
		r := &p.Partials[i]
		dst, src := fr.ptrs[r.Dst], fr.ptrs[r.Slot]
		copyBytes(dst, src, r.Count*r.Size)
		for i := 1; i < p.Parts; i++ {
			r.Combine(dst, dst, unsafe.Add(src, i*r.Count*r.Size), nil, 1, r.Count)
		}
	}
}

// part runs the tiles of one part.
func (p *Fused) part(fr *frame, mine share) {
	tiles := (p.Rows + p.Tile - 1) / p.Tile
	lo, hi := mine.of(tiles)
	p.runRows(fr, mine, lo*p.Tile, min(hi*p.Tile, p.Rows))
}

// runRows runs the tiles of rows lo to hi.
func (p *Fused) runRows(fr *frame, mine share, lo, hi int) {
	if lo >= hi {
		return
	}
	for i := range p.Prologue {
		p.Prologue[i].exec(fr, mine, 0, p.Tile, p.Cols)
	}
	for row := lo; row < hi; {
		n := min(p.Tile, hi-row)
		if p.Run > 0 {
			n = min(n, p.Run-row%p.Run)
		}
		for i := range p.Steps {
			p.Steps[i].exec(fr, mine, row, n, p.Cols)
		}
		row += n
	}
}

// exec runs one step on n rows from row on.
func (s *Step) exec(fr *frame, mine share, row, n, cols int) {
	dst := s.Dst.at(fr, mine, row)
	rows := n
	switch s.Extent {
	case ExtentFlat:
		rows, cols = 1, n*cols
	case ExtentRows:
		cols = 1
	case ExtentOne:
		rows, cols = 1, n
	case ExtentUnit:
		rows, cols = 1, 1
	}
	if s.Load != nil {
		at := s.Load.run(dst, s.A.at(fr, mine, 0), row*cols, rows*cols, s.View > 0)
		if s.View > 0 {
			fr.views[mine.thread][s.View-1] = at
		}
		return
	}
	s.Kernel(dst, s.A.at(fr, mine, row), s.B.at(fr, mine, row), s.C.at(fr, mine, row), rows, cols)
}

// fillNeutral sets count elements of the given size to one value.
func fillNeutral(dst unsafe.Pointer, count, size int, value [8]byte) {
	kernel.Portable.Fill[size](dst, unsafe.Pointer(&value), nil, nil, 1, count)
}

// StridedLoad gathers elements of any view into consecutive memory, in the order of the view.
type StridedLoad struct {
	Size          int // bytes of an element
	Dims, Strides []int
}

// run copies count elements of the view from position start on, and returns their address: dst or, if they are consecutive in memory
// and need not be copied, the memory itself.
func (l *StridedLoad) run(dst, src unsafe.Pointer, start, count int, direct bool) unsafe.Pointer {
	if count == 0 {
		return dst
	}
	last := len(l.Dims) - 1
	var index [MaxRank]int
	offset := 0
	for i, rest := last, start; i >= 0; i-- {
		index[i] = rest % l.Dims[i]
		rest /= l.Dims[i]
		offset += index[i] * l.Strides[i]
	}
	if direct && l.Strides[last] == 1 && index[last]+count <= l.Dims[last] {
		return unsafe.Add(src, offset*l.Size)
	}
	to := dst
	for {
		n := min(count, l.Dims[last]-index[last])
		l.copyRun(to, unsafe.Add(src, offset*l.Size), n)
		if count -= n; count == 0 {
			return dst
		}
		to = unsafe.Add(to, n*l.Size)
		offset -= index[last] * l.Strides[last]
		index[last] = 0
		for i := last - 1; i >= 0; i-- {
			index[i]++
			offset += l.Strides[i]
			if index[i] < l.Dims[i] {
				break
			}
			offset -= l.Dims[i] * l.Strides[i]
			index[i] = 0
		}
	}
}

// MaxRank is the maximum number of dimensions of a view after collapsing. Graphs with more are replayed.
const MaxRank = 16

// copyRun copies n elements at the innermost stride.
func (l *StridedLoad) copyRun(dst, src unsafe.Pointer, n int) {
	stride := l.Strides[len(l.Strides)-1]
	if stride == 1 {
		copyBytes(dst, src, n*l.Size)
		return
	}
	switch l.Size {
	case 1:
		gather[uint8](dst, src, n, stride)
	case 2:
		gather[uint16](dst, src, n, stride)
	case 4:
		gather[uint32](dst, src, n, stride)
	default:
		gather[uint64](dst, src, n, stride)
	}
}

func gather[T kernel.Unsigned](dst, src unsafe.Pointer, n, stride int) {
	d := slice[T](dst, n)
	step := stride * int(unsafe.Sizeof(T(0)))
	for i := range d {
		d[i] = *(*T)(unsafe.Add(src, i*step))
	}
}

// Places returns the step's addresses, the destination last.
func (s *Step) Places() []*Address { return []*Address{&s.A, &s.B, &s.C, &s.Dst} }
