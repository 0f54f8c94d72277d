package main

import "fmt"

// Kernels with booleans, one byte each, which only AVX-512 has masks for; and conversions.

// booleans loads the mask of booleans at a pointer and advances the pointer.
func (m *x86) booleans(pointer string, part bool) {
	extend, test := "VPMOVSXBD", "VPTESTMD"
	if !m.single() {
		extend, test = "VPMOVSXBQ", "VPTESTMQ"
	}
	if part {
		m.p("VMOVDQU8.Z (%s), K1, X3", pointer)
		m.p("%s X3, Z3", extend)
	} else {
		m.p("%s (%s), Z3", extend, pointer)
	}
	m.p("%s Z3, Z3, K2", test)
	m.p("ADDQ $%d, %s", m.lanes(), pointer)
}

// whereKernel chooses elements of b and c, which its caller calls a and b.
func (m *x86) whereKernel() {
	m.function("where", "(dst, cond, a, b unsafe.Pointer, rows, cols int)", []string{"dst", "cond", "a", "b", "rows", "cols"}, []string{"DI", "SI", "DX", "R8", "R9", "R10"})
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.booleans("SI", part)
		m.load(atB, 0, part)
		m.load(atC, 1, part)
		m.choose(m.reg(2), m.reg(0), m.reg(1))
		m.store(2, atDst, part)
	})
}

// comparison is an operation whose results are booleans.
type comparison struct{ name, op, predicate string }

var comparisons = []comparison{
	{"equal", "Equal", "eq"}, {"notEqual", "NotEqual", "ne"}, {"less", "LessThan", "lt"}, {"lessEqual", "LessOrEqual", "le"},
	{"greater", "GreaterThan", "gt"}, {"greaterEqual", "GreaterOrEqual", "ge"},
}

// comparisons compares float32 and int32.
func (m *x86) comparisons() {
	integers := map[string]int{"eq": 0, "lt": 1, "le": 2, "ne": 4, "ge": 5, "gt": 6}
	for _, o := range comparisons {
		for _, kind := range []string{"", "Integers"} {
			m.begin(o.name + kind)
			m.oneRow()
			m.p("MOVQ $0x0101010101010101, BX")
			m.p("MOVQ BX, X4")
			m.p("VPBROADCASTQ X4, X4")
			m.rows(func() {}, func(part bool) {
				m.load(atA, 0, part)
				m.load(atB, 1, part)
				if kind == "" {
					m.compare(o.predicate, m.reg(0), m.reg(1))
				} else {
					m.p("VPCMPD $%d, Z1, Z0, K2", integers[o.predicate])
				}
				m.p("VMOVDQU8.Z X4, K2, X2")
				if part {
					m.p("VMOVDQU8 X2, K1, (DI)")
				} else {
					m.p("VMOVDQU8 X2, (DI)")
				}
				m.p("ADDQ $%d, DI", m.lanes())
			})
		}
	}
}

// boolKernel converts booleans to 0 and 1.
func (m *x86) boolKernel() {
	m.begin("boolTo")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		if part {
			m.p("VMOVDQU8.Z (SI), K1, X0")
			m.p("VPMOVSXBD X0, Z0")
		} else {
			m.p("VPMOVSXBD (SI), Z0")
		}
		m.p("VCVTDQ2PS Z0, Z0")
		m.p("ADDQ $%d, SI", m.lanes())
		m.store(0, atDst, part)
	})
}

// bitsKernel converts random bits, uint32, for dropout. AVX2 converts signed numbers: both halves are exact, and their sum is
// rounded once.
func (m *x86) bitsKernel() {
	m.begin("uint32To")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load(atA, 0, part)
		if m.wide {
			m.p("VCVTUDQ2PS Z0, Z0")
		} else {
			m.p("VPSRLD $16, Y0, Y1")
			m.p("VCVTDQ2PS Y1, Y1")
			m.p("VPAND %s, Y0, Y0", m.constant("low16"))
			m.p("VCVTDQ2PS Y0, Y0")
			m.fma(m.reg(0), m.reg(1), m.constant("65536"))
		}
		m.store(0, atDst, part)
	})
}

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
		m.load(atDst, 0, false)
		m.horner(x, scale, atB)
		m.binary("sub", x, x, largest)
		probability(m)
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
		m.load(atDst, 0, false)
		m.horner(x, scale, atB)
		m.binary("sub", x, x, largest)
		probability(m)
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
		m.load(atDst, 0, false)
		m.horner(x, scale, atB)
		m.binary("sub", x, x, largest)
		probability(m)
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
