package exec

import (
	"slices"
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// Copy copies bytes.
type Copy struct {
	Src   Operand
	Dst   int
	Bytes int
}

func (c *Copy) run(fr *frame) { copyBytes(fr.ptrs[c.Dst], c.Src.at(fr), c.Bytes) }

// A box is a set of elements in two memories: dims with strides in bytes. Its innermost axis is a block of consecutive bytes on both
// sides.
type box struct {
	dims     []int
	dst, src []int
	block    int
}

// NewBox returns the copy of dims elements of size bytes between strided memories (strides in elements).
func NewBox(dims, dst, src []int, size int) box {
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

// empty reports whether the box has no elements. No address may be computed then, as it could be outside the memory.
func (b *box) empty() bool { return b.block == 0 || product(b.dims) == 0 }

// each calls f with the addresses of every block, in order.
func (b *box) each(dst, src unsafe.Pointer, f func(dst, src unsafe.Pointer)) {
	if b.empty() {
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

// transfer copies all blocks.
func (b *box) transfer(dst, src unsafe.Pointer) {
	if !b.empty() {
		b.transferFrom(0, dst, src)
	}
}

// transferFrom copies the blocks of one index of the axes before an axis.
func (b *box) transferFrom(axis int, dst, src unsafe.Pointer) {
	if axis == len(b.dims) {
		copyBytes(dst, src, b.block)
		return
	}
	n, to, from := b.dims[axis], b.dst[axis], b.src[axis]
	last := axis == len(b.dims)-1
	for i := range n {
		if last {
			copyBytes(unsafe.Add(dst, i*to), unsafe.Add(src, i*from), b.block)
		} else {
			b.transferFrom(axis+1, unsafe.Add(dst, i*to), unsafe.Add(src, i*from))
		}
	}
}

// Concatenate joins operands: for each of outer rows, one block of every operand.
type Concatenate struct {
	Src    []Operand
	Blocks []int // bytes
	Dst    int
	Outer  int
	Row    int // bytes of a row of the result
}

func (c *Concatenate) run(fr *frame) {
	at := 0
	for i, src := range c.Src {
		from, block := src.at(fr), c.Blocks[i]
		if block == 0 {
			continue
		}
		for r := range c.Outer {
			copyBytes(unsafe.Add(fr.ptrs[c.Dst], r*c.Row+at), unsafe.Add(from, r*block), block)
		}
		at += block
	}
}

// Pad copies the operand's elements that remain inside, and fills the gaps before, between and after them.
type Pad struct {
	Src, Fill  Operand
	Dst        int
	Count      int // elements of the result
	Size       int
	From, Into int // bytes to the first element that remains
	Box        box
	Parts      int // 1 if there is too little work to share
}

func (p *Pad) run(fr *frame) { fr.do(p, p.Parts) }

// part computes the result from the first block of its share of the outermost axis to the first of the next share.
func (p *Pad) part(fr *frame, mine share) {
	end := p.Count * p.Size
	if p.Box.empty() || len(p.Box.dims) == 0 {
		if mine.part == 0 {
			p.fill(fr, p.blocks(fr, 0, p.Into, p.From, 0), end)
		}
		return
	}
	n := p.Box.dims[0]
	lo, hi := mine.of(n)
	if lo == hi {
		return
	}
	from := 0
	if lo > 0 {
		from = p.Into + lo*p.Box.dst[0]
	}
	if hi < n {
		end = p.Into + hi*p.Box.dst[0]
	}
	for i := lo; i < hi; i++ {
		from = p.blocks(fr, 1, p.Into+i*p.Box.dst[0], p.From+i*p.Box.src[0], from)
	}
	p.fill(fr, from, end)
}

// blocks copies the blocks of one index of the axes before an axis, and fills the gaps before them from an offset on. It returns the
// offset after the last block. All offsets are in bytes.
func (p *Pad) blocks(fr *frame, axis, into, source, from int) int {
	if p.Box.empty() {
		return from
	}
	if axis == len(p.Box.dims) {
		p.fill(fr, from, into)
		copyBytes(unsafe.Add(fr.ptrs[p.Dst], into), unsafe.Add(p.Src.at(fr), source), p.Box.block)
		return into + p.Box.block
	}
	for i := range p.Box.dims[axis] {
		from = p.blocks(fr, axis+1, into+i*p.Box.dst[axis], source+i*p.Box.src[axis], from)
	}
	return from
}

// fill fills the bytes from one offset to another.
func (p *Pad) fill(fr *frame, from, to int) {
	if from < to {
		kernel.Portable.Fill[p.Size](unsafe.Add(fr.ptrs[p.Dst], from), p.Fill.at(fr), nil, nil, 1, (to-from)/p.Size)
	}
}
