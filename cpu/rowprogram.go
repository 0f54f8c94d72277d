package cpu

import "unsafe"

// rowProgram computes a fused group tile by tile: a tile is a few rows, small enough for its intermediate
// values to stay in the cache nearest to the core. Each step is one kernel on one tile.
type rowProgram struct {
	rows, cols int // of the whole group
	tile       int // rows in a tile
	parts      int // 1 if there is too little work to share
	prologue   []step
	steps      []step
	partials   []partial
}

// place says where an operand of a step is: at offset + row*rowStep + part*partStep bytes from the slot.
type place struct {
	slot, offset, rowStep, partStep int
}

// Slots that are not memory of the program.
const (
	slotNone    = -1
	slotScratch = -2 // registers of the part
)

var nowhere = place{slot: slotNone}

func (p *place) at(fr *frame, part, row int) unsafe.Pointer {
	if p.slot >= 0 {
		return unsafe.Add(fr.ptrs[p.slot], p.offset+row*p.rowStep+part*p.partStep)
	}
	if p.slot == slotScratch {
		return unsafe.Add(fr.scratch[part], p.offset)
	}
	return nil
}

// extent says which rows and columns a kernel gets.
type extent uint8

const (
	extentTile extent = iota // tile x cols
	extentFlat               // 1 x tile*cols: an operand that repeats one element
	extentRows               // tile x 1
	extentOne                // 1 x tile
	extentUnit               // 1 x 1
)

// step is one kernel call for each tile, or one strided load into dst.
type step struct {
	fn           kernel
	dst, a, b, c place
	extent       extent
	load         *stridedLoad
}

// partial is a reduction over all rows: each part accumulates its own, and they are combined in order.
type partial struct {
	slot    int // memory for parts x count elements
	dst     int // slot of the result
	count   int
	size    int
	neutral [8]byte
	combine kernel
}

func (p *rowProgram) run(fr *frame) {
	p.begin(fr)
	if p.parts == 1 {
		p.part(fr, 0, 1)
	} else {
		fr.do(p)
	}
	p.end(fr)
}

// begin sets what the parts accumulate to its neutral element.
func (p *rowProgram) begin(fr *frame) {
	for i := range p.partials {
		r := &p.partials[i]
		fillNeutral(fr.ptrs[r.slot], p.parts*r.count, r.size, r.neutral)
	}
}

// end combines what the parts accumulated, in their order.
func (p *rowProgram) end(fr *frame) {
	for i := range p.partials {
		r := &p.partials[i]
		dst, src := fr.ptrs[r.dst], fr.ptrs[r.slot]
		copyBytes(dst, src, r.count*r.size)
		for i := 1; i < p.parts; i++ {
			r.combine(dst, dst, unsafe.Add(src, i*r.count*r.size), nil, 1, r.count)
		}
	}
}

// part runs the tiles of one part.
func (p *rowProgram) part(fr *frame, part, parts int) {
	tiles := (p.rows + p.tile - 1) / p.tile
	lo, hi := split(tiles, part, parts)
	p.runRows(fr, part, lo*p.tile, min(hi*p.tile, p.rows))
}

// runRows runs the tiles of rows lo to hi.
func (p *rowProgram) runRows(fr *frame, part, lo, hi int) {
	if lo >= hi {
		return
	}
	for i := range p.prologue {
		p.prologue[i].exec(fr, part, 0, p.tile, p.cols)
	}
	for row := lo; row < hi; row += p.tile {
		n := min(p.tile, hi-row)
		for i := range p.steps {
			p.steps[i].exec(fr, part, row, n, p.cols)
		}
	}
}

// exec runs one step on n rows from row on.
func (s *step) exec(fr *frame, part, row, n, cols int) {
	dst := s.dst.at(fr, part, row)
	rows := n
	switch s.extent {
	case extentFlat:
		rows, cols = 1, n*cols
	case extentRows:
		cols = 1
	case extentOne:
		rows, cols = 1, n
	case extentUnit:
		rows, cols = 1, 1
	}
	if s.load != nil {
		s.load.run(dst, s.a.at(fr, part, 0), row*cols, rows*cols)
		return
	}
	s.fn(dst, s.a.at(fr, part, row), s.b.at(fr, part, row), s.c.at(fr, part, row), rows, cols)
}

// fillNeutral sets count elements of the given size to one value.
func fillNeutral(dst unsafe.Pointer, count, size int, value [8]byte) {
	portableKernels.fill[size](dst, unsafe.Pointer(&value), nil, nil, 1, count)
}

// stridedLoad gathers elements of any view into consecutive memory, in the order of the view.
type stridedLoad struct {
	size          int // bytes of an element
	dims, strides []int
}

// run copies count elements from position start of the view on.
func (l *stridedLoad) run(dst, src unsafe.Pointer, start, count int) {
	if count == 0 {
		return
	}
	last := len(l.dims) - 1
	var index [maxRank]int
	offset := 0
	for i, rest := last, start; i >= 0; i-- {
		index[i] = rest % l.dims[i]
		rest /= l.dims[i]
		offset += index[i] * l.strides[i]
	}
	for {
		n := min(count, l.dims[last]-index[last])
		l.copyRun(dst, unsafe.Add(src, offset*l.size), n)
		if count -= n; count == 0 {
			return
		}
		dst = unsafe.Add(dst, n*l.size)
		offset -= index[last] * l.strides[last]
		index[last] = 0
		for i := last - 1; i >= 0; i-- {
			index[i]++
			offset += l.strides[i]
			if index[i] < l.dims[i] {
				break
			}
			offset -= l.dims[i] * l.strides[i]
			index[i] = 0
		}
	}
}

// maxRank bounds the dimensions of a view after collapsing; graphs with more are replayed.
const maxRank = 16

// copyRun copies n elements at the innermost stride.
func (l *stridedLoad) copyRun(dst, src unsafe.Pointer, n int) {
	stride := l.strides[len(l.strides)-1]
	if stride == 1 {
		copyBytes(dst, src, n*l.size)
		return
	}
	switch l.size {
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

func gather[T unsigned](dst, src unsafe.Pointer, n, stride int) {
	d := execSlice[T](dst, n)
	step := stride * int(unsafe.Sizeof(T(0)))
	for i := range d {
		d[i] = *(*T)(unsafe.Add(src, i*step))
	}
}

// places of a step, the destination last.
func (s *step) places() []*place { return []*place{&s.a, &s.b, &s.c, &s.dst} }
