package kernel

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// special values meet every kernel.
var special = []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-30, -1e30, 88, -87.5, 0.5, -2.5, 1e-7}

// draw fills n values, a third of them special if wild.
func draw[T Float](rng *rand.Rand, n int, wild bool) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(rng.NormFloat64() * 3)
		if wild && rng.Intn(3) == 0 {
			out[i] = T(special[rng.Intn(len(special))])
		}
	}
	return out
}

// near tells whether x is y up to units in the last place, counted from 1 for small numbers.
func near[T Float](x, y T, units float64) bool {
	if x == y || x != x && y != y {
		return true
	}
	epsilon := 1.2e-7
	if unsafe.Sizeof(x) == 8 {
		epsilon = 2.3e-16
	}
	return math.Abs(float64(x-y)) <= units*epsilon*max(math.Abs(float64(y)), 1e-30)
}

func pointer[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// TestKernels compares every element-wise kernel and reduction of every level with the portable ones.
func TestKernels(t *testing.T) {
	for _, set := range sets {
		if set.Level == LevelScalar {
			continue
		}
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareKernels[float32](t, set, dtypes.Float32) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareKernels[float64](t, set, dtypes.Float64) })
	}
}

// tiles are rows and columns around the widths of registers.
var tiles = [][2]int{{1, 1}, {1, 7}, {3, 8}, {2, 15}, {1, 16}, {5, 17}, {2, 31}, {3, 64}, {2, 65}, {7, 128}, {1, 200}, {4, 3}}

func compareKernels[T Float](t *testing.T, set *Set, dtype dtypes.DType) {
	rng := rand.New(rand.NewSource(1))
	for _, tile := range tiles {
		rows, cols := tile[0], tile[1]
		n := rows * cols
		x, y := draw[T](rng, n, true), draw[T](rng, n, true)
		each := func(kind string, got, want map[Key]Func, sizeOf func(key Key) int, left, right []T, units float64) {
			for key, f := range got {
				if key.DType != dtype || isComparison(key.Op) {
					continue
				}
				m := sizeOf(key)
				a, b := make([]T, n+1), make([]T, n+1)
				reference := want[key]
				f(pointer(a), pointer(left), pointer(right), nil, rows, cols)
				reference(pointer(b), pointer(left), pointer(right), nil, rows, cols)
				for i := range m {
					if !near(a[i], b[i], units) {
						t.Errorf("%s %s %dx%d: element %d is %v, want %v (of %v, %v)", kind, key.Op, rows, cols, i, a[i], b[i], at(left, i), at(right, i))
						break
					}
				}
				if a[m] != 0 {
					t.Errorf("%s %s %dx%d writes behind its end", kind, key.Op, rows, cols)
				}
			}
		}
		all := func(Key) int { return n }
		each("elementwise", set.Elementwise, Portable.Elementwise, all, x, y, 4)
		row := draw[T](rng, rows, true)
		each("right", set.RowRight, widened(rowOperandRight), all, x, row, 1)
		each("left", set.RowLeft, widened(rowOperandLeft), all, row, y, 1)
		tame := draw[T](rng, n, false)
		perRow := func(Key) int { return rows }
		for _, op := range []compute.OpType{compute.OpTypeAdd, compute.OpTypeMax, compute.OpTypeMin} {
			key := Key{op, dtype}
			one := map[Key]Func{key: set.Reduce[key]}
			each("reduce", one, Portable.Reduce, perRow, tame, nil, 1e5)
			if op != compute.OpTypeAdd {
				each("reduce", one, Portable.Reduce, perRow, x, nil, 0)
			}
			each("accumulate", map[Key]Func{key: set.Accumulate[key]}, Portable.Accumulate, func(Key) int { return cols }, tame, nil, 1e5)
		}
		comparePairs(t, set, dtype, x, y, draw[T](rng, n, true), rows, cols)
		compareMoves(t, set, x, y, rows, cols)
	}
}

// comparePairs holds kernels of two operations to the two kernels one after the other, to the last bit.
func comparePairs[T Float](t *testing.T, set *Set, dtype dtypes.DType, a, b, c []T, rows, cols int) {
	n := rows * cols
	for pair, f := range set.Pairs {
		if pair.DType != dtype {
			continue
		}
		got, want := make([]T, n+1), make([]T, n+1)
		f(pointer(got), pointer(a), pointer(b), pointer(c), rows, cols)
		set.Elementwise[Key{pair.First, dtype}](pointer(want), pointer(a), pointer(b), nil, rows, cols)
		set.Elementwise[Key{pair.Second, dtype}](pointer(want), pointer(want), pointer(c), nil, rows, cols)
		for i := range got {
			if got[i] != want[i] && (got[i] == got[i] || want[i] == want[i]) {
				t.Errorf("%s then %s %dx%d: element %d is %v, want %v", pair.First, pair.Second, rows, cols, i, got[i], want[i])
				break
			}
		}
	}
}

// TestConvertBits compares the conversion of random bits with Go's, which rounds once, to even.
func TestConvertBits(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	bits := []uint32{0, 1, 1 << 24, 1<<24 + 1, 1<<24 + 3, 1 << 31, math.MaxUint32, 0x80000080, 0x80000081, 0x7fffffff, 0xffff0000, 0xffff}
	for len(bits) < 10_007 {
		bits = append(bits, rng.Uint32()>>rng.Intn(32))
	}
	for _, set := range sets {
		got := make([]float32, len(bits))
		set.Convert[[2]dtypes.DType{dtypes.Uint32, dtypes.Float32}](pointer(got), pointer(bits), nil, nil, 1, len(bits))
		for i, b := range bits {
			if got[i] != float32(b) {
				t.Fatalf("%s: %d becomes %v, want %v", set.Level, b, got[i], float32(b))
			}
		}
	}
}

func at[T any](s []T, i int) any {
	if i < len(s) {
		return s[i]
	}
	return nil
}

func isComparison(op compute.OpType) bool {
	switch op {
	case compute.OpTypeEqual, compute.OpTypeNotEqual, compute.OpTypeLessThan, compute.OpTypeLessOrEqual,
		compute.OpTypeGreaterThan, compute.OpTypeGreaterOrEqual, compute.OpTypeIsFinite:
		return true
	}
	return false
}

// widened makes kernels with one row operand of the portable full ones.
func widened(form func(f Func, size int) Func) map[Key]Func {
	out := make(map[Key]Func)
	for key, f := range Portable.Elementwise {
		out[key] = form(f, key.DType.Size())
	}
	return out
}

func rowOperandRight(f Func, size int) Func {
	return func(dst, a, b, _ unsafe.Pointer, rows, cols int) {
		full := make([]byte, rows*cols*size)
		Portable.Fill[size](pointer(full), b, nil, nil, rows, cols)
		f(dst, a, pointer(full), nil, rows, cols)
	}
}

func rowOperandLeft(f Func, size int) Func {
	return func(dst, a, b, _ unsafe.Pointer, rows, cols int) {
		full := make([]byte, rows*cols*size)
		Portable.Fill[size](pointer(full), a, nil, nil, rows, cols)
		f(dst, pointer(full), b, nil, rows, cols)
	}
}

// compareMoves checks comparisons, selection, conversion and filling, whose results are exact.
func compareMoves[T Float](t *testing.T, set *Set, x, y []T, rows, cols int) {
	n := rows * cols
	size := int(unsafe.Sizeof(x[0]))
	dtype := dtypes.FromGenericsType[T]()
	same := func(what string, got, want Func, bytes int, a, b, c unsafe.Pointer) {
		u, v := make([]byte, 8*n+1), make([]byte, 8*n+1)
		got(pointer(u), a, b, c, rows, cols)
		want(pointer(v), a, b, c, rows, cols)
		for i := range u {
			if u[i] != v[i] {
				t.Errorf("%s %dx%d: byte %d of %d is %d, want %d", what, rows, cols, i, bytes, u[i], v[i])
				return
			}
		}
	}
	cond := make([]bool, n)
	for i := range cond {
		cond[i] = x[i] > y[i]
	}
	for key, f := range set.Elementwise {
		if key.DType == dtype && isComparison(key.Op) {
			same(key.Op.String(), f, Portable.Elementwise[key], n, pointer(x), pointer(y), nil)
		}
	}
	i, j := make([]int32, n), make([]int32, n)
	for k := range i {
		i[k], j[k] = int32(k%5-2), int32(k%3-1)
	}
	for key, f := range set.Elementwise {
		if key.DType == dtypes.Int32 && isComparison(key.Op) {
			same(key.Op.String()+" of integers", f, Portable.Elementwise[key], n, pointer(i), pointer(j), nil)
		}
	}
	same("where", set.Where[size], Portable.Where[size], n*size, pointer(cond), pointer(x), pointer(y))
	same("fill", set.Fill[size], Portable.Fill[size], n*size, pointer(x), nil, nil)
	key := [2]dtypes.DType{dtypes.Bool, dtype}
	same("bool to number", set.Convert[key], Portable.Convert[key], n*size, pointer(cond), nil, nil)
}

// Conversion from float32 to float64 is exact, at all numbers of elements around whole vectors, and writes no more than those.
// Caught when planted: a vector that advances too far; elements behind the last one.
func TestWiden(t *testing.T) {
	key := [2]dtypes.DType{dtypes.Float32, dtypes.Float64}
	for _, set := range sets {
		for n := range 35 {
			from, to := make([]float32, n), slices.Repeat([]float64{7}, n+9)
			for i := range from {
				from[i] = float32(i-5) / 3
			}
			if n > 6 {
				from[2], from[n-1], from[5] = float32(math.Inf(-1)), math.SmallestNonzeroFloat32, math.MaxFloat32
			}
			set.Convert[key](pointer(to), unsafe.Pointer(unsafe.SliceData(from)), nil, nil, 1, n)
			for i, got := range to {
				if want := 7.0; i < n && got != float64(from[i]) || i >= n && got != want {
					t.Fatalf("%s: element %d of %d is %v", set.Level, i, n, got)
				}
			}
		}
	}
}

// TestMatmul compares matrix products of every level with plain loops: whole and partial tiles, operands stored by
// rows and columns, packed and read in place, sums longer than a block, single rows.
// Caught when planted: sums of gemvDots in another order; one eight of columns too few.
func TestMatmul(t *testing.T) {
	for _, set := range sets {
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareMatmul[float32](t, set.Gemm[dtypes.Float32]) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareMatmul[float64](t, set.Gemm[dtypes.Float64]) })
	}
}

func compareMatmul[T Float](t *testing.T, kernel *Gemm) {
	rng := rand.New(rand.NewSource(2))
	size, dots, ragged := kernel.size, 0, 0
	for i := range 120 {
		m, n, k := 1+rng.Intn(40), 1+rng.Intn(80), 1+rng.Intn(40)
		switch i % 10 {
		case 0:
			k = 250 + rng.Intn(400)
		case 1:
			m = 380 + rng.Intn(30)
		case 2:
			n = kernel.NR * (1 + rng.Intn(4))
		case 3, 4: // a single row
			m, n, k = 1, 8*(1+rng.Intn(8)), 8*(1+rng.Intn(20))
		case 5, 6: // many columns, the last ones no whole vector
			m, n, k = 1+rng.Intn(14), (4+rng.Intn(5))*kernel.NR+1+rng.Intn(kernel.NR), 1+rng.Intn(600)
		}
		a, b := draw[T](rng, m*k, false), draw[T](rng, k*n, false)
		g := Matmul{M: m, N: n, K: k, ARow: k * size, AK: size, BK: n * size, BN: size, CRow: n * size, Kernel: kernel, SplitK: m == 1, PackA: rng.Intn(2) == 0}
		aAt, bAt := func(r, c int) T { return a[r*k+c] }, func(r, c int) T { return b[r*n+c] }
		if rng.Intn(2) == 0 {
			g.ARow, g.AK, g.PackA = size, m*size, rng.Intn(2) == 0
			aAt = func(r, c int) T { return a[c*m+r] }
		}
		if rng.Intn(2) == 0 {
			g.BK, g.BN = size, k*size
			bAt = func(r, c int) T { return b[c*k+r] }
		}
		if (g.CanReadDirectly() || g.PaysToReadDirectly()) && rng.Intn(2) == 0 {
			g.Reading = InPlace
		}
		if g.raggedPanel() >= 0 {
			ragged++
		}
		c, start := make([]T, m*n), T(0)
		accumulate := rng.Intn(2) == 0
		if g.CanDot() {
			g.Reading, accumulate = Dots, false
			dots++
		}
		if accumulate {
			start = 2
			for j := range c {
				c[j] = start
			}
		}
		multiplyOnce(&g, a, b, c, accumulate)
		for r := range m {
			for j := range n {
				want := start
				for l := range k {
					want += aAt(r, l) * bAt(l, j)
				}
				if diff := math.Abs(float64(c[r*n+j] - want)); !(diff <= 1e-5*float64(k)*9) || size == 8 && !(diff <= 1e-13*float64(k)*9) {
					t.Fatalf("%dx%dx%d (%+v): element %d, %d is %v, want %v", m, k, n, g, r, j, c[r*n+j], want)
				}
			}
		}
	}
	if kernel.gemvDots != nil && dots < 4 {
		t.Errorf("gemvDots was used %d times of 120", dots)
	}
	if kernel.lanes > 1 && !kernel.Rounds() && ragged < 2 {
		t.Errorf("%d products of 120 had a packed panel beside others that are read in place", ragged)
	}
}

// multiplyOnce multiplies, and panics if memory behind that of PackedBytes or StripBytes is written. The call has numbers that another product left.
func multiplyOnce[T Float](g *Matmul, a, b, c []T, accumulate bool) {
	const guard = 64
	room := func(bytes int) []T { return slices.Repeat([]T{12345}, (bytes+g.Kernel.size-1)/g.Kernel.size+guard) }
	packed, strips := room(g.PackedBytes()), room(g.StripBytes())
	right := pointer(b)
	if !g.Direct() {
		g.Pack(pointer(packed), right, 0, g.Panels())
		right = pointer(packed)
	}
	call := GemmCall{strips: 99, strip: 1 << 20, panels: 1 << 20, add: 7}
	g.Multiply(&call, pointer(a), right, pointer(c), pointer(strips), g.All(), accumulate)
	for i := range guard {
		if packed[len(packed)-1-i] != 12345 || strips[len(strips)-1-i] != 12345 {
			panic(fmt.Sprintf("%+v writes behind its memory", g))
		}
	}
}

// TestRowsAreIndependent: a row of a product has the same bits whatever the other rows hold and wherever it stands.
func TestRowsAreIndependent(t *testing.T) {
	for _, set := range sets {
		kernel := set.Gemm[dtypes.Float32]
		rng := rand.New(rand.NewSource(3))
		const m, n, k = 31, 37, 300
		row, b := draw[float32](rng, k, false), draw[float32](rng, k*n, false)
		var first []float32
		for at := range m {
			a := draw[float32](rng, m*k, true)
			copy(a[at*k:], row)
			c := make([]float32, m*n)
			multiplyOnce(&Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel}, a, b, c, false)
			got := c[at*n : (at+1)*n]
			if first == nil {
				first = append(first, got...)
			}
			for j := range got {
				if got[j] != first[j] {
					t.Fatalf("%s: column %d of the row is %v at row %d, %v at row 0", set.Level, j, got[j], at, first[j])
				}
			}
		}
	}
}

// TestExponential bounds the error of the approximations over their range.
func TestExponential(t *testing.T) {
	for _, set := range sets {
		t.Run(fmt.Sprint(set.Level), func(t *testing.T) {
			const n = 20000
			x32, y32 := make([]float32, n), make([]float32, n)
			x64, y64 := make([]float64, n), make([]float64, n)
			for i := range n {
				x32[i] = float32(i-n/2) * 103 / (n / 2)
				x64[i] = float64(i-n/2) * 744 / (n / 2)
			}
			set.Elementwise[Key{compute.OpTypeExp, dtypes.Float32}](pointer(y32), pointer(x32), nil, nil, 1, n)
			set.Elementwise[Key{compute.OpTypeExp, dtypes.Float64}](pointer(y64), pointer(x64), nil, nil, 1, n)
			for i := range n {
				if want := float32(math.Exp(float64(x32[i]))); !near(y32[i], want, 2) && math.Abs(float64(y32[i]-want)) > 1e-44 {
					t.Fatalf("exp(%v) = %v, want %v", x32[i], y32[i], want)
				}
				if want := math.Exp(x64[i]); !near(y64[i], want, 4) && math.Abs(y64[i]-want) > 1e-322 {
					t.Fatalf("exp(%v) = %v, want %v", x64[i], y64[i], want)
				}
			}
		})
	}
}

// TestTangent bounds the error of the approximations, near 0 and where both meet.
func TestTangent(t *testing.T) {
	for _, set := range sets {
		t.Run(fmt.Sprint(set.Level), func(t *testing.T) {
			const n = 20000
			x32, y32 := make([]float32, n), make([]float32, n)
			x64, y64 := make([]float64, n), make([]float64, n)
			for i := range n {
				x64[i] = math.Copysign(math.Pow(float64(i-n/2)/(n/2), 4)*25, float64(i-n/2)) // dense near 0
				x32[i] = float32(x64[i])
			}
			set.Elementwise[Key{compute.OpTypeTanh, dtypes.Float32}](pointer(y32), pointer(x32), nil, nil, 1, n)
			set.Elementwise[Key{compute.OpTypeTanh, dtypes.Float64}](pointer(y64), pointer(x64), nil, nil, 1, n)
			for i := range n {
				if want := float32(math.Tanh(float64(x32[i]))); !near(y32[i], want, 2) {
					t.Fatalf("tanh(%v) = %v, want %v", x32[i], y32[i], want)
				}
				if want := math.Tanh(x64[i]); !near(y64[i], want, 4) {
					t.Fatalf("tanh(%v) = %v, want %v", x64[i], y64[i], want)
				}
			}
		})
	}
}
