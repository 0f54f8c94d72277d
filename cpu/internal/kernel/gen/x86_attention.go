package main

import "fmt"

// attention starts a kernel on rows of scores. Registers: DI scores, SI dScores, DX add, R8 largest, R9 inverse, R10 rows, R11 bytes that
// count of a row, R12 bytes of a row, R13 bytes of a row of add, CX perRow, AX the offset in a row; register 12 scale.
func (m *x86) attention(name string) {
	m.function(name, "(c *AttentionCall)", []string{"c"}, []string{"BX"})
	for i, register := range []string{"DI", "SI", "DX", "R8", "R9", "R10", "R11", "R12", "R13"} {
		m.p("MOVQ %d(BX), %s", 8*i, register)
	}
	if m.single() {
		m.p("VCVTSD2SS 72(BX), X12, X12")
	} else {
		m.p("VMOVSD 72(BX), X12")
	}
	m.spreadFirst(12)
	m.p("MOVQ 80(BX), CX")
	m.bytesOf("R11")
	m.p("TESTQ R10, R10")
	m.p("JLE done")
	m.label("row")
}

// endRow advances to the next row.
func (m *x86) endRow() {
	m.p("ADDQ R12, DI")
	m.p("ADDQ R12, SI")
	m.p("ADDQ R13, DX")
	m.p("ADDQ $%d, R8", m.size)
	m.p("ADDQ $%d, R9", m.size)
	m.p("ADDQ $%d, CX", m.size)
	m.p("DECQ R10")
	m.p("JNE row")
	m.label("done")
	m.end()
}

// overRow writes a loop over the vectors of a row.
func (m *x86) overRow(label string, each func()) { m.overGroups(label, 1, each) }

// overGroups writes a loop over groups of vectors of a row.
func (m *x86) overGroups(label string, vectors int, each func()) {
	m.p("XORQ AX, AX")
	m.p("CMPQ AX, R11")
	m.p("JGE %sEnd", label)
	m.label(label)
	each()
	m.p("ADDQ $%d, AX", vectors*m.width())
	m.p("CMPQ AX, R11")
	m.p("JLT %s", label)
	m.label(label + "End")
}

// exponential sets register 0 to exp(score scale + add - largest), for elements of a row: register 10 is largest, 12 scale.
func (m *x86) exponential() {
	x := m.reg(0)
	m.load(atDst, 0, false)
	m.horner(x, m.reg(12), atB)
	m.binary("sub", x, x, m.reg(10))
	probability(m)
}

// softmax writes Attention.Softmax.
func (m *x86) softmax() {
	x, largest, sum, scale := m.reg(0), m.reg(10), m.reg(11), m.reg(12)
	m.attention("softmax")
	m.move(largest, m.constant("-Inf"))
	m.overRow("largest", func() {
		m.load(atDst, 0, false)
		m.horner(x, scale, atB)
		m.store(0, atDst, false)
		m.binary("max", largest, largest, x)
	})
	m.move(x, largest)
	m.foldLanes("peak")
	m.spreadFirst(0)
	m.compare("ne", x, m.constant("-Inf"))
	m.keep(largest, x)
	m.zero(sum)
	m.overRow("power", func() {
		m.load(atDst, 0, false)
		m.binary("sub", x, x, largest)
		probability(m)
		m.store(0, atDst, false)
		m.binary("add", sum, sum, x)
	})
	m.sumToAll(11)
	m.move(x, m.constant("1"))
	m.binary("div", x, x, sum)
	m.compare("ne", sum, m.constant("0"))
	m.keep(sum, x)
	m.overRow("norm", func() {
		m.load(atDst, 0, false)
		m.binary("mul", x, x, sum)
		m.store(0, atDst, false)
	})
	m.storeFirst(10, "(R8)")
	m.storeFirst(11, "(R9)")
	m.endRow()
}

// sumToAll makes every element of a register the sum of its elements.
func (m *x86) sumToAll(i int) {
	m.move(m.reg(0), m.reg(i))
	m.foldLanes("add")
	m.spreadFirst(0)
	m.move(m.reg(i), m.reg(0))
}

// softmaxGradient writes Attention.Gradient.
func (m *x86) softmaxGradient() {
	x, t, inverse, largest, sum, scale := m.reg(0), m.reg(1), m.reg(9), m.reg(10), m.reg(11), m.reg(12)
	m.attention("softmaxGradient")
	m.spread("(R8)", largest)
	m.spread("(R9)", inverse)
	m.zero(sum)
	m.overRow("power", func() {
		m.exponential()
		m.binary("mul", x, x, inverse)
		m.store(0, atDst, false)
		m.fma(sum, x, atA)
	})
	m.sumToAll(11)
	m.overRow("norm", func() {
		m.load(atA, 0, false)
		m.load(atDst, 1, false)
		m.binary("sub", x, x, sum)
		m.binary("mul", x, x, t)
		m.binary("mul", x, x, scale)
		m.store(0, atA, false)
	})
	m.endRow()
}

// blockSoftmax writes Attention.BlockSoftmax. The maximum has a chain for each vector of a group, registers 7 to 10; then register 9 is the
// largest before.
func (m *x86) blockSoftmax() {
	x, before, largest, sum, scale := m.reg(0), m.reg(9), m.reg(10), m.reg(11), m.reg(12)
	m.attention("blockSoftmax")
	for i := 7; i < 10; i++ {
		m.move(m.reg(i), m.constant("-Inf"))
	}
	m.spread("(R8)", largest)
	m.overGroups("largest", blockVectors, func() {
		for i := range blockVectors {
			m.load(fmt.Sprintf("%d%s", i*m.width(), atDst), i, false)
			m.horner(m.reg(i), scale, fmt.Sprintf("%d%s", i*m.width(), atB))
			m.binary("max", m.reg(7+i), m.reg(7+i), m.reg(i))
		}
	})
	m.binary("max", m.reg(7), m.reg(7), m.reg(8))
	m.binary("max", largest, largest, before)
	m.binary("max", x, m.reg(7), largest)
	m.foldLanes("peak")
	m.spreadFirst(0)
	m.spread("(R8)", before)
	m.storeFirst(0, "(R8)")
	m.compare("ne", x, m.constant("-Inf"))
	m.keep(largest, x)
	m.binary("sub", x, before, largest)
	probability(m)
	m.storeFirst(0, "(CX)")
	m.zero(sum)
	m.overRow("power", func() {
		m.exponential()
		m.store(0, atDst, false)
		m.binary("add", sum, sum, x)
	})
	m.sumToAll(11)
	m.spread("(R9)", x)
	m.spread("(CX)", m.reg(1))
	m.fma(sum, x, m.reg(1))
	m.storeFirst(11, "(R9)")
	m.endRow()
}

// blockGradient writes Attention.BlockGradient.
func (m *x86) blockGradient() {
	x, d, dot, inverse, largest, scale := m.reg(0), m.reg(1), m.reg(8), m.reg(9), m.reg(10), m.reg(12)
	m.attention("blockGradient")
	m.spread("(R8)", largest)
	m.spread("(R9)", inverse)
	m.spread("(CX)", dot)
	m.overRow("power", func() {
		m.exponential()
		m.binary("mul", x, x, inverse)
		m.store(0, atDst, false)
		m.load(atA, 1, false)
		m.binary("sub", d, d, dot)
		m.binary("mul", d, d, x)
		m.binary("mul", d, d, scale)
		m.store(1, atA, false)
	})
	m.endRow()
}

// dropout writes Attention.Dropout. Registers: DX, R12 and R13 the keys of columns, less the offset of the row.
func (m *x86) dropout() {
	m.begin("dropout")
	for i, number := range []int{10, 11, 12, 7} {
		m.spread(fmt.Sprintf("%d(R8)", i*m.size), m.reg(number))
	}
	m.p("LEAQ (DX)(R10*%d), DX", m.size)
	m.rows(func() {
		m.p("SUBQ R10, DX")
		m.p("LEAQ (DX)(R10*1), R12")
		m.p("LEAQ (R12)(R10*1), R13")
		m.spreadNext("SI", 8)
		m.spreadNext("SI", 9)
	}, func(part bool) {
		for i, pointer := range []string{"DX", "R12", "R13"} {
			m.load(fmt.Sprintf("(%s)(AX*1)", pointer), i, part)
		}
		dropoutWeight(m)
		m.store(0, atDst, part)
	})
}
