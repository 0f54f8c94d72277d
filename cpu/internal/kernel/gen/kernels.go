package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"go/format"
	"strings"
	"text/template"
)

// set is one combination of register width and element type.
type set struct {
	Name   string // suffix of the functions
	File   string
	V, I   string // vector types
	T      string // element type
	Int    string // integer of the same size
	N      int    // lanes
	Size   int    // bytes of an element
	Wide   bool   // AVX-512
	Single bool   // float32
	Bits   int    // of the fraction
	Bias   int    // of the exponent
}

var sets = []set{
	{"Z32", "kernels_avx512_f32_amd64.go", "Float32x16", "Int32x16", "float32", "int32", 16, 4, true, true, 23, 127},
	{"Z64", "kernels_avx512_f64_amd64.go", "Float64x8", "Int64x8", "float64", "int64", 8, 8, true, false, 52, 1023},
	{"Y32", "kernels_avx2_f32_amd64.go", "Float32x8", "Int32x8", "float32", "int32", 8, 4, false, true, 23, 127},
	{"Y64", "kernels_avx2_f64_amd64.go", "Float64x4", "Int64x4", "float64", "int64", 4, 8, false, false, 52, 1023},
}

// binary is an operation on x and y.
type binary struct{ Name, Type, expr string }

// Expr is Go code; @ stands for the set's name.
func (b binary) Expr(set string) string { return strings.ReplaceAll(b.expr, "@", set) }

var binaries = []binary{
	{"sum", "Add", "x.Add(y)"},
	{"difference", "Sub", "x.Sub(y)"},
	{"product", "Mul", "x.Mul(y)"},
	{"quotient", "Div", "x.Div(y)"},
	{"larger", "Max", "max@(x, y)"},
	{"smaller", "Min", "min@(x, y)"},
}

var compares = map[string][2]string{
	"Equal":        {"x == y", "Equal"},
	"NotEqual":     {"x != y", "NotEqual"},
	"Less":         {"x < y", "LessThan"},
	"LessEqual":    {"x <= y", "LessOrEqual"},
	"Greater":      {"x > y", "GreaterThan"},
	"GreaterEqual": {"x >= y", "GreaterOrEqual"},
}

// unary is an operation that changes x; constants are set before the loop.
type unary struct{ Name, Type, constants, code string }

func (u unary) Before(s set) string { return s.expand(u.constants) }

func (u unary) Code(s set) string {
	return s.expand(strings.NewReplacer("EXP", exponential(s), "NEAR", tangentNear(s)).Replace(u.code))
}

// expand replaces V! by the vector type and I! by the integer one.
func (s set) expand(code string) string {
	round := "RoundToEven()"
	floor, ceil := "Floor()", "Ceil()"
	if s.Wide {
		round, floor, ceil = "RoundToEvenScaled(0)", "FloorScaled(0)", "CeilScaled(0)"
	}
	sign := "-1 << 31"
	if !s.Single {
		sign = "-1 << 63"
	}
	return strings.NewReplacer("V!", s.V, "I!", s.I, "ROUND", round, "FLOOR", floor, "CEIL", ceil, "SIGN", sign, "@", s.Name).Replace(code)
}

// exponential is code that replaces x by its exponential: x = n log 2 + r, a polynomial or fraction of r, and
// a change of the exponent by n. The approximations of degree 5 (float32) and 3 over 3 in r^2 (float64) are those
// of Moshier's Cephes library. Constants are loaded where they are used: registers are few.
func exponential(s set) string {
	if s.Single {
		return s.exponential("-110", "100")
	}
	return s.exponential("-800", "800")
}

// probability is the exponential of a number that is not positive, with 0 for what would lie below the normal range:
// such results, which hidden keys have all the time, would cost a hundred times as much.
func probability(s set) string {
	low := "-87"
	if !s.Single {
		low = "-708"
	}
	return "visible := x.Greater(archsimd.BroadcastV!(" + low + "))\nx = x.Masked(visible)\n" + s.exponential("", "") + "x = x.Masked(visible)\n"
}

func (s set) exponential(low, high string) string {
	c := func(v string) string { return "archsimd.BroadcastV!(" + v + ")" }
	code := ""
	if low != "" {
		code = "x = " + c(high) + ".Merge(x, x.Greater(" + c(high) + "))\n" + // what is not a number stays
			"x = " + c(low) + ".Merge(x, x.Less(" + c(low) + "))\n"
	}
	code += "n := x.Mul(" + c("1.44269504088896341") + ").ROUND\n"
	if s.Single {
		code += "r := n.MulAdd(" + c("-0.693359375") + ", x)\n" +
			"r = n.MulAdd(" + c("2.12194440e-4") + ", r)\n" +
			"p := r.MulAdd(" + c("1.9875691500e-4") + ", " + c("1.3981999507e-3") + ")\n"
		for _, k := range []string{"8.3334519073e-3", "4.1665795894e-2", "1.6666665459e-1", "5.0000001201e-1"} {
			code += "p = p.MulAdd(r, " + c(k) + ")\n"
		}
		code += "p = p.MulAdd(r.Mul(r), r).Add(" + c("1") + ")\n"
	} else {
		code += "r := n.MulAdd(" + c("-6.93145751953125e-1") + ", x)\n" +
			"r = n.MulAdd(" + c("-1.42860682030941723212e-6") + ", r)\n" +
			"q := r.Mul(r)\n" +
			"p := q.MulAdd(" + c("1.26177193074810590878e-4") + ", " + c("3.02994407707441961300e-2") + ")\n" +
			"p = p.MulAdd(q, " + c("9.99999999999999999910e-1") + ").Mul(r)\n" +
			"d := q.MulAdd(" + c("3.00198505138664455042e-6") + ", " + c("2.52448340349684104192e-3") + ")\n" +
			"d = d.MulAdd(q, " + c("2.27265548208155028766e-1") + ").MulAdd(q, " + c("2") + ")\n" +
			"p = p.Div(d.Sub(p))\n" +
			"p = p.Add(p).Add(" + c("1") + ")\n"
	}
	if s.Wide {
		return code + "x = p.Scale(n)\n"
	}
	// 2^n in two steps, so that results below the normal range are reached: adding 2^fraction + bias moves n to the
	// low bits of the fraction.
	magic, shift := "8388608 + 127", "23"
	if !s.Single {
		magic, shift = "4503599627370496 + 1023", "52"
	}
	return code + "h := n.Mul(" + c("0.5") + ").ROUND\n" +
		"x = p.Mul(h.Add(" + c(magic) + ").AsI!().ShiftAllLeft(" + shift + ").AsV!())\n" +
		"x = x.Mul(n.Sub(h).Add(" + c(magic) + ").AsI!().ShiftAllLeft(" + shift + ").AsV!())\n"
}

// tangentNear is code that makes y the hyperbolic tangent of x from 0 to 5/8: x + x^3 p(x^2), with the polynomial of degree 4 (float32) and the
// fraction of degree 2 over 3 (float64) of the Cephes library.
func tangentNear(s set) string {
	c := func(v string) string { return "archsimd.BroadcastV!(" + v + ")" }
	code := "z := x.Mul(x)\n"
	if s.Single {
		code += "y := z.MulAdd(" + c("-5.70498872745e-3") + ", " + c("2.06390887954e-2") + ")\n"
		for _, k := range []string{"-5.37397155531e-2", "1.33314422036e-1", "-3.33332819422e-1"} {
			code += "y = y.MulAdd(z, " + c(k) + ")\n"
		}
	} else {
		code += "y := z.MulAdd(" + c("-9.64399179425052238628e-1") + ", " + c("-9.92877231001918586564e1") + ")\n" +
			"y = y.MulAdd(z, " + c("-1.61468768441708447952e3") + ")\n" +
			"w := z.Add(" + c("1.12811678491632931402e2") + ").MulAdd(z, " + c("2.23548839060100448583e3") + ")\n" +
			"y = y.Div(w.MulAdd(z, " + c("4.84406305325125486048e3") + "))\n"
	}
	return code + "y = y.Mul(z).MulAdd(x, x)\n"
}

var unaries = []unary{
	{"exp", "Exp", "", "EXP"},
	{"logistic", "Logistic", "one := archsimd.BroadcastV!(1)\nvar zero archsimd.V!", "x = zero.Sub(x)\nEXP\nx = one.Div(one.Add(x))"},
	// tanh |x| = 1 - 2 / (exp 2|x| + 1), which would lose the digits of small x.
	{"tangent", "Tanh", "one, two := archsimd.BroadcastV!(1), archsimd.BroadcastV!(2)\nsign := archsimd.BroadcastI!(SIGN)",
		"minus := x.AsI!().And(sign)\nx = x.AsI!().AndNot(sign).AsV!()\nNEAR" +
			"near := x.Less(archsimd.BroadcastV!(0.625))\nx = x.Add(x)\nEXP\n" +
			"x = one.Sub(two.Div(x.Add(one)))\nx = y.Merge(x, near).AsI!().Or(minus).AsV!()"},
	{"sqrt", "Sqrt", "", "x = x.Sqrt()"},
	{"rsqrt", "Rsqrt", "one := archsimd.BroadcastV!(1)", "x = one.Div(x.Sqrt())"},
	{"negative", "Neg", "sign := archsimd.BroadcastI!(SIGN)", "x = x.AsI!().Xor(sign).AsV!()"},
	{"absolute", "Abs", "sign := archsimd.BroadcastI!(SIGN)", "x = x.AsI!().AndNot(sign).AsV!()"},
	{"sign", "Sign", "one, minus := archsimd.BroadcastV!(1), archsimd.BroadcastV!(-1)\nvar zero archsimd.V!",
		"y := one.Merge(x, x.Greater(zero))\nx = minus.Merge(y, x.Less(zero))"},
	{"floor", "Floor", "", "x = x.FLOOR"},
	{"ceil", "Ceil", "", "x = x.CEIL"},
	{"round", "Round", "", "x = x.ROUND"},
}

//go:embed kernels.tmpl
var kernelTemplate string

// kernels writes kernels_*_amd64.go: the element-wise kernels and reductions for two types and two widths of registers.
// Vector types cannot be type parameters, so the one source is a template, kernels.tmpl.
func kernels() (map[string][]byte, error) {
	tmpl, err := template.New("kernels.tmpl").Funcs(template.FuncMap{
		"list":        func(s ...string) []string { return s },
		"binaries":    func() []binary { return binaries },
		"paired":      func() []binary { return binaries[:3] },
		"unaries":     func() []unary { return unaries },
		"compares":    func() []string { return []string{"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"} },
		"expcode":     func(s set) string { return s.expand(probability(s)) },
		"compareGo":   func(op string) string { return compares[op][0] },
		"compareType": func(op string) string { return compares[op][1] },
	}).Parse(kernelTemplate)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, s := range sets {
		var out bytes.Buffer
		if err := tmpl.Execute(&out, s); err != nil {
			return nil, err
		}
		if files[s.File], err = format.Source(out.Bytes()); err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
	}
	return files, nil
}
