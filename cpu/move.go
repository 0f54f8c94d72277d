package cpu

import (
	"slices"
	"unsafe"
)

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

// empty tells whether there is nothing in the box: then no address may be computed, it could be behind the memory.
func (b *box) empty() bool { return b.block == 0 || execProduct(b.dims) == 0 }

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

func (b *box) transfer(dst, src unsafe.Pointer) {
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

func (p *padInstr) run(fr *frame) {
	dst := fr.ptrs[p.dst]
	if p.count == 0 {
		return
	}
	portableKernels.fill[p.size](dst, p.fill.at(fr), nil, nil, 1, p.count)
	if p.box.empty() {
		return
	}
	p.box.transfer(unsafe.Add(dst, p.into), unsafe.Add(p.src.at(fr), p.from))
}
