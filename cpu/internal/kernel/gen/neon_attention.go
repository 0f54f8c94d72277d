package main

// attention starts a kernel on rows of scores. Registers: R0 scores, R1 dScores, R2 add, R3 largest, R4 inverse, R5 rows, R6 elements that
// count of a row, R8 bytes of a row, R9 bytes of a row of add, R10 to R12 where the loop over a row is in scores, dScores and add, R13 the
// elements that are left of it, R15 perRow; V12 scale.
func (m *neon) attention(name string) {
	m.begin(name, "(c *AttentionCall)", []string{"c"}, []string{"R14"})
	for i, register := range []string{"R0", "R1", "R2", "R3", "R4", "R5", "R6", "R8", "R9"} {
		m.p("MOVD %d(R14), %s", 8*i, register)
	}
	m.p("FMOVD 72(R14), F12")
	m.p("MOVD 80(R14), R15")
	if m.single() {
		m.p("FCVTDS F12, F12")
	}
	m.spreadFirst(12)
	m.p("CMP $0, R5")
	m.p("BLE done")
	m.label("row")
}

// spreadFirst fills a register with its element 0.
func (m *neon) spreadFirst(i int) {
	m.p("VDUP V%d%s[0], V%d%s", i, m.arrangement()[:2], i, m.arrangement())
}

func (m *neon) endRow() {
	m.p("ADD R8, R0")
	m.p("ADD R8, R1")
	m.p("ADD R9, R2")
	m.p("ADD $%d, R3", m.size)
	m.p("ADD $%d, R4", m.size)
	m.p("ADD $%d, R15", m.size)
	m.p("SUBS $1, R5, R5")
	m.p("BNE row")
	m.label("done")
	m.end()
}

// overRow writes a loop over the vectors of a row.
func (m *neon) overRow(label string, each func()) { m.overGroups(label, 1, each) }

// overGroups writes a loop over groups of vectors of a row.
func (m *neon) overGroups(label string, vectors int, each func()) {
	for i, from := range []string{"R0", "R1", "R2"} {
		m.p("MOVD %s, R%d", from, 10+i)
	}
	m.p("MOVD R6, R13")
	m.p("CBZ R13, %sEnd", label)
	m.label(label)
	each()
	for i := range 3 {
		m.p("ADD $%d, R%d", vectors*neonWidth, 10+i)
	}
	m.p("SUBS $%d, R13, R13", vectors*m.lanes())
	m.p("BGT %s", label)
	m.label(label + "End")
}

// exponential sets V0 to exp(score scale + add - largest), for elements of a row: V10 is largest, V12 scale. It changes V1.
func (m *neon) exponential() {
	m.load("R10", 0, 1, false)
	m.load("R12", 0, 0, false)
	m.fma("V0", "V1", "V12")
	m.binary("sub", "V0", "V0", "V10")
	probability(m)
}

// softmax writes Attention.Softmax.
func (m *neon) softmax() {
	const x, largest, sum, scale = "V0", "V10", "V11", "V12"
	m.attention("softmax")
	m.move(largest, m.constant("-Inf"))
	m.overRow("largest", func() {
		m.load("R10", 0, 0, false)
		m.load("R12", 0, 1, false)
		m.fma("V1", x, scale)
		m.store(1, "R10", 0, false)
		m.binary("max", largest, largest, "V1")
	})
	m.move(x, largest)
	m.foldLanes("max")
	m.compare("ne", x, m.constant("-Inf"))
	m.keep(largest, x)
	m.zero(sum)
	m.overRow("power", func() {
		m.load("R10", 0, 0, false)
		m.binary("sub", x, x, largest)
		probability(m)
		m.store(0, "R10", 0, false)
		m.binary("add", sum, sum, x)
	})
	m.sumToAll(11)
	m.move(x, m.constant("1"))
	m.binary("div", x, x, sum)
	m.compare("ne", sum, m.constant("0"))
	m.keep(sum, x)
	m.overRow("norm", func() {
		m.load("R10", 0, 0, false)
		m.binary("mul", x, x, sum)
		m.store(0, "R10", 0, false)
	})
	m.store(10, "R3", 0, true)
	m.store(11, "R4", 0, true)
	m.endRow()
}

// sumToAll makes every element of a register the sum of its elements.
func (m *neon) sumToAll(i int) {
	m.move("V0", m.reg(i))
	m.foldLanes("add")
	m.move(m.reg(i), "V0")
}

// softmaxGradient writes Attention.Gradient.
func (m *neon) softmaxGradient() {
	const x, t, inverse, largest, sum, scale = "V0", "V1", "V9", "V10", "V11", "V12"
	m.attention("softmaxGradient")
	m.spread("R3", largest)
	m.spread("R4", inverse)
	m.zero(sum)
	m.overRow("power", func() {
		m.exponential()
		m.binary("mul", x, x, inverse)
		m.store(0, "R10", 0, false)
		m.load("R11", 0, 1, false)
		m.fma(sum, x, t)
	})
	m.sumToAll(11)
	m.overRow("norm", func() {
		m.load("R11", 0, 0, false)
		m.load("R10", 0, 1, false)
		m.binary("sub", x, x, sum)
		m.binary("mul", x, x, t)
		m.binary("mul", x, x, scale)
		m.store(0, "R11", 0, false)
	})
	m.endRow()
}

// blockSoftmax writes Attention.BlockSoftmax. The maximum has a chain for each vector of a group, V7 to V10; then V9 is the largest before.
func (m *neon) blockSoftmax() {
	const x, before, largest, sum, scale = "V0", "V9", "V10", "V11", "V12"
	m.attention("blockSoftmax")
	for i := 7; i < 10; i++ {
		m.move(m.reg(i), m.constant("-Inf"))
	}
	m.spread("R3", largest)
	m.overGroups("largest", blockVectors, func() {
		for i := range blockVectors {
			m.load("R10", i*neonWidth, 0, false)
			m.load("R12", i*neonWidth, 1, false)
			m.fma("V1", x, scale)
			m.binary("max", m.reg(7+i), m.reg(7+i), "V1")
		}
	})
	m.binary("max", "V7", "V7", "V8")
	m.binary("max", largest, largest, before)
	m.binary("max", x, "V7", largest)
	m.foldLanes("max")
	m.spread("R3", before)
	m.store(0, "R3", 0, true)
	m.compare("ne", x, m.constant("-Inf"))
	m.keep(largest, x)
	m.binary("sub", x, before, largest)
	probability(m)
	m.store(0, "R15", 0, true)
	m.zero(sum)
	m.overRow("power", func() {
		m.exponential()
		m.store(0, "R10", 0, false)
		m.binary("add", sum, sum, x)
	})
	m.sumToAll(11)
	m.spread("R4", x)
	m.spread("R15", "V1")
	m.fma(sum, x, "V1")
	m.store(11, "R4", 0, true)
	m.endRow()
}

// blockGradient writes Attention.BlockGradient.
func (m *neon) blockGradient() {
	const x, d, dot, inverse, largest, scale = "V0", "V1", "V8", "V9", "V10", "V12"
	m.attention("blockGradient")
	m.spread("R3", largest)
	m.spread("R4", inverse)
	m.spread("R15", dot)
	m.overRow("power", func() {
		m.exponential()
		m.binary("mul", x, x, inverse)
		m.store(0, "R10", 0, false)
		m.load("R11", 0, 1, false)
		m.binary("sub", d, d, dot)
		m.binary("mul", d, d, x)
		m.binary("mul", d, d, scale)
		m.store(1, "R11", 0, false)
	})
	m.endRow()
}

// dropout writes Attention.Dropout. Registers: R8 the bytes of a row, R9 to R11 the keys of columns.
func (m *neon) dropout() {
	m.tile("dropout")
	for _, number := range []int{10, 11, 12, 7} {
		m.spreadNext("R3", number)
	}
	m.p("LSL $%d, R5, R8", map[int]int{4: 2, 8: 3}[m.size])
	m.rows(func() {
		m.p("MOVD R2, R9")
		m.p("ADD R8, R9, R10")
		m.p("ADD R8, R10, R11")
		m.spreadNext("R1", 8)
		m.spreadNext("R1", 9)
	}, func(part bool) {
		for i, pointer := range []string{"R9", "R10", "R11"} {
			m.load(pointer, 0, i, part)
		}
		dropoutWeight(m)
		m.store(0, "R0", 0, part)
	}, "R0", "R9", "R10", "R11")
}
