//go:build ignore

// gen_kernels writes kernels_*_amd64.go: the element-wise kernels and reductions for two types and two widths of
// registers. Vector types cannot be type parameters, so the one source is a template.
package main

import (
	"bytes"
	"go/format"
	"os"
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

func (u unary) Code(s set) string { return s.expand(strings.ReplaceAll(u.code, "EXP", exponential(s))) }

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

var unaries = []unary{
	{"exp", "Exp", "", "EXP"},
	{"logistic", "Logistic", "one := archsimd.BroadcastV!(1)\nvar zero archsimd.V!", "x = zero.Sub(x)\nEXP\nx = one.Div(one.Add(x))"},
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

func main() {
	tmpl := template.Must(template.New("kernels").Funcs(template.FuncMap{
		"list":        func(s ...string) []string { return s },
		"count":       func(n int) []struct{} { return make([]struct{}, n) },
		"plus":        func(i, j int) int { return i + j },
		"binaries":    func() []binary { return binaries },
		"unaries":     func() []unary { return unaries },
		"compares":    func() []string { return []string{"Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"} },
		"expcode":     func(s set) string { return s.expand(probability(s)) },
		"compareGo":   func(op string) string { return compares[op][0] },
		"compareType": func(op string) string { return compares[op][1] },
	}).Parse(source))
	for _, s := range sets {
		var out bytes.Buffer
		if err := tmpl.Execute(&out, s); err != nil {
			panic(err)
		}
		code, err := format.Source(out.Bytes())
		if err != nil {
			panic(err)
		}
		if err := os.WriteFile(s.File, code, 0o666); err != nil {
			panic(err)
		}
	}
}

// Bytes a register holds: {{$w}}. Loops run over byte offsets from fixed pointers, and end with
// ClearAVXUpperBits: without it the scalar code that follows runs several times slower.
const source = `
{{- $v := printf "vec%s" .Name}}{{$w := 64}}{{if not .Wide}}{{$w = 32}}{{end}}
// Code generated by gen_kernels.go; DO NOT EDIT.

//go:build amd64 && goexperiment.simd

package cpu

import (
	"simd/archsimd"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

type {{$v}} = archsimd.{{.V}}

func load{{.Name}}(p unsafe.Pointer, at int) {{$v}} {
	return archsimd.Load{{.V}}((*[{{.N}}]{{.T}})(unsafe.Add(p, at)))
}

func store{{.Name}}(p unsafe.Pointer, at int, x {{$v}}) {
	x.Store((*[{{.N}}]{{.T}})(unsafe.Add(p, at)))
}

// loadPart{{.Name}} loads the elements between byte offsets at and end, fewer than a register holds, and zeros.
func loadPart{{.Name}}(p unsafe.Pointer, at, end int) {{$v}} {
	var part [{{.N}}]{{.T}}
	copy(part[:], unsafe.Slice((*{{.T}})(unsafe.Add(p, at)), (end-at)/{{.Size}}))
	return archsimd.Load{{.V}}(&part)
}

// storePart{{.Name}} stores only the elements between byte offsets at and end.
func storePart{{.Name}}(p unsafe.Pointer, at, end int, x {{$v}}) {
	var part [{{.N}}]{{.T}}
	x.Store(&part)
	copy(unsafe.Slice((*{{.T}})(unsafe.Add(p, at)), (end-at)/{{.Size}}), part[:])
}

func spread{{.Name}}(p unsafe.Pointer, row int) {{$v}} {
	return archsimd.Broadcast{{.V}}(*(*{{.T}})(unsafe.Add(p, row*{{.Size}})))
}

// max{{.Name}} is the larger element, or what is not a number.
func max{{.Name}}(x, y {{$v}}) {{$v}} {
	return x.Merge(y.Merge(x.Max(y), y.NotEqual(y)), x.NotEqual(x))
}

// min{{.Name}} is the smaller element, or what is not a number.
func min{{.Name}}(x, y {{$v}}) {{$v}} {
	return x.Merge(y.Merge(x.Min(y), y.NotEqual(y)), x.NotEqual(x))
}

func add{{.Name}}(x, y {{$v}}) {{$v}} { return x.Add(y) }

{{- $s := .}}
{{- range $fold := (list "add" "max" "min" "peak")}}

// {{$fold}}Lanes{{$s.Name}} folds the elements of a register into one and returns its bits.
func {{$fold}}Lanes{{$s.Name}}(x {{$v}}) {{$s.Int}} {
{{- if $s.Single}}
	{{- if $s.Wide}}
	half := {{$fold}}Y32(x.GetHi(), x.GetLo())
	{{- else}}
	half := x
	{{- end}}
	q := {{$fold}}X32(half.GetHi(), half.GetLo())
	q = {{$fold}}X32(q, q.SelectFromPair(2, 3, 0, 1, q))
	q = {{$fold}}X32(q, q.SelectFromPair(1, 0, 3, 2, q))
	return q.AsInt32x4().GetElem(0)
{{- else}}
	{{- if $s.Wide}}
	half := {{$fold}}Y64(x.GetHi(), x.GetLo())
	{{- else}}
	half := x
	{{- end}}
	q := {{$fold}}X64(half.GetHi(), half.GetLo())
	q = {{$fold}}X64(q, q.SelectFromPair(1, 0, q))
	return q.AsInt64x2().GetElem(0)
{{- end}}
}
{{- end}}

{{- range $op := binaries}}

func {{$op.Name}}{{$s.Name}}(dst, a, b, _ unsafe.Pointer, rows, cols int) {
	end := rows * cols * {{$s.Size}}
	i := 0
	for ; i+{{$w}} <= end; i += {{$w}} {
		x, y := load{{$s.Name}}(a, i), load{{$s.Name}}(b, i)
		store{{$s.Name}}(dst, i, {{$op.Expr $s.Name}})
	}
	if i < end {
		x, y := loadPart{{$s.Name}}(a, i, end), loadPart{{$s.Name}}(b, i, end)
		storePart{{$s.Name}}(dst, i, end, {{$op.Expr $s.Name}})
	}
	archsimd.ClearAVXUpperBits()
}

func {{$op.Name}}Right{{$s.Name}}(dst, a, b, _ unsafe.Pointer, rows, cols int) {
	for r := range rows {
		y := spread{{$s.Name}}(b, r)
		end := (r + 1) * cols * {{$s.Size}}
		i := r * cols * {{$s.Size}}
		for ; i+{{$w}} <= end; i += {{$w}} {
			x := load{{$s.Name}}(a, i)
			store{{$s.Name}}(dst, i, {{$op.Expr $s.Name}})
		}
		if i < end {
			x := loadPart{{$s.Name}}(a, i, end)
			storePart{{$s.Name}}(dst, i, end, {{$op.Expr $s.Name}})
		}
	}
	archsimd.ClearAVXUpperBits()
}

func {{$op.Name}}Left{{$s.Name}}(dst, a, b, _ unsafe.Pointer, rows, cols int) {
	for r := range rows {
		x := spread{{$s.Name}}(a, r)
		end := (r + 1) * cols * {{$s.Size}}
		i := r * cols * {{$s.Size}}
		for ; i+{{$w}} <= end; i += {{$w}} {
			y := load{{$s.Name}}(b, i)
			store{{$s.Name}}(dst, i, {{$op.Expr $s.Name}})
		}
		if i < end {
			y := loadPart{{$s.Name}}(b, i, end)
			storePart{{$s.Name}}(dst, i, end, {{$op.Expr $s.Name}})
		}
	}
	archsimd.ClearAVXUpperBits()
}
{{- end}}

{{- range $op := unaries}}

func {{$op.Name}}{{$s.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	end := rows * cols * {{$s.Size}}
	{{$op.Before $s}}
	i := 0
	for ; i+{{$w}} <= end; i += {{$w}} {
		x := load{{$s.Name}}(a, i)
		{{$op.Code $s}}
		store{{$s.Name}}(dst, i, x)
	}
	if i < end {
		x := loadPart{{$s.Name}}(a, i, end)
		{{$op.Code $s}}
		storePart{{$s.Name}}(dst, i, end, x)
	}
	archsimd.ClearAVXUpperBits()
}
{{- end}}

{{- range $fold := (list "add" "max" "min")}}

// {{$fold}}Rows{{$s.Name}} folds rows in four interleaved chains.
func {{$fold}}Rows{{$s.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	for r := range rows {
		end := (r + 1) * cols * {{$s.Size}}
		i := r * cols * {{$s.Size}}
		{{- if eq $fold "add"}}
		var s0 {{$v}}
		{{- else}}
		s0 := archsimd.Broadcast{{$s.V}}(neutral{{$fold}}{{$s.Name}})
		{{- end}}
		s1, s2, s3 := s0, s0, s0
		for ; i+4*{{$w}} <= end; i += 4 * {{$w}} {
			s0 = {{$fold}}{{$s.Name}}(s0, load{{$s.Name}}(a, i))
			s1 = {{$fold}}{{$s.Name}}(s1, load{{$s.Name}}(a, i+{{$w}}))
			s2 = {{$fold}}{{$s.Name}}(s2, load{{$s.Name}}(a, i+2*{{$w}}))
			s3 = {{$fold}}{{$s.Name}}(s3, load{{$s.Name}}(a, i+3*{{$w}}))
		}
		for ; i+{{$w}} <= end; i += {{$w}} {
			s0 = {{$fold}}{{$s.Name}}(s0, load{{$s.Name}}(a, i))
		}
		if i < end {
			x := loadPart{{$s.Name}}(a, i, end)
			{{- if ne $fold "add"}}
			x = x.Merge(archsimd.Broadcast{{$s.V}}(neutral{{$fold}}{{$s.Name}}), firstLanes{{$s.Name}}((end-i)/{{$s.Size}}))
			{{- end}}
			s1 = {{$fold}}{{$s.Name}}(s1, x)
		}
		s0 = {{$fold}}{{$s.Name}}({{$fold}}{{$s.Name}}(s0, s1), {{$fold}}{{$s.Name}}(s2, s3))
		*(*{{$s.Int}})(unsafe.Add(dst, r*{{$s.Size}})) = {{$fold}}Lanes{{$s.Name}}(s0)
	}
	archsimd.ClearAVXUpperBits()
}

// {{$fold}}Columns{{$s.Name}} folds rows into one.
func {{$fold}}Columns{{$s.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	row := cols * {{$s.Size}}
	i := 0
	for ; i+4*{{$w}} <= row; i += 4 * {{$w}} {
		s0, s1 := load{{$s.Name}}(dst, i), load{{$s.Name}}(dst, i+{{$w}})
		s2, s3 := load{{$s.Name}}(dst, i+2*{{$w}}), load{{$s.Name}}(dst, i+3*{{$w}})
		at := i
		for range rows {
			s0 = {{$fold}}{{$s.Name}}(s0, load{{$s.Name}}(a, at))
			s1 = {{$fold}}{{$s.Name}}(s1, load{{$s.Name}}(a, at+{{$w}}))
			s2 = {{$fold}}{{$s.Name}}(s2, load{{$s.Name}}(a, at+2*{{$w}}))
			s3 = {{$fold}}{{$s.Name}}(s3, load{{$s.Name}}(a, at+3*{{$w}}))
			at += row
		}
		store{{$s.Name}}(dst, i, s0)
		store{{$s.Name}}(dst, i+{{$w}}, s1)
		store{{$s.Name}}(dst, i+2*{{$w}}, s2)
		store{{$s.Name}}(dst, i+3*{{$w}}, s3)
	}
	for ; i+{{$w}} <= row; i += {{$w}} {
		s := load{{$s.Name}}(dst, i)
		for r := range rows {
			s = {{$fold}}{{$s.Name}}(s, load{{$s.Name}}(a, i+r*row))
		}
		store{{$s.Name}}(dst, i, s)
	}
	if i < row {
		s := loadPart{{$s.Name}}(dst, i, row)
		for r := range rows {
			s = {{$fold}}{{$s.Name}}(s, loadPart{{$s.Name}}(a, i+r*row, (r+1)*row))
		}
		storePart{{$s.Name}}(dst, i, row, s)
	}
	archsimd.ClearAVXUpperBits()
}
{{- end}}

func fill{{.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	for r := range rows {
		y := spread{{.Name}}(a, r)
		end := (r + 1) * cols * {{.Size}}
		i := r * cols * {{.Size}}
		for ; i+{{$w}} <= end; i += {{$w}} {
			store{{.Name}}(dst, i, y)
		}
		if i < end {
			storePart{{.Name}}(dst, i, end, y)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// firstLanes{{.Name}} selects the first n elements.
func firstLanes{{.Name}}(n int) archsimd.Mask{{if .Single}}32{{else}}64{{end}}x{{.N}} {
	return archsimd.Load{{.I}}((*[{{.N}}]{{.Int}})(unsafe.Pointer(&lanes{{.Name}}[{{.N}}-n]))).ToMask()
}

var lanes{{.Name}} = func() (m [{{.N}} * 2]{{.Int}}) {
	for i := range {{.N}} {
		m[i] = -1
	}
	return m
}()

{{- if .Wide}}

func where{{.Name}}(dst, cond, a, b unsafe.Pointer, rows, cols int) {
	n := rows * cols
	i := 0
	for ; i+16 <= n; i += 16 {
		c := archsimd.LoadInt8x16((*[16]int8)(unsafe.Add(cond, i)))
		{{- if .Single}}
		x, y := load{{.Name}}(a, i*4), load{{.Name}}(b, i*4)
		store{{.Name}}(dst, i*4, x.Merge(y, c.ExtendToInt32().ToMask()))
		{{- else}}
		x, y := load{{.Name}}(a, i*8), load{{.Name}}(b, i*8)
		store{{.Name}}(dst, i*8, x.Merge(y, c.ExtendLo8ToInt64().ToMask()))
		x, y = load{{.Name}}(a, i*8+64), load{{.Name}}(b, i*8+64)
		high := archsimd.LoadInt64x2((*[2]int64)(unsafe.Add(cond, i)))
		c = high.SelectFromPair(1, 1, high).AsInt8x16()
		store{{.Name}}(dst, i*8+64, x.Merge(y, c.ExtendLo8ToInt64().ToMask()))
		{{- end}}
	}
	archsimd.ClearAVXUpperBits()
	if i < n {
		portableKernels.where[{{.Size}}](unsafe.Add(dst, i*{{.Size}}), unsafe.Add(cond, i), unsafe.Add(a, i*{{.Size}}), unsafe.Add(b, i*{{.Size}}), 1, n-i)
	}
}
{{- end}}
{{- if and .Wide .Single}}
{{- range $op := compares}}

func {{$op}}{{$s.Name}}(dst, a, b, _ unsafe.Pointer, rows, cols int) {
	n := rows * cols
	one := archsimd.BroadcastInt8x16(1)
	i := 0
	for ; i+16 <= n; i += 16 {
		m := load{{$s.Name}}(a, i*4).{{$op}}(load{{$s.Name}}(b, i*4))
		m.ToInt32x16().TruncateToInt8().And(one).Store((*[16]int8)(unsafe.Add(dst, i)))
	}
	archsimd.ClearAVXUpperBits()
	for ; i < n; i++ {
		x, y := *(*float32)(unsafe.Add(a, i*4)), *(*float32)(unsafe.Add(b, i*4))
		*(*bool)(unsafe.Add(dst, i)) = {{compareGo $op}}
	}
}
{{- end}}

// boolTo{{.Name}} converts booleans to 0 and 1.
func boolTo{{.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	n := rows * cols
	i := 0
	for ; i+16 <= n; i += 16 {
		store{{.Name}}(dst, i*4, archsimd.LoadInt8x16((*[16]int8)(unsafe.Add(a, i))).ExtendToInt32().ConvertToFloat32())
	}
	archsimd.ClearAVXUpperBits()
	for ; i < n; i++ {
		*(*float32)(unsafe.Add(dst, i*4)) = float32(*(*uint8)(unsafe.Add(a, i)))
	}
}
{{- end}}

{{- if .Single}}

// uint32To{{.Name}} converts random bits, which dropout is made of.{{if not .Wide}} AVX2 converts signed numbers: both halves are exact, and
// their sum is rounded once.{{end}}
func uint32To{{.Name}}(dst, a, _, _ unsafe.Pointer, rows, cols int) {
	n := rows * cols
	i := 0
	{{- if not .Wide}}
	low, high := archsimd.BroadcastUint32x8(1<<16-1), archsimd.BroadcastFloat32x8(1<<16)
	{{- end}}
	for ; i+{{.N}} <= n; i += {{.N}} {
		x := archsimd.LoadUint32x{{.N}}((*[{{.N}}]uint32)(unsafe.Add(a, i*4)))
		{{- if .Wide}}
		store{{.Name}}(dst, i*4, x.ConvertToFloat32())
		{{- else}}
		store{{.Name}}(dst, i*4, x.ShiftAllRight(16).AsInt32x8().ConvertToFloat32().MulAdd(high, x.And(low).AsInt32x8().ConvertToFloat32()))
		{{- end}}
	}
	archsimd.ClearAVXUpperBits()
	for ; i < n; i++ {
		*(*float32)(unsafe.Add(dst, i*4)) = float32(*(*uint32)(unsafe.Add(a, i*4)))
	}
}
{{- end}}

{{- if not .Wide}}

// one{{.Name}} is gemmKernel.wide: a product with one row on the left has two sums for each vector unit to work on in a panel, of the eight
// that keep the units busy. Here eight registers of columns lie side by side; each sum runs in the order of the panel
// kernels, so results are the same to the last bit. c is not added to.
func one{{.Name}}(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7 {{$v}}
	a, b := call.a, call.panel
	for range call.k {
		x := spread{{.Name}}(a, 0)
		{{- range $i, $_ := count 8}}
		s{{$i}} = load{{$s.Name}}(b, {{$i}}*{{$w}}).MulAdd(x, s{{$i}})
		{{- end}}
		a, b = unsafe.Add(a, call.aK), unsafe.Add(b, call.panelRow)
	}
	{{- range $i, $_ := count 8}}
	store{{$s.Name}}(call.c, {{$i}}*{{$w}}, s{{$i}})
	{{- end}}
	archsimd.ClearAVXUpperBits()
}

// long{{.Name}} is gemmKernel.long: a short row of results from long sums, such as what one query retrieves in attention, has two sums for
// the vector units. These are four of each: every fourth term is theirs, in 64 bytes of columns that lie side by side.
func long{{.Name}}(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7, x {{$v}}
	a, b, aK, bK := call.a, call.panel, call.aK, call.panelRow
	for range call.k / 4 {
		{{- range $i, $_ := count 4}}
		x = spread{{$s.Name}}(a, 0)
		s{{$i}} = load{{$s.Name}}(b, 0).MulAdd(x, s{{$i}})
		s{{plus $i 4}} = load{{$s.Name}}(b, {{$w}}).MulAdd(x, s{{plus $i 4}})
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		{{- end}}
	}
	for range call.k % 4 {
		x = spread{{.Name}}(a, 0)
		s0 = load{{.Name}}(b, 0).MulAdd(x, s0)
		s4 = load{{.Name}}(b, {{$w}}).MulAdd(x, s4)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
	}
	s0, s4 = s0.Add(s1).Add(s2.Add(s3)), s4.Add(s5).Add(s6.Add(s7))
	if call.add != 0 {
		s0, s4 = s0.Add(load{{.Name}}(call.c, 0)), s4.Add(load{{.Name}}(call.c, {{$w}}))
	}
	store{{.Name}}(call.c, 0, s0)
	store{{.Name}}(call.c, {{$w}}, s4)
	archsimd.ClearAVXUpperBits()
}
{{- end}}

// softmax{{.Name}} is attentionKernels.softmax.
func softmax{{.Name}}(c *attentionCall) {
	scale := archsimd.Broadcast{{.V}}({{.T}}(c.scale))
	end := c.width * {{.Size}}
	var zero {{$v}}
	for r := range c.rows {
		s, add := unsafe.Add(c.scores, r*c.rowBytes), unsafe.Add(c.add, r*c.addRow)
		m := archsimd.Broadcast{{.V}}(neutralmax{{.Name}})
		for i := 0; i < end; i += {{$w}} {
			x := load{{.Name}}(s, i).MulAdd(scale, load{{.Name}}(add, i))
			store{{.Name}}(s, i, x)
			m = m.Max(x)
		}
		bits := peakLanes{{.Name}}(m)
		m = archsimd.Broadcast{{.I}}(bits).As{{.V}}()
		m = zero.Merge(m, m.Equal(archsimd.Broadcast{{.V}}(neutralmax{{.Name}})))
		var sum {{$v}}
		for i := 0; i < end; i += {{$w}} {
			x := load{{.Name}}(s, i).Sub(m)
			{{expcode .}}
			store{{.Name}}(s, i, x)
			sum = sum.Add(x)
		}
		sum = archsimd.Broadcast{{.I}}(addLanes{{.Name}}(sum)).As{{.V}}()
		inverse := zero.Merge(archsimd.Broadcast{{.V}}(1).Div(sum), sum.Equal(zero))
		for i := 0; i < end; i += {{$w}} {
			store{{.Name}}(s, i, load{{.Name}}(s, i).Mul(inverse))
		}
		storeFirst{{.Name}}(c.largest, r, m)
		storeFirst{{.Name}}(c.inverse, r, inverse)
	}
	archsimd.ClearAVXUpperBits()
}

// storeFirst{{.Name}} stores the first element of x as element r.
func storeFirst{{.Name}}(p unsafe.Pointer, r int, x {{$v}}) {
	{{- if and .Wide .Single}}
	*(*int32)(unsafe.Add(p, r*4)) = x.GetLo().GetLo().AsInt32x4().GetElem(0)
	{{- else if .Wide}}
	*(*int64)(unsafe.Add(p, r*8)) = x.GetLo().GetLo().AsInt64x2().GetElem(0)
	{{- else if .Single}}
	*(*int32)(unsafe.Add(p, r*4)) = x.GetLo().AsInt32x4().GetElem(0)
	{{- else}}
	*(*int64)(unsafe.Add(p, r*8)) = x.GetLo().AsInt64x2().GetElem(0)
	{{- end}}
}

// softmaxGradient{{.Name}} is attentionKernels.gradient.
func softmaxGradient{{.Name}}(c *attentionCall) {
	scale := archsimd.Broadcast{{.V}}({{.T}}(c.scale))
	end := c.width * {{.Size}}
	for r := range c.rows {
		s, ds, add := unsafe.Add(c.scores, r*c.rowBytes), unsafe.Add(c.dScores, r*c.rowBytes), unsafe.Add(c.add, r*c.addRow)
		m, inverse := spread{{.Name}}(c.largest, r), spread{{.Name}}(c.inverse, r)
		var sum {{$v}}
		for i := 0; i < end; i += {{$w}} {
			x := load{{.Name}}(s, i).MulAdd(scale, load{{.Name}}(add, i)).Sub(m)
			{{expcode .}}
			x = x.Mul(inverse)
			store{{.Name}}(s, i, x)
			sum = x.MulAdd(load{{.Name}}(ds, i), sum)
		}
		sum = archsimd.Broadcast{{.I}}(addLanes{{.Name}}(sum)).As{{.V}}()
		for i := 0; i < end; i += {{$w}} {
			store{{.Name}}(ds, i, load{{.Name}}(ds, i).Sub(sum).Mul(load{{.Name}}(s, i)).Mul(scale))
		}
	}
	archsimd.ClearAVXUpperBits()
}

func addKernels{{.Name}}(s *kernelSet) {
	dtype := dtypes.{{if .Single}}Float32{{else}}Float64{{end}}
	{{- range $op := binaries}}
	s.elementwise[opKey{compute.OpType{{$op.Type}}, dtype}] = {{$op.Name}}{{$s.Name}}
	s.rowRight[opKey{compute.OpType{{$op.Type}}, dtype}] = {{$op.Name}}Right{{$s.Name}}
	s.rowLeft[opKey{compute.OpType{{$op.Type}}, dtype}] = {{$op.Name}}Left{{$s.Name}}
	{{- end}}
	{{- range $op := unaries}}
	s.elementwise[opKey{compute.OpType{{$op.Type}}, dtype}] = {{$op.Name}}{{$s.Name}}
	{{- end}}
	s.reduce[opKey{compute.OpTypeAdd, dtype}] = addRows{{.Name}}
	s.reduce[opKey{compute.OpTypeMax, dtype}] = maxRows{{.Name}}
	s.reduce[opKey{compute.OpTypeMin, dtype}] = minRows{{.Name}}
	s.accumulate[opKey{compute.OpTypeAdd, dtype}] = addColumns{{.Name}}
	s.accumulate[opKey{compute.OpTypeMax, dtype}] = maxColumns{{.Name}}
	s.accumulate[opKey{compute.OpTypeMin, dtype}] = minColumns{{.Name}}
	s.fill[{{.Size}}] = fill{{.Name}}
	s.attention[dtype] = &attentionKernels{lanes: {{.N}}, softmax: softmax{{.Name}}, gradient: softmaxGradient{{.Name}}}
	{{- if .Single}}
	s.convert[[2]dtypes.DType{dtypes.Uint32, dtype}] = uint32To{{.Name}}
	{{- end}}
	{{- if .Wide}}
	s.where[{{.Size}}] = where{{.Name}}
	{{- end}}
	{{- if and .Wide .Single}}
	{{- range $op := compares}}
	s.elementwise[opKey{compute.OpType{{compareType $op}}, dtype}] = {{$op}}{{$s.Name}}
	{{- end}}
	s.convert[[2]dtypes.DType{dtypes.Bool, dtype}] = boolTo{{.Name}}
	{{- end}}
}
`
