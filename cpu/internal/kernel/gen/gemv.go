package main

import (
	"bytes"
	"fmt"
)

// element is the end of the names of functions: register and bits of an element.
func (v *variant) element() string { return v.name[len("gemm"):] }

// gemv writes Gemm.gemv: eight sums side by side keep the units busy, where a panel has two. Each sum runs in the
// order of the panel kernels, so results are the same to the last bit.
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

// gemvSplitK writes Gemm.gemvSplitK: two vectors of columns, four sums of every fourth term for each.
func (v *variant) gemvSplitK(w *bytes.Buffer) {
	p := v.beginRow(w, "gemvSplitK")
	term := func(i int) {
		p("%s (AX), Y8", v.broadcast)
		p("VFMADD231%s (SI), Y8, Y%d", v.suffix, i)
		p("VFMADD231%s %d(SI), Y8, Y%d", v.suffix, v.width, 4+i)
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
	for i := 0; i < 8; i += 4 {
		p("VADD%s Y%d, Y%d, Y%d", v.suffix, i+1, i, i)
		p("VADD%s Y%d, Y%d, Y%d", v.suffix, i+3, i+2, i+2)
		p("VADD%s Y%d, Y%d, Y%d", v.suffix, i+2, i, i)
	}
	p("CMPQ 72(DI), $0")
	p("JE store")
	p("VADD%s (DX), Y0, Y0", v.suffix)
	p("VADD%s %d(DX), Y4, Y4", v.suffix, v.width)
	fmt.Fprintln(w, "store:")
	p("%s Y0, (DX)", v.move)
	p("%s Y4, %d(DX)", v.move, v.width)
	p("VZEROUPPER")
	p("RET")
}

// beginRow writes the beginning of a function on one row: registers as in block, vectors 0 to 7 zero.
func (v *variant) beginRow(w *bytes.Buffer, form string) (p func(format string, args ...any)) {
	p = func(format string, args ...any) { fmt.Fprintf(w, "\t"+format+"\n", args...) }
	fmt.Fprintf(w, "\n// func %s%s(call *GemmCall)\nTEXT ·%s%s(SB), NOSPLIT, $0-8\n", form, v.element(), form, v.element())
	p("MOVQ call+0(FP), DI")
	p("MOVQ 0(DI), CX")
	p("MOVQ 8(DI), AX")
	p("MOVQ 24(DI), R9")
	p("MOVQ 32(DI), SI")
	p("MOVQ 40(DI), DX")
	p("MOVQ 80(DI), R13")
	for i := range 8 {
		p("VXORPS Y%d, Y%d, Y%d", i, i, i)
	}
	return p
}
