package main

import (
	"bytes"
	"fmt"
	"strings"
)

// x86 writes instructions of AVX2, or of AVX-512 with registers of 64 bytes.
//
// Registers of values: 0 to 12. With AVX2, 13 holds the mask of a part of a vector, 14 the mask of comparisons, and 15 is a
// scratch register; with AVX-512 the masks are K1 and K2.
type x86 struct {
	name      string // suffix of function names
	wide      bool   // AVX-512
	size      int    // bytes of an element
	body      bytes.Buffer
	constants constants
}

func (m *x86) single() bool { return m.size == 4 }

// width is the bytes of a register.
func (m *x86) width() int {
	if m.wide {
		return 64
	}
	return 32
}

func (m *x86) lanes() int { return m.width() / m.size }

// suffix is the ending of instructions.
func (m *x86) suffix() string {
	if m.single() {
		return "PS"
	}
	return "PD"
}

func (m *x86) p(format string, args ...any) { fmt.Fprintf(&m.body, "\t"+format+"\n", args...) }

func (m *x86) label(name string) { fmt.Fprintf(&m.body, "%s:\n", name) }

func (m *x86) reg(i int) string {
	if m.wide {
		return fmt.Sprintf("Z%d", i)
	}
	return fmt.Sprintf("Y%d", i)
}

func (m *x86) table() string { return "constants" + m.name }

func (m *x86) constant(c string) string {
	return fmt.Sprintf("%s<>+%d(SB)", m.table(), m.constants.index(c)*32)
}

// op writes an instruction whose first operand may be a constant.
func (m *x86) op(instruction string, operands ...string) {
	if m.wide && strings.HasSuffix(operands[0], "(SB)") {
		instruction += ".BCST"
	} else if m.wide && len(operands) > 1 && strings.HasPrefix(operands[0], "$") && strings.HasSuffix(operands[1], "(SB)") {
		instruction += ".BCST"
	}
	m.p("%s %s", instruction, strings.Join(operands, ", "))
}

func (m *x86) move(dst, a string) {
	switch {
	case !strings.HasSuffix(a, "(SB)"):
		m.p("VMOVAPS %s, %s", a, dst)
	case m.single():
		m.p("VBROADCASTSS %s, %s", a, dst)
	default:
		m.p("VBROADCASTSD %s, %s", a, dst)
	}
}

func (m *x86) zero(dst string) { m.p("VXORPS %s, %s, %s", dst, dst, dst) }

func (m *x86) binary(op, dst, a, b string) { m.op("V"+strings.ToUpper(op)+m.suffix(), b, a, dst) }

func (m *x86) fma(sum, a, b string) { m.op("VFMADD231"+m.suffix(), b, a, sum) }

func (m *x86) horner(p, x, c string) { m.op("VFMADD213"+m.suffix(), c, x, p) }

func (m *x86) polynomial(p, x string, coefficients ...string) {
	m.move(p, m.constant(coefficients[0]))
	for _, c := range coefficients[1:] {
		m.horner(p, x, m.constant(c))
	}
}

func (m *x86) unary(op, dst, a string) {
	if op == "sqrt" {
		m.p("VSQRT%s %s, %s", m.suffix(), a, dst)
		return
	}
	instruction := "VROUND"
	if m.wide {
		instruction = "VRNDSCALE"
	}
	m.p("%s%s $%d, %s, %s", instruction, m.suffix(), map[string]int{"round": 0, "floor": 1, "ceil": 2}[op], a, dst)
}

// predicates of VCMP: those of comparisons that are false where an operand is not a number, except ne.
var predicates = map[string]int{"eq": 0, "lt": 1, "le": 2, "ne": 4, "ge": 13, "gt": 14}

func (m *x86) compare(op, a, b string) {
	mask := "Y14"
	if m.wide {
		mask = "K2"
	}
	m.op("VCMP"+m.suffix(), fmt.Sprintf("$%d", predicates[op]), b, a, mask)
}

func (m *x86) choose(dst, a, b string) {
	if m.wide {
		m.p("VBLENDM%s %s, %s, K2, %s", m.suffix(), a, b, dst)
		return
	}
	m.p("VBLENDV%s Y14, %s, %s, %s", m.suffix(), a, b, dst)
}

func (m *x86) keep(dst, a string) {
	if m.wide {
		m.p("VMOVA%s.Z %s, K2, %s", m.suffix(), a, dst)
		return
	}
	m.p("VAND%s Y14, %s, %s", m.suffix(), a, dst)
}

// power is one instruction with AVX-512. With AVX2 it multiplies twice, so that it reaches subnormal results.
func (m *x86) power(dst, p, n, t string) {
	if m.wide {
		m.p("VSCALEF%s %s, %s, %s", m.suffix(), n, p, dst)
		return
	}
	m.binary("mul", t, n, m.constant("0.5"))
	m.unary("round", t, t)
	m.binary("sub", n, n, t)
	m.normalPower(dst, p, t)
	m.normalPower(dst, dst, n)
}

// normalPower sets dst to p 2^n, if 2^n is normal. It overwrites n.
func (m *x86) normalPower(dst, p, n string) {
	shift, bits := "VPSLLD", 23
	if !m.single() {
		shift, bits = "VPSLLQ", 52
	}
	m.binary("add", n, n, m.constant("magic"))
	m.p("%s $%d, %s, %s", shift, bits, n, n)
	m.binary("mul", dst, p, n)
}

func (m *x86) keptPower(dst, p, n string) {
	if m.wide {
		m.p("VSCALEF%s.Z %s, %s, K2, %s", m.suffix(), n, p, dst)
		return
	}
	m.normalPower(dst, p, n)
	m.keep(dst, dst)
}

// larger handles NaN, because VMAX and VMIN return the second operand if one operand is NaN.
func (m *x86) larger(op, dst, a, b string) {
	m.binary(op, dst, a, b)
	m.compare("ne", a, a)
	m.choose(dst, a, dst)
}

// fold makes a the sum, or the larger or smaller, of a and b.
func (m *x86) fold(op, a, b string) {
	if op == "add" {
		m.binary(op, a, a, b)
		return
	}
	m.larger(op, m.reg(12), a, b)
	m.move(a, m.reg(12))
}

// halves calls f, which folds register 1 into register 0, for halves of register 0 until element 0 is the fold of all. The operand sizes
// shrink: f is given registers of 32 or 16 bytes.
func (m *x86) halves(f func(a, b string)) {
	if m.wide {
		m.p("VEXTRACTF64X4 $1, Z0, Y1")
		f("Y1", "Y0")
		m.p("VMOVAPS Y1, Y0")
	}
	m.p("VEXTRACTF128 $1, Y0, X1")
	f("X1", "X0")
	swaps := []string{"0x4e", "0xb1"}
	if !m.single() {
		swaps = []string{"0x4e"}
	}
	for _, swap := range swaps {
		m.p("VPSHUFD $%s, X1, X0", swap)
		f("X1", "X0")
	}
	m.p("VMOVAPS X1, X0")
}

// foldLanes makes element 0 of register 0 the fold of its elements; peak is the maximum where it does not matter what comes of values that are
// not numbers.
func (m *x86) foldLanes(op string) {
	m.halves(func(a, b string) {
		switch op {
		case "add":
			m.p("VADD%s %s, %s, %s", m.suffix(), b, a, a)
		case "peak":
			m.p("VMAX%s %s, %s, %s", m.suffix(), b, a, a)
		default:
			third, mask := a[:1]+"2", a[:1]+"3"
			m.p("V%s%s %s, %s, %s", strings.ToUpper(op), m.suffix(), b, a, third)
			m.p("VCMP%s $4, %s, %s, %s", m.suffix(), a, a, mask)
			m.p("VBLENDV%s %s, %s, %s, %s", m.suffix(), mask, a, third, a)
		}
	})
}

// spread fills a register with the element at an address.
func (m *x86) spread(address, dst string) {
	if m.single() {
		m.p("VBROADCASTSS %s, %s", address, dst)
		return
	}
	m.p("VBROADCASTSD %s, %s", address, dst)
}

// spreadFirst fills a register with its element 0.
func (m *x86) spreadFirst(i int) { m.spread(fmt.Sprintf("X%d", i), m.reg(i)) }

// storeFirst stores element 0 of a register.
func (m *x86) storeFirst(i int, address string) {
	m.p("VMOVS%s X%d, %s", m.suffix()[1:], i, address)
}

// load and store move a whole register, or, if part, the first elements: see partMask.
func (m *x86) load(address string, dst int, part bool) {
	switch {
	case !part:
		m.p("VMOVU%s %s, %s", m.suffix(), address, m.reg(dst))
	case m.wide:
		m.p("VMOVU%s.Z %s, K1, %s", m.suffix(), address, m.reg(dst))
	default:
		m.p("VMASKMOV%s %s, Y13, %s", m.suffix(), address, m.reg(dst))
	}
}

func (m *x86) store(src int, address string, part bool) {
	switch {
	case !part:
		m.p("VMOVU%s %s, %s", m.suffix(), m.reg(src), address)
	case m.wide:
		m.p("VMOVU%s %s, K1, %s", m.suffix(), m.reg(src), address)
	default:
		m.p("VMASKMOV%s %s, Y13, %s", m.suffix(), m.reg(src), address)
	}
}

// partMask selects the first CX bytes of a register, fewer than it has. It changes BX and CX.
func (m *x86) partMask() {
	if m.wide {
		m.p("SHRQ $%d, CX", map[int]int{4: 2, 8: 3}[m.size])
		m.p("MOVQ $1, BX")
		m.p("SHLQ CX, BX")
		m.p("DECQ BX")
		m.p("KMOVW BX, K1")
		return
	}
	m.p("LEAQ ·laneMasks32(SB), BX")
	m.p("SUBQ CX, BX")
	m.p("VMOVUPS 32(BX), Y13")
}
