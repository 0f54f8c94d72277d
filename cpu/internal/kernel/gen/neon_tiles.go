package main

// tile starts a Func. Registers: R0 dst, R1 a, R2 b, R3 c, R4 rows, R5 elements of a row, R6 those that are left.
func (m *neon) tile(name string) {
	m.begin(name, tileArguments, []string{"dst", "a", "b", "c", "rows", "cols"}, []string{"R0", "R1", "R2", "R3", "R4", "R5"})
}

// oneRow makes the tile a single row.
func (m *neon) oneRow() {
	m.p("MUL R4, R5, R5")
	m.p("MOVD $1, R4")
}

// rows writes a loop over rows: first begins one, each computes a vector, or, if part, an element, where the pointers are, which move on.
func (m *neon) rows(first func(), each func(part bool), pointers ...string) {
	m.p("CMP $0, R4")
	m.p("BLE done")
	m.label("row")
	first()
	m.p("MOVD R5, R6")
	m.vectors("", each, pointers...)
	m.p("SUBS $1, R4, R4")
	m.p("BNE row")
	m.label("done")
	m.end()
}

// vectors writes a loop over R6 elements. Its labels begin with a prefix.
func (m *neon) vectors(prefix string, each func(part bool), pointers ...string) {
	step := func(bytes int) {
		for _, pointer := range pointers {
			m.p("ADD $%d, %s", bytes, pointer)
		}
	}
	m.p("SUBS $%d, R6, R6", m.lanes())
	m.p("BLT %srest", prefix)
	m.label(prefix + "whole")
	each(false)
	step(neonWidth)
	m.p("SUBS $%d, R6, R6", m.lanes())
	m.p("BGE %swhole", prefix)
	m.label(prefix + "rest")
	m.p("ADDS $%d, R6, R6", m.lanes())
	m.p("BEQ %snext", prefix)
	m.label(prefix + "single")
	each(true)
	step(m.size)
	m.p("SUBS $1, R6, R6")
	m.p("BNE %ssingle", prefix)
	m.label(prefix + "next")
}

func (m *neon) unaryKernel(o unaryOp) {
	m.tile(o.name)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load("R1", 0, 0, part)
		o.write(m)
		m.store(0, "R0", 0, part)
	}, "R0", "R1")
}

func (m *neon) binaryKernels(o binaryOp) {
	m.tile(o.name)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load("R1", 0, 0, part)
		m.load("R2", 0, 1, part)
		o.write(m, 2, 0, 1)
		m.store(2, "R0", 0, part)
	}, "R0", "R1", "R2")
	for _, form := range []struct {
		name, rowPointer, pointer string
		row, full                 int
	}{{"Right", "R2", "R1", 1, 0}, {"Left", "R1", "R2", 0, 1}} {
		m.tile(o.name + form.name)
		m.rows(func() { m.spreadNext(form.rowPointer, form.row) }, func(part bool) {
			m.load(form.pointer, 0, form.full, part)
			o.write(m, 2, 0, 1)
			m.store(2, "R0", 0, part)
		}, "R0", form.pointer)
	}
}

// spreadNext fills a register with the element at a pointer and advances the pointer.
func (m *neon) spreadNext(pointer string, dst int) {
	m.spread(pointer, m.reg(dst))
	m.p("ADD $%d, %s", m.size, pointer)
}

func (m *neon) pairKernel(first, then binaryOp) {
	m.tile(first.name + "Then" + then.op)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load("R1", 0, 0, part)
		m.load("R2", 0, 1, part)
		first.write(m, 2, 0, 1)
		m.load("R3", 0, 1, part)
		then.write(m, 3, 2, 1)
		m.store(3, "R0", 0, part)
	}, "R0", "R1", "R2", "R3")
}

func (m *neon) fillKernel() {
	m.tile("fill")
	m.rows(func() { m.spreadNext("R1", 0) }, func(part bool) { m.store(0, "R0", 0, part) }, "R0")
}

// bitsKernel converts random bits, uint32, for dropout.
func (m *neon) bitsKernel() {
	m.tile("uint32To")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load("R1", 0, 0, part)
		m.code("convert", "V0", "V0")
		m.store(0, "R0", 0, part)
	}, "R0", "R1")
}

// booleans loads those at a pointer, one byte each, into register 3, as elements of 0 and 1, and advances the pointer. It changes R9.
func (m *neon) booleans(pointer string, part bool) {
	if part {
		m.p("MOVBU.P 1(%s), R9", pointer)
		m.p("FMOVD R9, F3")
		return
	}
	m.p("%s.P %d(%s), R9", map[int]string{4: "MOVWU", 2: "MOVHU"}[m.lanes()], m.lanes(), pointer)
	m.p("FMOVD R9, F3")
	m.p("VUSHLL $0, V3.B8, V3.H8")
	m.p("VUSHLL $0, V3.H4, V3.S4")
	if !m.single() {
		m.p("VUSHLL $0, V3.S2, V3.D2")
	}
}

// whereKernel chooses elements of R2 and R3 by the booleans of R1.
func (m *neon) whereKernel() {
	m.begin("where", whereArguments, whereNames, []string{"R0", "R1", "R2", "R3", "R4", "R5"})
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.booleans("R1", part)
		v := m.arrangement()
		m.p("VCMTST V3%s, V3%s, %s%s", v, v, neonMask, v)
		m.load("R2", 0, 0, part)
		m.load("R3", 0, 1, part)
		m.choose(m.reg(0), m.reg(0), m.reg(1))
		m.store(0, "R0", 0, part)
	}, "R0", "R2", "R3")
}

// boolKernel converts booleans to 0 and 1.
func (m *neon) boolKernel() {
	m.tile("boolTo")
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.booleans("R1", part)
		m.code("convert", "V0", "V3")
		m.store(0, "R0", 0, part)
	}, "R0")
}

// rowFold folds rows in four chains, registers 4 to 7.
func (m *neon) rowFold(op string) {
	neutral := func() string { return m.constant(neutral(op)) }
	m.tile(op + "Rows")
	m.p("CMP $0, R4")
	m.p("BLE done")
	m.label("row")
	for i := 4; i < 8; i++ {
		m.move(m.reg(i), neutral())
	}
	m.p("SUBS $%d, R5, R6", 4*m.lanes())
	m.p("BLT few")
	m.label("four")
	for i := range 4 {
		m.load("R1", i*neonWidth, i, false)
		m.binary(op, m.reg(4+i), m.reg(4+i), m.reg(i))
	}
	m.p("ADD $%d, R1", 4*neonWidth)
	m.p("SUBS $%d, R6, R6", 4*m.lanes())
	m.p("BGE four")
	m.label("few")
	m.p("ADD $%d, R6", 4*m.lanes())
	m.vectors("", func(part bool) {
		m.load("R1", 0, 0, part)
		if part {
			lane := m.arrangement()[:2] + "[0]"
			m.move("V1", neutral())
			m.p("VMOV V0%s, V1%s", lane, lane)
			m.binary(op, m.reg(5), m.reg(5), m.reg(1))
			return
		}
		m.binary(op, m.reg(4), m.reg(4), m.reg(0))
	}, "R1")
	m.binary(op, "V4", "V4", "V5")
	m.binary(op, "V6", "V6", "V7")
	m.binary(op, "V0", "V4", "V6")
	m.foldLanes(op)
	m.store(0, "R0", 0, true)
	m.p("ADD $%d, R0", m.size)
	m.p("SUBS $1, R4, R4")
	m.p("BNE row")
	m.label("done")
	m.end()
}

// columnFold folds rows into dst, four vectors of columns at a time while there are as many. Registers: R8 bytes of a row, R9 the current row of
// a, R10 rows left.
func (m *neon) columnFold(op string) {
	m.tile(op + "Columns")
	m.p("LSL $%d, R5, R8", map[int]int{4: 2, 8: 3}[m.size])
	column := func(label string, vectors int, part bool) {
		for i := range vectors {
			m.load("R0", i*neonWidth, 4+i, part)
		}
		m.p("MOVD R1, R9")
		m.p("CMP $0, R4")
		m.p("BLE %sEnd", label)
		m.p("MOVD R4, R10")
		m.label(label)
		for i := range vectors {
			m.load("R9", i*neonWidth, i, part)
			m.binary(op, m.reg(4+i), m.reg(4+i), m.reg(i))
		}
		m.p("ADD R8, R9")
		m.p("SUBS $1, R10, R10")
		m.p("BNE %s", label)
		m.label(label + "End")
		for i := range vectors {
			m.store(4+i, "R0", i*neonWidth, part)
		}
	}
	m.p("SUBS $%d, R5, R6", 4*m.lanes())
	m.p("BLT few")
	m.label("four")
	column("fourRows", 4, false)
	m.p("ADD $%d, R0", 4*neonWidth)
	m.p("ADD $%d, R1", 4*neonWidth)
	m.p("SUBS $%d, R6, R6", 4*m.lanes())
	m.p("BGE four")
	m.label("few")
	m.p("ADD $%d, R6", 4*m.lanes())
	m.vectors("", func(part bool) {
		if part {
			column("partRows", 1, true)
		} else {
			column("oneRows", 1, false)
		}
	}, "R0", "R1")
	m.end()
}

// optional names the kernels that not all instruction sets have.
func (m *neon) optional() []string {
	if m.single() {
		return []string{"where", "boolTo"}
	}
	return []string{"where"}
}

// tiles writes all kernels of tiles and of attention.
func (m *neon) tiles() {
	for _, o := range binaries {
		m.binaryKernels(o)
	}
	for _, first := range paired {
		for _, then := range paired {
			m.pairKernel(first, then)
		}
	}
	for _, o := range unaries {
		m.unaryKernel(o)
	}
	for _, op := range []string{"add", "max", "min"} {
		m.rowFold(op)
		m.columnFold(op)
	}
	m.fillKernel()
	if m.single() {
		m.bitsKernel()
	}
	for _, kernel := range m.optional() {
		map[string]func(){"where": m.whereKernel, "boolTo": m.boolKernel}[kernel]()
	}
	m.softmax()
	m.softmaxGradient()
	m.blockSoftmax()
	m.blockGradient()
	m.dropout()
}
