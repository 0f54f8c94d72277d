package exec

import (
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// blockMask makes the summands of blocks of scores: 0 for visible keys, -inf for hidden ones and behind the keys, or the elements of a mask
// of numbers.
type blockMask[T kernel.Float] struct {
	x     *BlockAttention
	line  []T    // zeros, then as many -inf
	keys  []T    // the same summands for all queries, if there is such a mask
	block []T    // of a block, if queries differ
	seen  []bool // blocks of keys of which a query can see some

	from        unsafe.Pointer // the mask of the head
	keysOf      unsafe.Pointer // the mask that keys was computed from
	first, last int            // smallest and largest last visible key of the strip
}

// maskElements returns the number of elements of its memory.
func (x *BlockAttention) maskElements() int {
	n := 2 * (x.Columns + x.Height)
	switch {
	case !x.Mask.Present:
	case x.Mask.Row == 0 && !x.Mask.Last:
		n += kernel.RoundUp(x.N, x.Kernels.BlockLanes)
	default:
		n += x.Height * x.Stride
	}
	return n
}

// init takes memory.
func (m *blockMask[T]) init(x *BlockAttention, take func(n int) []T) {
	m.x = x
	m.line = take(2 * (x.Columns + x.Height))
	clear(m.line)
	for i := range m.line[len(m.line)/2:] {
		m.line[len(m.line)/2+i] = T(negativeInfinity)
	}
	switch {
	case !x.Mask.Present:
	case m.perKey():
		m.keys, m.seen = take(kernel.RoundUp(x.N, x.Kernels.BlockLanes)), make([]bool, x.Blocks())
	default:
		m.block = take(x.Height * x.Stride)
	}
}

// perKey reports whether there is a mask that is the same for all queries.
func (m *blockMask[T]) perKey() bool { return m.x.Mask.Present && m.x.Mask.Row == 0 && !m.x.Mask.Last }

// startHead prepares the mask of a head.
func (m *blockMask[T]) startHead(fr *frame, b, head int) {
	if !m.x.Mask.Present {
		return
	}
	m.from = m.x.Mask.at(fr, b, head)
	if !m.perKey() || m.from == m.keysOf {
		return
	}
	m.keysOf = m.from
	maskRow(&m.x.Mask, m.keys, m.from, m.x.N)
	for i := range m.seen {
		m.seen[i] = false
		for _, x := range m.keys[i*m.x.Columns : min((i+1)*m.x.Columns, m.x.N)] {
			if x != T(negativeInfinity) {
				m.seen[i] = true
				break
			}
		}
	}
}

// startStrip prepares queries r0 to r1.
func (m *blockMask[T]) startStrip(r0, r1 int) {
	switch {
	case m.x.Causal:
		m.first, m.last = r0, r1-1
	case m.x.Mask.Last:
		m.first, m.last = m.x.N, -1
		for r := r0; r < r1; r++ {
			last := m.lastOf(r)
			m.first, m.last = min(m.first, last), max(m.last, last)
		}
	}
}

// lastOf returns the last visible key of a query.
func (m *blockMask[T]) lastOf(r int) int { return int(*(*int32)(unsafe.Add(m.from, r*m.x.Mask.Row))) }

// limited reports whether each query sees the keys up to its last one.
func (m *blockMask[T]) limited() bool { return m.x.Causal || m.x.Mask.Last }

// sees reports whether a query of a block may see one of its keys.
func (m *blockMask[T]) sees(k block) bool {
	switch {
	case m.limited():
		return k.c0 <= m.last
	case m.seen != nil:
		return m.seen[k.c0/m.x.Columns]
	}
	return true
}

// trim returns a block without keys at its end that no query sees.
func (m *blockMask[T]) trim(k block) block {
	if m.limited() {
		k.c1 = min(k.c1, m.last+1)
	}
	return k
}

// visible returns summands of which the first n are 0, and the others -inf.
func (m *blockMask[T]) visible(n int) []T { return m.line[len(m.line)/2-n:] }

// add returns the summands of a block, and the number of elements from row to row.
func (m *blockMask[T]) add(k block) (add []T, row int) {
	switch {
	case m.limited() && k.c1-1 <= m.first || !m.x.Causal && !m.x.Mask.Present:
		return m.visible(k.c1 - k.c0), 0
	case m.x.Causal:
		return m.visible(k.r0 + 1 - k.c0), -1
	case m.keys != nil:
		return m.keys[k.c0:], 0
	}
	width := kernel.RoundUp(k.c1-k.c0, m.x.Kernels.BlockLanes)
	for r := k.r0; r < k.r1; r++ {
		row := m.block[(r-k.r0)*m.x.Stride:][:width]
		if m.x.Mask.Last {
			copy(row, m.visible(min(max(m.lastOf(r)+1-k.c0, 0), k.c1-k.c0)))
			continue
		}
		maskRow(&m.x.Mask, row, unsafe.Add(m.from, r*m.x.Mask.Row+k.c0*m.x.Mask.Step), k.c1-k.c0)
	}
	return m.block, m.x.Stride
}
