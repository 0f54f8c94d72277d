package main

import "fmt"

// tileArguments is the declaration of a Func.
const tileArguments = "(dst, a, b, c unsafe.Pointer, rows, cols int)"

// whereArguments is the same for where, whose arguments b and c are called a and b.
const whereArguments = "(dst, cond, a, b unsafe.Pointer, rows, cols int)"

// whereNames are its arguments.
var whereNames = []string{"dst", "cond", "a", "b", "rows", "cols"}

// begin starts a Func. Registers: DI dst, SI a, DX b, R8 c, R9 rows, R10 bytes of a row, AX the offset of the current element, and R11 where
// the row ends.
func (m *x86) begin(name string) {
	m.function(name, tileArguments, []string{"dst", "a", "b", "c", "rows", "cols"}, []string{"DI", "SI", "DX", "R8", "R9", "R10"})
}

func (m *x86) function(name, arguments string, names, registers []string) {
	fmt.Fprintf(&m.body, "\n// func %s%s%s\nTEXT ·%s%s(SB), NOSPLIT, $0-%d\n", name, m.name, arguments, name, m.name, 8*len(names))
	for i, argument := range names {
		m.p("MOVQ %s+%d(FP), %s", argument, 8*i, registers[i])
	}
}

func (m *x86) end() {
	m.p("VZEROUPPER")
	m.p("RET")
}

// bytesOf turns a number of elements into bytes.
func (m *x86) bytesOf(register string) {
	m.p("SHLQ $%d, %s", map[int]int{4: 2, 8: 3}[m.size], register)
}

// oneRow makes the tile a single row.
func (m *x86) oneRow() {
	m.p("IMULQ R9, R10")
	m.p("MOVQ $1, R9")
}

// rows writes a loop over rows: first begins one, each computes a vector of it at offset AX, or a part, where only the elements that partMask
// selects may be touched.
func (m *x86) rows(first func(), each func(part bool)) {
	m.bytesOf("R10")
	m.p("XORQ AX, AX")
	m.p("XORQ R11, R11")
	m.p("TESTQ R9, R9")
	m.p("JLE done")
	m.label("row")
	first()
	m.p("ADDQ R10, R11")
	m.vectors("R11", each)
	m.p("DECQ R9")
	m.p("JNE row")
	m.label("done")
	m.end()
}

// vectors writes a loop over the vectors from offset AX to the one in a register.
func (m *x86) vectors(end string, each func(part bool)) {
	m.p("SUBQ $%d, %s", m.width(), end)
	m.p("CMPQ AX, %s", end)
	m.p("JG rest")
	m.label("whole")
	each(false)
	m.p("ADDQ $%d, AX", m.width())
	m.p("CMPQ AX, %s", end)
	m.p("JLE whole")
	m.label("rest")
	m.p("ADDQ $%d, %s", m.width(), end)
	m.p("MOVQ %s, CX", end)
	m.p("SUBQ AX, CX")
	m.p("JLE next")
	m.partMask()
	each(true)
	m.p("MOVQ %s, AX", end)
	m.label("next")
}

const (
	atDst = "(DI)(AX*1)"
	atA   = "(SI)(AX*1)"
	atB   = "(DX)(AX*1)"
	atC   = "(R8)(AX*1)"
)

func (m *x86) unaryKernel(o unaryOp) {
	m.begin(o.name)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load(atA, 0, part)
		o.write(m)
		m.store(0, atDst, part)
	})
}

func (m *x86) binaryKernels(o binaryOp) {
	m.begin(o.name)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load(atA, 0, part)
		m.load(atB, 1, part)
		o.write(m, 2, 0, 1)
		m.store(2, atDst, part)
	})
	m.begin(o.name + "Right")
	m.rows(func() { m.spreadNext("DX", 1) }, func(part bool) {
		m.load(atA, 0, part)
		o.write(m, 2, 0, 1)
		m.store(2, atDst, part)
	})
	m.begin(o.name + "Left")
	m.rows(func() { m.spreadNext("SI", 0) }, func(part bool) {
		m.load(atB, 1, part)
		o.write(m, 2, 0, 1)
		m.store(2, atDst, part)
	})
}

// spreadNext fills a register with the element at a pointer and advances the pointer.
func (m *x86) spreadNext(pointer string, dst int) {
	m.spread("("+pointer+")", m.reg(dst))
	m.p("ADDQ $%d, %s", m.size, pointer)
}

func (m *x86) pairKernel(first, then binaryOp) {
	m.begin(first.name + "Then" + then.op)
	m.oneRow()
	m.rows(func() {}, func(part bool) {
		m.load(atA, 0, part)
		m.load(atB, 1, part)
		first.write(m, 2, 0, 1)
		m.load(atC, 1, part)
		then.write(m, 3, 2, 1)
		m.store(3, atDst, part)
	})
}

func (m *x86) fillKernel() {
	m.begin("fill")
	m.rows(func() { m.spreadNext("SI", 0) }, func(part bool) { m.store(0, atDst, part) })
}

// neutral is the fold of no elements.
func neutral(op string) string {
	return map[string]string{"add": "0", "max": "-Inf", "min": "+Inf"}[op]
}

// rowFold folds rows in four chains, registers 4 to 7.
func (m *x86) rowFold(op string) {
	m.begin(op + "Rows")
	m.bytesOf("R10")
	m.p("XORQ AX, AX")
	m.p("XORQ R11, R11")
	m.p("TESTQ R9, R9")
	m.p("JLE done")
	m.label("row")
	m.p("ADDQ R10, R11")
	m.move(m.reg(4), m.constant(neutral(op)))
	for i := 5; i < 8; i++ {
		m.move(m.reg(i), m.reg(4))
	}
	m.p("SUBQ $%d, R11", 4*m.width())
	m.p("CMPQ AX, R11")
	m.p("JG few")
	m.label("four")
	for i := range 4 {
		m.load(fmt.Sprintf("%d%s", i*m.width(), atA), i, false)
		m.fold(op, m.reg(4+i), m.reg(i))
	}
	m.p("ADDQ $%d, AX", 4*m.width())
	m.p("CMPQ AX, R11")
	m.p("JLE four")
	m.label("few")
	m.p("ADDQ $%d, R11", 4*m.width())
	m.vectors("R11", func(part bool) {
		m.load(atA, 0, part)
		if !part {
			m.fold(op, m.reg(4), m.reg(0))
			return
		}
		if op != "add" {
			m.move(m.reg(1), m.constant(neutral(op)))
			m.choosePart(m.reg(0), m.reg(0), m.reg(1))
		}
		m.fold(op, m.reg(5), m.reg(0))
	})
	m.fold(op, m.reg(4), m.reg(5))
	m.fold(op, m.reg(6), m.reg(7))
	m.fold(op, m.reg(4), m.reg(6))
	m.move(m.reg(0), m.reg(4))
	m.foldLanes(op)
	m.storeFirst(0, "(DI)")
	m.p("ADDQ $%d, DI", m.size)
	m.p("DECQ R9")
	m.p("JNE row")
	m.label("done")
	m.end()
}

// choosePart is choose by the mask of partMask.
func (m *x86) choosePart(dst, a, b string) {
	if m.wide {
		m.p("VBLENDM%s %s, %s, K1, %s", m.suffix(), a, b, dst)
		return
	}
	m.p("VBLENDV%s Y13, %s, %s, %s", m.suffix(), a, b, dst)
}

// columnFold folds rows into dst, four vectors of columns at a time while there are as many. Registers: R12 the current row of a, CX rows left.
func (m *x86) columnFold(op string) {
	m.begin(op + "Columns")
	m.bytesOf("R10")
	m.p("XORQ AX, AX")
	column := func(label string, vectors int, part bool) {
		for i := range vectors {
			m.load(fmt.Sprintf("%d%s", i*m.width(), atDst), 4+i, part)
		}
		m.p("LEAQ %s, R12", atA)
		m.p("MOVQ R9, CX")
		m.p("TESTQ CX, CX")
		m.p("JLE %sEnd", label)
		m.label(label)
		for i := range vectors {
			m.load(fmt.Sprintf("%d(R12)", i*m.width()), i, part)
			m.fold(op, m.reg(4+i), m.reg(i))
		}
		m.p("ADDQ R10, R12")
		m.p("DECQ CX")
		m.p("JNE %s", label)
		m.label(label + "End")
		for i := range vectors {
			m.store(4+i, fmt.Sprintf("%d%s", i*m.width(), atDst), part)
		}
	}
	m.p("MOVQ R10, R11")
	m.p("SUBQ $%d, R11", 4*m.width())
	m.p("CMPQ AX, R11")
	m.p("JG few")
	m.label("four")
	column("fourRows", 4, false)
	m.p("ADDQ $%d, AX", 4*m.width())
	m.p("CMPQ AX, R11")
	m.p("JLE four")
	m.label("few")
	m.p("ADDQ $%d, R11", 4*m.width())
	m.vectors("R11", func(part bool) {
		if part {
			column("partRows", 1, true)
		} else {
			column("oneRows", 1, false)
		}
	})
	m.end()
}

// tiles writes all kernels of tiles and of attention.
func (m *x86) tiles() {
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
		map[string]func(){"where": m.whereKernel, "boolTo": m.boolKernel, "float32To": m.widenKernel, "comparisons": m.comparisons}[kernel]()
	}
	m.softmax()
	m.softmaxGradient()
	m.blockSoftmax()
	m.blockGradient()
	m.dropout()
}
