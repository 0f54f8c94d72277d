package main

import "slices"

// machine writes vector instructions for one element type and one instruction set. Operands are registers, as reg names them, or constants
// where a comment allows them.
type machine interface {
	reg(i int) string         // a register for values, 0 to 12
	constant(c string) string // a constant in all lanes: see constants
	single() bool             // elements are float32, else float64

	move(dst, a string)                             // dst = a, which may be a constant
	zero(dst string)                                // dst = 0
	binary(op, dst, a, b string)                    // dst = a op b, which may be a constant; op is add, sub, mul, div, min, max, and, or, xor
	fma(sum, a, b string)                           // sum += a b, which may be a constant; rounded once
	horner(p, x, c string)                          // p = p x + c, which may be a constant; rounded once
	polynomial(p, x string, coefficients ...string) // p of x by Horner's rule, from the highest coefficient down
	unary(op, dst, a string)                        // op is sqrt, floor, ceil, round (to even)
	compare(op string, a, b string)                 // sets the mask to a op b, which may be a constant; op is eq, ne, lt, gt
	choose(dst, a, b string)                        // dst = a where the mask is set, else b
	keep(dst, a string)                             // dst = a where the mask is set, else 0
	power(dst, p, n, t string)                      // dst = p 2^n; overwrites n and t
	keptPower(dst, p, n string)                     // dst = p 2^n where the mask is set and both are normal, else 0; overwrites n
	larger(op, dst, a, b string)                    // dst = the maximum or minimum (op max or min), or NaN if one is NaN; dst is neither a nor b
}

// binaryOp is an operation on two operands: the name of its kernels, of the operation, and of the instruction.
type binaryOp struct{ name, op, instruction string }

var binaries = []binaryOp{
	{"sum", "Add", "add"}, {"difference", "Sub", "sub"}, {"product", "Mul", "mul"}, {"quotient", "Div", "div"},
	{"larger", "Max", "max"}, {"smaller", "Min", "min"},
}

// paired are the operations of kernels of two operations.
var paired = binaries[:3]

// write computes register dst from registers a and b.
func (o binaryOp) write(m machine, dst, a, b int) {
	if o.op == "Max" || o.op == "Min" {
		m.larger(o.instruction, m.reg(dst), m.reg(a), m.reg(b))
		return
	}
	m.binary(o.instruction, m.reg(dst), m.reg(a), m.reg(b))
}

// unaryOp is an operation on register 0, which may use registers up to 9.
type unaryOp struct {
	name, op string
	write    func(m machine)
}

var unaries = []unaryOp{
	{"exp", "Exp", exponential},
	{"logistic", "Logistic", logistic},
	{"tangent", "Tanh", tangent},
	{"root", "Sqrt", func(m machine) { m.unary("sqrt", m.reg(0), m.reg(0)) }},
	{"inverseRoot", "Rsqrt", func(m machine) {
		m.unary("sqrt", m.reg(1), m.reg(0))
		m.move(m.reg(0), m.constant("1"))
		m.binary("div", m.reg(0), m.reg(0), m.reg(1))
	}},
	{"negative", "Neg", func(m machine) { m.binary("xor", m.reg(0), m.reg(0), m.constant("sign")) }},
	{"absolute", "Abs", func(m machine) { m.binary("and", m.reg(0), m.reg(0), m.constant("magnitude")) }},
	{"sign", "Sign", sign},
	{"floor", "Floor", func(m machine) { m.unary("floor", m.reg(0), m.reg(0)) }},
	{"ceiling", "Ceil", func(m machine) { m.unary("ceil", m.reg(0), m.reg(0)) }},
	{"rounded", "Round", func(m machine) { m.unary("round", m.reg(0), m.reg(0)) }},
}

// exponential replaces x, register 0, by its exponential, and uses registers 1 to 5. NaN remains NaN.
func exponential(m machine) {
	low, high := "-110", "100"
	if !m.single() {
		low, high = "-800", "800"
	}
	x, t := m.reg(0), m.reg(1)
	m.move(t, m.constant(high))
	m.binary("min", x, t, x)
	m.move(t, m.constant(low))
	m.binary("max", x, t, x)
	exponentialInRange(m)
}

// exponentialInRange is exponential of numbers whose results are about in the normal range: x = n log 2 + r, a polynomial or fraction of r,
// and a change of the exponent by n. The approximations of degree 5 (float32) and 3 over 3 in r^2 (float64) are those of Moshier's Cephes
// library.
func exponentialInRange(m machine) {
	x, n, r, p, q, d := m.reg(0), m.reg(1), m.reg(2), m.reg(3), m.reg(4), m.reg(5)
	m.binary("mul", n, x, m.constant("1.44269504088896341"))
	m.unary("round", n, n)
	m.move(r, x)
	if m.single() {
		m.fma(r, n, m.constant("-0.693359375"))
		m.fma(r, n, m.constant("2.12194440e-4"))
		m.polynomial(p, r, "1.9875691500e-4", "1.3981999507e-3", "8.3334519073e-3", "4.1665795894e-2", "1.6666665459e-1", "5.0000001201e-1")
		m.binary("mul", q, r, r)
		m.horner(p, q, r)
	} else {
		m.fma(r, n, m.constant("-6.93145751953125e-1"))
		m.fma(r, n, m.constant("-1.42860682030941723212e-6"))
		m.binary("mul", q, r, r)
		m.polynomial(p, q, "1.26177193074810590878e-4", "3.02994407707441961300e-2", "9.99999999999999999910e-1")
		m.binary("mul", p, p, r)
		m.polynomial(d, q, "3.00198505138664455042e-6", "2.52448340349684104192e-3", "2.27265548208155028766e-1", "2")
		m.binary("sub", d, d, p)
		m.binary("div", p, p, d)
		m.binary("add", p, p, p)
	}
	m.binary("add", p, p, m.constant("1"))
	m.power(x, p, n, q)
}

// probability replaces a number that is not positive, register 0, by its exponential, or by 0 if that would be subnormal: subnormal results,
// which are common for masked keys, are very slow. It uses the mask and registers 1 to 6.
//
// In float32 it is 2^n 2^-r with n the nearest whole number to x / log 2 and r their difference, rounded once: a polynomial with a relative error
// of 1e-7, which is 1 for 0. The constant 1 / log 2 adds 2e-8 of |x|, which matters for numbers that add little to a sum only.
func probability(m machine) {
	x, n, r, p := m.reg(0), m.reg(1), m.reg(2), m.reg(3)
	if !m.single() {
		m.compare("gt", x, m.constant("-708"))
		exponentialInRange(m)
		m.keep(x, x)
		return
	}
	m.compare("gt", x, m.constant("-87"))
	m.binary("mul", n, x, m.constant("1.44269504088896341"))
	m.unary("round", n, n)
	m.move(r, n)
	m.fma(r, x, m.constant("-1.44269504088896341"))
	m.polynomial(p, r, "-1.3264727e-3", "9.671513e-3", "-5.5507336e-2", "2.40222424e-1", "-6.93147004e-1", "1")
	m.keptPower(x, p, n)
}

// blockVectors is the number of vectors of a group of columns: see Attention.BlockLanes.
const blockVectors = 4

// dropoutWeight replaces register 0, a key of a column, by the weight that Attention.Dropout writes. Registers: 1 and 2 the other keys of the
// column, 8 and 9 those of the row, 10 to 12 and 7 the numbers.
func dropoutWeight(m machine) {
	x, t := m.reg(0), m.reg(3)
	m.binary("mul", x, x, m.reg(8))
	m.fma(x, m.reg(1), m.reg(9))
	m.binary("add", x, x, m.reg(2))
	m.binary("mul", t, x, m.reg(11))
	m.unary("round", t, t)
	m.fma(x, t, m.reg(10))
	m.binary("and", x, x, m.constant("magnitude"))
	m.binary("sub", x, x, m.reg(12))
	m.zero(t)
	m.binary("max", x, x, t)
	m.binary("min", x, x, m.constant("1"))
	m.binary("mul", x, x, m.reg(7))
}

func logistic(m machine) {
	x, t := m.reg(0), m.reg(1)
	m.zero(t)
	m.binary("sub", x, t, x)
	exponential(m)
	m.binary("add", x, x, m.constant("1"))
	m.move(t, m.constant("1"))
	m.binary("div", x, t, x)
}

// tangent is tanh |x| = 1 - 2 / (exp 2|x| + 1) with the sign of x; near 0, where that would lose digits, x + x^3 p(x^2), with the polynomial
// of degree 4 (float32) and the fraction of degree 2 over 3 (float64) of the Cephes library.
func tangent(m machine) {
	x, t, w, z, y, minus, both := m.reg(0), m.reg(1), m.reg(3), m.reg(2), m.reg(7), m.reg(8), m.reg(9)
	m.binary("and", minus, x, m.constant("sign"))
	m.binary("and", x, x, m.constant("magnitude"))
	m.binary("mul", z, x, x)
	if m.single() {
		m.polynomial(y, z, "-5.70498872745e-3", "2.06390887954e-2", "-5.37397155531e-2", "1.33314422036e-1", "-3.33332819422e-1")
	} else {
		m.polynomial(y, z, "-9.64399179425052238628e-1", "-9.92877231001918586564e1", "-1.61468768441708447952e3")
		m.binary("add", w, z, m.constant("1.12811678491632931402e2"))
		m.horner(w, z, m.constant("2.23548839060100448583e3"))
		m.horner(w, z, m.constant("4.84406305325125486048e3"))
		m.binary("div", y, y, w)
	}
	m.binary("mul", y, y, z)
	m.horner(y, x, x)
	m.binary("add", both, x, x)
	m.move(m.reg(6), x)
	m.move(x, both)
	exponential(m)
	m.binary("add", x, x, m.constant("1"))
	m.move(t, m.constant("2"))
	m.binary("div", x, t, x)
	m.move(t, m.constant("1"))
	m.binary("sub", x, t, x)
	m.compare("lt", m.reg(6), m.constant("0.625"))
	m.choose(x, y, x)
	m.binary("or", x, x, minus)
}

func sign(m machine) {
	x, y, t := m.reg(0), m.reg(1), m.reg(2)
	m.move(t, m.constant("1"))
	m.compare("gt", x, m.constant("0"))
	m.choose(y, t, x)
	m.move(t, m.constant("-1"))
	m.compare("lt", x, m.constant("0"))
	m.choose(x, t, y)
}

// constants is a table of constants in the order of their first use. Besides numbers, sign and magnitude are the bits of either, magic a number
// that moves a whole one to the low bits of the fraction, with the bias of the exponent added, and floor the lowest number, highest the highest.
type constants struct{ names []string }

// index returns the index of a constant, which it adds if it is new.
func (c *constants) index(name string) int {
	i := slices.Index(c.names, name)
	if i < 0 {
		i = len(c.names)
		c.names = append(c.names, name)
	}
	return i
}
