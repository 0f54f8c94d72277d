package main

import (
	"bytes"
	"fmt"
)

const (
	neonRows    = 6 // rows of a register block
	neonVectors = 4 // vectors of a row of a block
)

// gemm writes the inner loops of matrix products: rows of c by vectors of columns.
//
// Registers: R0 call, R1 k, R2 to R7 rows of a, R8 step along k, R9 panel, R10 row of c, R11 distance of rows of c, R12 of the panel.
// Vectors 0 to 3 hold the panel's row, 4 to 7 elements of a, the sums start at 8.
func (m *neon) gemm(rows, vectors int) {
	m.begin(fmt.Sprintf("gemm%dx%d", rows, vectors), "(call *GemmCall)", []string{"call"}, []string{"R0"})
	for i, register := range []string{"R1", "R2", "R13", "R8", "R9", "R10", "R11"} {
		m.p("MOVD %d(R0), %s", 8*i, register)
	}
	m.p("MOVD 80(R0), R12")
	for r := 1; r < rows; r++ {
		m.p("ADD R13, R%d, R%d", 1+r, 2+r)
	}
	sum := func(r, j int) int { return 8 + r*vectors + j }
	for r := range rows {
		for j := range vectors {
			m.zero(m.reg(sum(r, j)))
		}
	}
	m.p("CBZ R1, store")
	m.label("loop")
	for j := range vectors {
		m.load("R9", j*neonWidth, j, false)
	}
	for r := range rows {
		element := m.reg(4 + r%4)
		m.p("VLD1R.P (R%d)(R8), [%s%s]", 2+r, element, m.arrangement())
		for j := range vectors {
			m.fma(m.reg(sum(r, j)), m.reg(j), element)
		}
	}
	m.p("ADD R12, R9")
	m.p("SUBS $1, R1, R1")
	m.p("BNE loop")
	m.label("store")
	m.p("MOVD 72(R0), R13")
	m.p("MOVD R10, R14")
	m.p("CBZ R13, write")
	for r := range rows {
		for j := range vectors {
			m.load("R14", j*neonWidth, j%4, false)
			m.binary("add", m.reg(sum(r, j)), m.reg(sum(r, j)), m.reg(j%4))
		}
		m.p("ADD R11, R14")
	}
	m.label("write")
	for r := range rows {
		for j := range vectors {
			m.store(sum(r, j), "R10", j*neonWidth, false)
		}
		m.p("ADD R11, R10")
	}
	m.end()
}

// gemv writes Gemm.gemv: one row of c in 16 vectors of columns, each sum in the order of the panel kernels.
func (m *neon) gemv() {
	m.begin("gemv", "(call *GemmCall)", []string{"call"}, []string{"R0"})
	for i, register := range []string{"R1", "R2", "R13", "R8", "R9", "R10"} {
		m.p("MOVD %d(R0), %s", 8*i, register)
	}
	m.p("MOVD 80(R0), R12")
	for i := range 16 {
		m.zero(m.reg(16 + i))
	}
	m.p("CBZ R1, write")
	m.label("loop")
	m.p("VLD1R.P (R2)(R8), [V0%s]", m.arrangement())
	for i := range 16 {
		m.load("R9", i*neonWidth, 1+i%8, false)
		m.fma(m.reg(16+i), m.reg(1+i%8), "V0")
	}
	m.p("ADD R12, R9")
	m.p("SUBS $1, R1, R1")
	m.p("BNE loop")
	m.label("write")
	for i := range 16 {
		m.store(16+i, "R10", i*neonWidth, false)
	}
	m.end()
}

// products writes all functions of matrix products, and their declarations.
func (m *neon) products(table *bytes.Buffer) {
	fmt.Fprintf(table, "\n// gemm%sTable holds the functions by rows-1 and vectors-1.\nvar gemm%sTable = [%d][%d]func(*GemmCall){\n", m.name, m.name, neonRows, neonVectors)
	declared := ""
	for rows := 1; rows <= neonRows; rows++ {
		table.WriteString("{")
		for vectors := 1; vectors <= neonVectors; vectors++ {
			m.gemm(rows, vectors)
			name := fmt.Sprintf("gemm%dx%d%s", rows, vectors, m.name)
			fmt.Fprintf(table, "%s, ", name)
			declared += fmt.Sprintf("\n//go:noescape\nfunc %s(call *GemmCall)\n", name)
		}
		table.WriteString("},\n")
	}
	m.gemv()
	fmt.Fprintf(table, "}\n%s\n//go:noescape\nfunc gemv%s(call *GemmCall)\n", declared, m.name)
}
