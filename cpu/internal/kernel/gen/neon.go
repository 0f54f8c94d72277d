package main

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// neon writes instructions of ARM64's Advanced SIMD, on registers of 16 bytes.
//
// Registers: V0 to V12 values, V13 the mask of comparisons, V14 scratch, V16 to V31 constants of the function, and V15 those that have no
// register; R7 the table of constants.
type neon struct {
	name      string // suffix of function names
	size      int    // bytes of an element
	constants constants
	out       bytes.Buffer
	prologue  bytes.Buffer // of the current function
	body      bytes.Buffer
	kept      []string // constants with a register
}

const (
	neonWidth    = 16
	keptFirst    = 16 // register of the first constant
	keptMost     = 16
	neonMask     = "V13"
	neonScratch  = "V14"
	neonConstant = "V15"
)

func (m *neon) single() bool { return m.size == 4 }

func (m *neon) lanes() int { return neonWidth / m.size }

// arrangement is how instructions call a vector of elements.
func (m *neon) arrangement() string {
	if m.single() {
		return ".S4"
	}
	return ".D2"
}

func (m *neon) p(format string, args ...any) { fmt.Fprintf(&m.body, "\t"+format+"\n", args...) }

func (m *neon) label(name string) { fmt.Fprintf(&m.body, "%s:\n", name) }

func (m *neon) reg(i int) string { return fmt.Sprintf("V%d", i) }

func (m *neon) table() string { return "constants" + m.name }

// constant returns the register of a constant, which the function loads at its beginning, or here if there are too many.
func (m *neon) constant(c string) string {
	if i := slices.Index(m.kept, c); i >= 0 {
		return m.reg(keptFirst + i)
	}
	offset := neonWidth * m.constants.index(c)
	if len(m.kept) == keptMost {
		m.p("FMOVQ %d(R7), F15", offset)
		return neonConstant
	}
	if len(m.kept) == 0 {
		fmt.Fprintf(&m.prologue, "\tMOVD $%s<>(SB), R7\n", m.table())
	}
	fmt.Fprintf(&m.prologue, "\tFMOVQ %d(R7), F%d\n", offset, keptFirst+len(m.kept))
	m.kept = append(m.kept, c)
	return m.reg(keptFirst + len(m.kept) - 1)
}

// number of a register.
func number(register string) uint32 {
	n, err := strconv.Atoi(register[1:])
	if err != nil {
		panic(err)
	}
	return uint32(n)
}

// Codes of instructions that Go's assembler lacks, on vectors of float32; bit 22 makes them float64.
var neonCodes = map[string]uint32{
	"add": 0x4E20D400, "sub": 0x4EA0D400, "mul": 0x6E20DC00, "div": 0x6E20FC00, "max": 0x4E20F400, "min": 0x4EA0F400,
	"eq": 0x4E20E400, "ge": 0x6E20E400, "gt": 0x6EA0E400,
	"sqrt": 0x6EA1F800, "round": 0x4E218800, "floor": 0x4E219800, "ceil": 0x4EA18800, "convert": 0x6E21D800, "not": 0x6E205800,
}

// neonNames are the names of those instructions, for the comments.
var neonNames = map[string]string{
	"add": "FADD", "sub": "FSUB", "mul": "FMUL", "div": "FDIV", "max": "FMAX", "min": "FMIN", "eq": "FCMEQ", "ge": "FCMGE", "gt": "FCMGT",
	"sqrt": "FSQRT", "round": "FRINTN", "floor": "FRINTM", "ceil": "FRINTP", "convert": "UCVTF", "not": "MVN",
}

// code writes an instruction on dst and one or two sources, in the order of the manual.
func (m *neon) code(op, dst string, sources ...string) {
	word := neonCodes[op] | number(dst) | number(sources[0])<<5
	if len(sources) == 2 {
		word |= number(sources[1]) << 16
	}
	if !m.single() && op != "not" {
		word |= 1 << 22
	}
	m.p("WORD $0x%08X // %s %s, %s", word, neonNames[op], dst, strings.Join(sources, ", "))
}

func (m *neon) move(dst, a string) {
	if dst != a {
		m.p("VORR %s.B16, %s.B16, %s.B16", a, a, dst)
	}
}

func (m *neon) zero(dst string) { m.p("VEOR %s.B16, %s.B16, %s.B16", dst, dst, dst) }

func (m *neon) binary(op, dst, a, b string) {
	switch op {
	case "and", "or", "xor":
		m.p("%s %s.B16, %s.B16, %s.B16", map[string]string{"and": "VAND", "or": "VORR", "xor": "VEOR"}[op], b, a, dst)
	default:
		m.code(op, dst, a, b)
	}
}

func (m *neon) fma(sum, a, b string) {
	v := m.arrangement()
	m.p("VFMLA %s%s, %s%s, %s%s", b, v, a, v, sum, v)
}

func (m *neon) horner(p, x, c string) {
	m.move(neonScratch, c)
	m.fma(neonScratch, p, x)
	m.move(p, neonScratch)
}

// polynomial takes turns with the scratch register, because FMLA overwrites the coefficient.
func (m *neon) polynomial(p, x string, coefficients ...string) {
	in, out := p, neonScratch
	if len(coefficients)%2 == 0 {
		in, out = out, in
	}
	m.move(in, m.constant(coefficients[0]))
	for _, c := range coefficients[1:] {
		m.move(out, m.constant(c))
		m.fma(out, in, x)
		in, out = out, in
	}
}

func (m *neon) unary(op, dst, a string) { m.code(op, dst, a) }

func (m *neon) compare(op, a, b string) {
	switch op {
	case "lt":
		m.code("gt", neonMask, b, a)
	case "ne":
		m.code("eq", neonMask, a, b)
		m.code("not", neonMask, neonMask)
	default:
		m.code(op, neonMask, a, b)
	}
}

func (m *neon) choose(dst, a, b string) {
	if dst == a {
		m.p("VBIF %s.B16, %s.B16, %s.B16", neonMask, b, dst)
		return
	}
	m.move(dst, b)
	m.p("VBIT %s.B16, %s.B16, %s.B16", neonMask, a, dst)
}

func (m *neon) keep(dst, a string) { m.binary("and", dst, a, neonMask) }

// power multiplies twice, so that it reaches subnormal results.
func (m *neon) power(dst, p, n, t string) {
	m.binary("mul", t, n, m.constant("0.5"))
	m.unary("round", t, t)
	m.binary("sub", n, n, t)
	m.normalPower(dst, p, t)
	m.normalPower(dst, dst, n)
}

// normalPower sets dst to p 2^n, if 2^n is normal. It overwrites n.
func (m *neon) normalPower(dst, p, n string) {
	bits := 23
	if !m.single() {
		bits = 52
	}
	m.binary("add", n, n, m.constant("magic"))
	m.p("VSHL $%d, %s%s, %s%s", bits, n, m.arrangement(), n, m.arrangement())
	m.binary("mul", dst, p, n)
}

func (m *neon) keptPower(dst, p, n string) {
	m.normalPower(dst, p, n)
	m.keep(dst, dst)
}

// larger needs one instruction, because FMAX and FMIN return NaN if an operand is NaN.
func (m *neon) larger(op, dst, a, b string) { m.binary(op, dst, a, b) }

// foldLanes makes every element of register 0 the fold of its elements, with register 1.
func (m *neon) foldLanes(op string) {
	m.p("VEXT $8, V0.B16, V0.B16, V1.B16")
	m.binary(op, "V0", "V0", "V1")
	if m.single() {
		m.p("VREV64 V0.S4, V1.S4")
		m.binary(op, "V0", "V0", "V1")
	}
}

// spread fills a register with the element at a pointer.
func (m *neon) spread(pointer, dst string) { m.p("VLD1R (%s), [%s%s]", pointer, dst, m.arrangement()) }

// element is the move of one element.
func (m *neon) element() string {
	if m.single() {
		return "FMOVS"
	}
	return "FMOVD"
}

// load and store move the vector at offset of a pointer, or, if part, the element there, with zeros behind it.
func (m *neon) load(pointer string, offset, dst int, part bool) {
	move := "FMOVQ"
	if part {
		move = m.element()
	}
	m.p("%s %d(%s), F%d", move, offset, pointer, dst)
}

func (m *neon) store(src int, pointer string, offset int, part bool) {
	move := "FMOVQ"
	if part {
		move = m.element()
	}
	m.p("%s F%d, %d(%s)", move, src, offset, pointer)
}

// begin starts a function with arguments of 8 bytes each.
func (m *neon) begin(name, arguments string, names, registers []string) {
	fmt.Fprintf(&m.out, "\n// func %s%s%s\nTEXT ·%s%s(SB), NOSPLIT, $0-%d\n", name, m.name, arguments, name, m.name, 8*len(names))
	for i, argument := range names {
		fmt.Fprintf(&m.prologue, "\tMOVD %s+%d(FP), %s\n", argument, 8*i, registers[i])
	}
}

// end writes the function.
func (m *neon) end() {
	m.p("RET")
	m.out.Write(m.prologue.Bytes())
	m.out.Write(m.body.Bytes())
	m.prologue.Reset()
	m.body.Reset()
	m.kept = nil
}
