package main

import (
	"fmt"
	"strconv"
	"strings"
)

// ahead is the number of rows of the panel, at most 8, by which wide blocks prefetch it before they read it.
const ahead = 8

// wide reports whether the operands are floating-point numbers in registers of 64 bytes. A panel of 512 terms is then larger than the first cache.
func (b *block) wide() bool { return b.masked && b.terms == 1 }

// prefetchResult returns the instruction that prefetches c. Wide blocks prefetch it to the second cache only, as the first has no room left.
func (b *block) prefetchResult() string {
	if b.wide() {
		return "PREFETCHT1"
	}
	return "PREFETCHT0"
}

// loop adds up the products of k terms.
func (b *block) loop() {
	b.p("MOVQ 80(DI), R13")
	b.p("MOVQ 88(DI), R14")
	b.p("TESTQ CX, CX")
	b.p("JE store")
	if b.quadsY() {
		b.p("VMOVDQU ·ones16(SB), Y0")
	}
	if b.unrolls() {
		b.unrolled()
	}
	b.label("loop")
	for j := range b.vectors {
		if !b.quadsY() { // it reads them from memory, for want of registers
			b.p("%s %d(SI), %c%d", b.move, j*b.width, b.reg, j)
		}
	}
	for r := range b.rows {
		if b.terms == 1 {
			b.multiply(r, b.row(r))
			continue
		}
		b.p("%s %s, %c%d", b.broadcast, b.row(r), b.reg, 2+r%2)
		for j := range b.vectors {
			switch {
			case b.quadsY():
				for _, line := range dotQuads(fmt.Sprintf("%d(SI)", j*b.width), 2+r%2, 1, 0, 4+r*b.vectors+j) {
					b.p("%s", line)
				}
			case b.terms == 4:
				b.p("VPDPBUSD Z%d, Z%d, %s", j, 2+r%2, b.sum(r, j))
			default:
				b.p("%s", dotPairs(2+r%2, j, 4+r*b.vectors+j))
			}
		}
	}
	b.p("PREFETCHT0 (R14)")
	for j := range b.vectors {
		if b.wide() {
			b.p("PREFETCHT0 %d(SI)(R13*%d)", j*b.width, ahead)
		}
	}
	b.p("ADDQ $64, R14")
	b.p("ADDQ R13, SI")
	for i := range b.groups() {
		b.p("ADDQ R9, %s", rowPointers[i])
	}
	b.p("DECQ CX")
	b.p("JNE loop")
}

// unrolls reports whether there are loops over several terms at once, too: for the blocks that most products consist of.
func (b *block) unrolls() bool { return b.wide() && b.rows%4 == 0 }

// unrolled writes loops over four terms at once, for rows of a whose terms are adjacent and for copied strips, and goes on with the loop over single
// terms. They need fewer instructions for each multiplication. That matters most where two threads share a core.
func (b *block) unrolled() {
	size := 4
	if b.suffix == "PD" {
		size = 8
	}
	b.p("CMPQ R9, $%d", size)
	b.p("JNE strips")
	b.fours("fourOfRows", size, b.row, b.groups())
	b.label("strips")
	if strip := size * b.variant.rows; b.rows == b.variant.rows {
		b.p("CMPQ R8, $%d", size)
		b.p("JNE loop")
		b.p("CMPQ R9, $%d", strip)
		b.p("JNE loop")
		b.fours("fourOfStrip", strip, func(r int) string { return fmt.Sprintf("%d(AX)", r*size) }, 1)
	}
}

// fours writes a loop over four terms at once, which are step bytes apart. It advances the first pointers of the rows.
func (b *block) fours(label string, step int, row func(r int) string, pointers int) {
	const terms = 4
	b.p("SUBQ $%d, CX", terms)
	b.p("JLT %sRest", label)
	b.label(label)
	for i := range terms {
		for j := range b.vectors {
			b.p("%s %d(SI), %c%d", b.move, j*b.width, b.reg, j)
			b.p("PREFETCHT0 %d(SI)(R13*%d)", j*b.width, ahead)
		}
		for r := range b.rows {
			b.multiply(r, offset(i*step, row(r)))
		}
		b.p("PREFETCHT0 %d(R14)", 64*i)
		b.p("ADDQ R13, SI")
	}
	b.p("ADDQ $%d, R14", 64*terms)
	for i := range pointers {
		b.p("ADDQ $%d, %s", terms*step, rowPointers[i])
	}
	b.p("SUBQ $%d, CX", terms)
	b.p("JGE %s", label)
	b.label(label + "Rest")
	b.p("ADDQ $%d, CX", terms)
	b.p("JE store")
	for i := pointers; i < b.groups(); i++ { // the other pointers have stayed behind
		b.p("LEAQ (%s)(R8*2), %s", rowPointers[i-1], rowPointers[i])
		b.p("ADDQ R8, %s", rowPointers[i])
	}
	b.p("JMP loop")
}

// offset adds bytes to an address.
func offset(bytes int, address string) string {
	at := strings.IndexByte(address, '(')
	before, _ := strconv.Atoi(address[:at])
	return fmt.Sprintf("%d%s", before+bytes, address[at:])
}

// multiply adds to the sums of a row. With AVX-512 the broadcast is part of the multiplication if there is one vector.
func (b *block) multiply(r int, at string) {
	if b.masked && b.vectors == 1 {
		b.p("VFMADD231%s.BCST %s, %c0, %s", b.suffix, at, b.reg, b.sum(r, 0))
		return
	}
	b.p("%s %s, %c%d", b.broadcast, at, b.reg, 2+r%2)
	for j := range b.vectors {
		b.p("VFMADD231%s %c%d, %c%d, %s", b.suffix, b.reg, j, b.reg, 2+r%2, b.sum(r, j))
	}
}
