package main

import (
	"bytes"
	"fmt"
)

// element is the suffix of function names: register and bits of an element.
func (v *variant) element() string { return v.name[len("gemm"):] }

// gemv writes Gemm.gemv. Eight parallel sums keep the units busy, where a panel has two. Each sum has the order of the panel kernels, so
// results are bit-identical.
func (v *variant) gemv(w *bytes.Buffer) {
	p := v.beginRow(w, "gemv")
	p("TESTQ CX, CX")
	p("JE store")
	fmt.Fprintln(w, "loop:")
	p("%s (AX), Y8", v.broadcast)
	for i := range 8 {
		p("VFMADD231%s %d(SI), Y8, Y%d", v.suffix, i*v.width, i)
	}
	p("ADDQ R9, AX")
	p("ADDQ R13, SI")
	p("DECQ CX")
	p("JNE loop")
	fmt.Fprintln(w, "store:")
	for i := range 8 {
		p("%s Y%d, %d(DX)", v.move, i, i*v.width)
	}
	p("VZEROUPPER")
	p("RET")
}

// gemvPanels writes Gemm.gemvPanels for a number of panels, at most four. Registers beyond those of loadRow: BX distance of panels, R10 three of
// them. The broadcast is in vector 8, what else is needed in those after it.
func (v *variant) gemvPanels(w *bytes.Buffer, panels int) {
	perPanel := v.panelVectors()
	vectors := perPanel * panels
	p := v.loadRow(w, fmt.Sprintf("gemvPanels%d", panels))
	p("MOVQ 112(DI), BX")
	p("LEAQ (BX)(BX*2), R10")
	each := func(format string, args func(i int) []any) {
		for i := range vectors {
			p(format, args(i)...)
		}
	}
	in := func(base string, offset, i int) string { // in vector i of a row of all panels, from an address in the first
		return fmt.Sprintf("%d(%s)%s", offset+i%perPanel*v.width, base, [...]string{"", "(BX*1)", "(BX*2)", "(R10*1)"}[i/perPanel])
	}
	if v.terms == 4 { // sums start with what the panels have behind their terms: see int8Packed
		p("MOVQ CX, R11")
		p("SHLQ $7, R11")
		p("ADDQ SI, R11")
		each("%s %s, %c%d", func(i int) []any { return []any{v.wordMove(), in("R11", 0, i), v.reg, i} })
	} else {
		each("VXORPS %c%d, %[1]c%[2]d, %[1]c%[2]d", func(i int) []any { return []any{v.reg, i} })
	}
	p("TESTQ CX, CX")
	p("JE store")
	if v.quadsY() {
		p("VMOVDQU ·ones16(SB), Y10")
	}
	fmt.Fprintln(w, "loop:")
	p("%s (AX), %c8", v.broadcast, v.reg)
	for i := range vectors {
		v.addProducts(p, in("SI", 0, i), i)
	}
	p("ADDQ R9, AX")
	p("ADDQ R13, SI")
	p("DECQ CX")
	p("JNE loop")
	fmt.Fprintln(w, "store:")
	if v.terms == 4 {
		p("VBROADCASTSS (AX), %c8", v.reg)
		for i := range vectors {
			for _, line := range scaled(fmt.Sprintf("%c%d", v.reg, i), in("SI", quadScales, i), fmt.Sprintf("%c8", v.reg)) {
				p("%s", line)
			}
		}
	}
	p("CMPQ 72(DI), $0")
	p("JE whole")
	each("VADD%s %d(DX), %c%d, %[3]c%[4]d", func(i int) []any { return []any{v.suffix, i * v.width, v.reg, i} })
	fmt.Fprintln(w, "whole:")
	each("%s %c%d, %d(DX)", func(i int) []any { return []any{v.move, v.reg, i, i * v.width} })
	p("VZEROUPPER")
	p("RET")
}

// addProducts adds the products of vector 8 with words in memory to a sum of gemvPanels.
func (v *variant) addProducts(p func(format string, args ...any), memory string, sum int) {
	switch {
	case v.quadsY():
		for _, line := range dotQuads(memory, 8, 9, 10, sum) {
			p("%s", line)
		}
	case v.terms == 4:
		p("VPDPBUSD %s, Z8, Z%d", memory, sum)
	case v.terms == 2:
		p("%s %s, Z%d", v.move, memory, 9+sum)
		p("%s", dotPairs(8, 9+sum, sum))
	default:
		p("VFMADD231%s %s, %c8, %c%d", v.suffix, memory, v.reg, v.reg, sum)
	}
}

// gemvSplitK writes Gemm.gemvSplitK for columns of a number of cache lines: four sums of every fourth term for each vector. The broadcast is
// in the register after the sums.
func (v *variant) gemvSplitK(w *bytes.Buffer, lines int) {
	p := v.loadRow(w, fmt.Sprintf("gemvSplitK%d", lines))
	vectors := lines * 64 / v.width
	sum := func(vector, i int) string { return fmt.Sprintf("%c%d", v.reg, 4*vector+i) }
	broadcast := sum(vectors, 0)
	for i := range 4 * vectors {
		p("VXORPS %s, %[1]s, %[1]s", sum(0, i))
	}
	term := func(i int) {
		p("%s (AX), %s", v.broadcast, broadcast)
		for j := range vectors {
			p("VFMADD231%s %d(SI), %s, %s", v.suffix, j*v.width, broadcast, sum(j, i))
		}
		p("ADDQ R9, AX")
		p("ADDQ R13, SI")
	}
	p("MOVQ CX, BX")
	p("ANDQ $3, BX")
	p("SHRQ $2, CX")
	p("JE rest")
	fmt.Fprintln(w, "loop:")
	for i := range 4 {
		term(i)
	}
	p("DECQ CX")
	p("JNE loop")
	fmt.Fprintln(w, "rest:")
	p("TESTQ BX, BX")
	p("JE sum")
	fmt.Fprintln(w, "last:")
	term(0)
	p("DECQ BX")
	p("JNE last")
	fmt.Fprintln(w, "sum:")
	for j := range vectors {
		for _, pair := range [][2]int{{0, 1}, {2, 3}, {0, 2}} {
			p("VADD%s %s, %s, %[3]s", v.suffix, sum(j, pair[1]), sum(j, pair[0]))
		}
	}
	p("CMPQ 72(DI), $0")
	p("JE store")
	for j := range vectors {
		p("VADD%s %d(DX), %s, %[3]s", v.suffix, j*v.width, sum(j, 0))
	}
	fmt.Fprintln(w, "store:")
	for j := range vectors {
		p("%s %s, %d(DX)", v.move, sum(j, 0), j*v.width)
	}
	p("VZEROUPPER")
	p("RET")
}

// gemvDots writes Gemm.gemvDots: eight sums of products at a time, each over the lanes of one vector, which are added up at the end.
// Registers beyond those of beginRow: BX eights that are left, R8 the first of their rows, R10 three distances of rows, R11 and R12 rows
// 0 and 4 at the term, R9 where the left row begins.
func (v *variant) gemvDots(w *bytes.Buffer) {
	p := v.beginRow(w, "gemvDots")
	p("MOVQ 96(DI), BX")
	p("MOVQ AX, R9")
	p("MOVQ SI, R8")
	p("LEAQ (R13)(R13*2), R10")
	fmt.Fprintln(w, "eight:")
	p("MOVQ 0(DI), CX")
	p("MOVQ R9, AX")
	p("MOVQ R8, R11")
	p("LEAQ (R8)(R13*4), R12")
	fmt.Fprintln(w, "loop:")
	p("%s (AX), Y8", v.move)
	for i, base := range []string{"R11", "R12"} {
		for j, distance := range []string{"", "(R13*1)", "(R13*2)", "(R10*1)"} {
			p("VFMADD231%s (%s)%s, Y8, Y%d", v.suffix, base, distance, 4*i+j)
		}
	}
	for _, pointer := range []string{"AX", "R11", "R12"} {
		p("ADDQ $%d, %s", v.width, pointer)
	}
	p("SUBQ $%d, CX", v.lanes())
	p("JNE loop")
	add := func(a, b int) { p("VHADD%s Y%d, Y%d, Y%d", v.suffix, b, a, a) }
	halves := func(a, b int) { // [low a, low b] + [high a, high b]
		p("VPERM2F128 $0x20, Y%d, Y%d, Y8", b, a)
		p("VPERM2F128 $0x31, Y%d, Y%d, Y9", b, a)
		p("VADD%s Y9, Y8, Y%d", v.suffix, a)
	}
	for i := 0; i < 8; i += 2 {
		add(i, i+1)
	}
	if v.suffix == "PS" {
		add(0, 2)
		add(4, 6)
		halves(0, 4)
		p("%s Y0, (DX)", v.move)
		p("ADDQ $%d, DX", v.width)
	} else {
		halves(0, 2)
		halves(4, 6)
		p("%s Y0, (DX)", v.move)
		p("%s Y4, %d(DX)", v.move, v.width)
		p("ADDQ $%d, DX", 2*v.width)
	}
	zero(p)
	p("LEAQ (R8)(R13*8), R8")
	p("DECQ BX")
	p("JNE eight")
	p("VZEROUPPER")
	p("RET")
}

// zero clears vectors 0 to 7.
func zero(p func(format string, args ...any)) {
	for i := range 8 {
		p("VXORPS Y%d, Y%d, Y%d", i, i, i)
	}
}

// lanes is the number of elements of a register.
func (v *variant) lanes() int {
	if v.suffix == "PS" {
		return v.width / 4
	}
	return v.width / 8
}

// beginRow writes the beginning of a function on one row: registers as in block, vectors 0 to 7 zero.
func (v *variant) beginRow(w *bytes.Buffer, form string) (p func(format string, args ...any)) {
	p = v.loadRow(w, form)
	zero(p)
	return p
}

// loadRow writes the beginning of a function on one row: its name, and registers as in block.
func (v *variant) loadRow(w *bytes.Buffer, form string) (p func(format string, args ...any)) {
	p = func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	fmt.Fprintf(w, "\n// func %s%s(call *GemmCall)\nTEXT ·%s%s(SB), NOSPLIT, $0-8\n", form, v.element(), form, v.element())
	p("MOVQ call+0(FP), DI")
	p("MOVQ 0(DI), CX")
	p("MOVQ 8(DI), AX")
	p("MOVQ 24(DI), R9")
	p("MOVQ 32(DI), SI")
	p("MOVQ 40(DI), DX")
	p("MOVQ 80(DI), R13")
	return p
}
