package main

import (
	"bytes"
	"fmt"
)

// pack writes the functions that copy operands of matrix products to where the inner loops read them.
func pack(w *bytes.Buffer) {
	packRows(w, "packRows512", "Z", 64)
	packRows(w, "packRows256", "Y", 32)
	packTurned(w)
	packStrip(w)
	prefetch(w)
	vendor(w)
}

// vendor writes vendor.
func vendor(w *bytes.Buffer) {
	p := func(line string) { fmt.Fprintf(w, "\t%s\n", line) }
	fmt.Fprint(w, "\n// func vendor() uint32\nTEXT ·vendor(SB), NOSPLIT, $0-4\n")
	p("XORL AX, AX")
	p("XORL CX, CX")
	p("CPUID")
	p("MOVL BX, ret+0(FP)")
	p("RET")
}

// prefetch writes prefetch.
func prefetch(w *bytes.Buffer) {
	p := arguments(w, "prefetch(at unsafe.Pointer, lines int)", []string{"at", "lines"}, []string{"SI", "CX"})
	p("TESTQ CX, CX")
	p("JLE done")
	fmt.Fprintln(w, "line:")
	p("PREFETCHT0 (SI)")
	p("ADDQ $64, SI")
	p("DECQ CX")
	p("JNE line")
	fmt.Fprintln(w, "done:")
	p("RET")
}

// arguments loads the arguments of a function, 8 bytes each, into registers.
func arguments(w *bytes.Buffer, declaration string, names, registers []string) (p func(format string, args ...any)) {
	p = func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	name := declaration[:bytes.IndexByte([]byte(declaration), '(')]
	fmt.Fprintf(w, "\n// func %s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", declaration, name, 8*len(names))
	for i, argument := range names {
		p("MOVQ %s+%d(FP), %s", argument, 8*i, registers[i])
	}
	return p
}

// packRows writes Gemm.packRows for panels of two registers. Registers: DI and SI the first panel of a row, R9 panels, R10 and R11 the
// current panel.
func packRows(w *bytes.Buffer, name, register string, width int) {
	p := arguments(w, name+"(dst, b unsafe.Pointer, k, panels, kStride, panelBytes int)",
		[]string{"dst", "b", "k", "panels", "kStride", "panelBytes"}, []string{"DI", "SI", "CX", "DX", "R8", "BX"})
	p("TESTQ CX, CX")
	p("JE done")
	fmt.Fprintln(w, "row:")
	p("MOVQ SI, R10")
	p("MOVQ DI, R11")
	p("MOVQ DX, R9")
	fmt.Fprintln(w, "panel:")
	for i := range 2 {
		p("VMOVUPS %d(R10), %s%d", i*width, register, i)
	}
	for i := range 2 {
		p("VMOVUPS %s%d, %d(R11)", register, i, i*width)
	}
	p("ADDQ $%d, R10", 2*width)
	p("ADDQ BX, R11")
	p("DECQ R9")
	p("JNE panel")
	p("ADDQ R8, SI")
	p("ADDQ $%d, DI", 2*width)
	p("DECQ CX")
	p("JNE row")
	fmt.Fprintln(w, "done:")
	p("VZEROUPPER")
	p("RET")
}

// packStrip writes packStripZ32. A store overwrites what the one before it has written behind its twelve elements.
func packStrip(w *bytes.Buffer) {
	p := arguments(w, "packStripZ32(dst, a unsafe.Pointer, k, kStride int, mask uintptr)",
		[]string{"dst", "a", "k", "kStride", "mask"}, []string{"DI", "SI", "CX", "R8", "R9"})
	p("KMOVW R9, K1")
	p("TESTQ CX, CX")
	p("JE done")
	fmt.Fprintln(w, "term:")
	p("VMOVUPS.Z (SI), K1, Z0")
	p("VMOVUPS Z0, (DI)")
	p("ADDQ R8, SI")
	p("ADDQ $48, DI")
	p("DECQ CX")
	p("JNE term")
	fmt.Fprintln(w, "done:")
	p("VZEROUPPER")
	p("RET")
}

// packTurned writes packTurned, which transposes blocks of 8 x 8 elements of 4 bytes in registers. Registers: DI and SI the block, CX blocks
// along k, R8 the distance of rows of dst, R9 of b, R10 and R11 three of them, BX and DX the fifth rows.
func packTurned(w *bytes.Buffer) {
	p := arguments(w, "packTurned(dst, b unsafe.Pointer, blocks, dstRow, bRow int)",
		[]string{"dst", "b", "blocks", "dstRow", "bRow"}, []string{"DI", "SI", "CX", "R8", "R9"})
	p("LEAQ (R8)(R8*2), R10")
	p("LEAQ (R9)(R9*2), R11")
	rows := func(first, fifth, row, three string) (places []string) {
		for _, base := range []string{first, fifth} {
			for _, distance := range []string{"", "(" + row + "*1)", "(" + row + "*2)", "(" + three + "*1)"} {
				places = append(places, "("+base+")"+distance)
			}
		}
		return places
	}
	fmt.Fprintln(w, "block:")
	p("LEAQ (SI)(R9*4), DX")
	p("LEAQ (DI)(R8*4), BX")
	for i, place := range rows("SI", "DX", "R9", "R11") {
		p("VMOVUPS %s, Y%d", place, i)
	}
	for i := 0; i < 8; i += 2 { // Y8 to Y15: pairs of rows
		p("VPUNPCKLDQ Y%d, Y%d, Y%d", i+1, i, 8+i)
		p("VPUNPCKHDQ Y%d, Y%d, Y%d", i+1, i, 9+i)
	}
	for i := 0; i < 8; i += 4 { // Y0 to Y7: fours of rows
		for j := range 2 {
			p("VPUNPCKLQDQ Y%d, Y%d, Y%d", 8+i+j+2, 8+i+j, i+2*j)
			p("VPUNPCKHQDQ Y%d, Y%d, Y%d", 8+i+j+2, 8+i+j, i+2*j+1)
		}
	}
	for i, place := range rows("DI", "BX", "R8", "R10") {
		p("VPERM2F128 $0x%d, Y%d, Y%d, Y8", []int{20, 31}[i/4], 4+i%4, i%4)
		p("VMOVUPS Y8, %s", place)
	}
	p("ADDQ $32, SI")
	p("LEAQ (DI)(R8*8), DI")
	p("DECQ CX")
	p("JNE block")
	p("VZEROUPPER")
	p("RET")
}
