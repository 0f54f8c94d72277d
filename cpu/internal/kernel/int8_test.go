package kernel

import (
	"math"
	"math/rand"
	"testing"
)

// An int8Kernel is a kernel with the largest magnitude that it gives the numbers of a column.
type int8Kernel struct {
	*Gemm
	whole float64
}

// int8Kernels are all that this processor can run.
func int8Kernels() map[string]int8Kernel {
	all := map[string]int8Kernel{"portable": {portableInt8(127), 127}, "portable, 7 bits": {portableInt8(63), 63}}
	for _, s := range sets {
		if g := bestInt8(s.Level); g != nil {
			all[g.Name] = int8Kernel{g, map[Level]float64{levelAVX512: 127, levelAVX2: 63}[s.Level]}
		}
	}
	return all
}

// asInt8 rounds numbers to whole multiples of the largest magnitude divided by steps, in the arithmetic of float32 for the factor alone.
func asInt8(values []float64, steps float64) (whole []float64, unit float64) {
	largest := 0.0
	for _, v := range values {
		largest = max(largest, math.Abs(v))
	}
	whole = make([]float64, len(values))
	if largest == 0 {
		return whole, 0
	}
	factor := float32(float32(steps) / float32(largest))
	for i, v := range values {
		whole[i] = math.RoundToEven(float64(float32(v) * factor))
	}
	return whole, largest / steps
}

// Products are those of operands that the test rounds, in exact arithmetic, within the rounding of three factors and of the sum of blocks.
// Caught when planted: a column that starts at the sum of another; terms of a word exchanged; the scale of the row before; scales of the first
// block for all blocks; c not added; a remainder of fewer than 16 terms not looked at for the largest; with AVX2, 66 as the largest magnitude of a
// column, which is too much for 16 bits, and the words of packed rows in another order.
func TestInt8Matmul(t *testing.T) {
	for name, kernel := range int8Kernels() {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewSource(5))
			for i := range 80 {
				m, n, k := 1+rng.Intn(30), 1+rng.Intn(200), 1+rng.Intn(100)
				switch i % 8 {
				case 0:
					m, k = 1+rng.Intn(14), 500+rng.Intn(600)
				case 1:
					m, n = 760+rng.Intn(30), 1+rng.Intn(40)
				case 2:
					m = 1
				}
				checkInt8(t, rng, kernel, m, n, k)
			}
		})
	}
}

func checkInt8(t *testing.T, rng *rand.Rand, kernel int8Kernel, m, n, k int) {
	t.Helper()
	g := Matmul{M: m, N: n, K: k, CRow: 4 * n, Kernel: kernel.Gemm}
	var a, b []float32
	a, g.ARow, g.AK = drawStrided(rng, m, k)
	b, g.BK, g.BN = drawStrided(rng, k, n)
	c := make([]float32, m*n+1)
	c[m*n] = 7 // not to be touched
	start := 0.0
	if rng.Intn(2) == 0 {
		start = 2
		for j := range c[:m*n] {
			c[j] = 2
		}
	}
	multiplyOnce(&g, a, b, c, start != 0)
	want, size := make([]float64, m*n), make([]float64, m*n)
	for i := range want {
		want[i], size[i] = start, start
	}
	for k0 := 0; k0 < k; k0 += BlockK {
		kn := min(BlockK, k-k0)
		columns, units := make([][]float64, n), make([]float64, n)
		for j := range columns {
			column := make([]float64, kn)
			for l := range column {
				column[l] = float64(b[((k0+l)*g.BK+j*g.BN)/4])
			}
			columns[j], units[j] = asInt8(column, kernel.whole)
		}
		for r := range m {
			row := make([]float64, kn)
			for l := range row {
				row[l] = float64(a[(r*g.ARow+(k0+l)*g.AK)/4])
			}
			row, unit := asInt8(row, 127)
			for j, column := range columns {
				sum := 0.0
				for l, x := range row {
					sum += x * column[l]
				}
				want[r*n+j] += sum * unit * units[j]
				size[r*n+j] += math.Abs(sum * unit * units[j])
			}
		}
	}
	for i, w := range want {
		if !(math.Abs(float64(c[i])-w) <= 8*0x1p-24*size[i]) {
			t.Fatalf("%dx%dx%d (%+v): element %d, %d is %v, want %v", m, k, n, g, i/n, i%n, c[i], w)
		}
	}
	if c[m*n] != 7 {
		t.Fatalf("%dx%dx%d writes behind its end", m, k, n)
	}
}

// What is not finite gives results that are not finite in its own row or column alone; rows and columns of zeros and of subnormal numbers give 0;
// the largest numbers times small ones give what they give in float32.
// Caught when planted: the largest magnitude found by comparing numbers, which passes over NaN.
func TestInt8Special(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	const m, n, k = 14, 37, 41
	for name, kernel := range int8Kernels() {
		for _, x := range []float32{inf, -inf, nan, 0, 0x1p-149, 0x1p-140, 0x1p-126, math.MaxFloat32} {
			for _, left := range []bool{true, false} {
				a, b, out := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
				for i := range a {
					a[i] = 1
				}
				for i := range b {
					b[i] = 1
				}
				for l := range k {
					switch {
					case x-x != 0 && l != 40: // a single one
					case left:
						a[13*k+l] = x
					default:
						b[l*n+35] = x
					}
				}
				multiplyOnce(&Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel.Gemm}, a, b, out, false)
				for i, got := range out {
					here := left && i/n == 13 || !left && i%n == 35
					exact := float64(k)
					if here {
						exact = float64(x) * k
					}
					switch {
					case here && x-x != 0:
						if got-got == 0 {
							t.Fatalf("%s: %v: element %d is %v, want what is not finite", name, x, i, got)
						}
					case math.Abs(exact) < 0x1p-115: // too small for its scale
						if math.Abs(float64(got)) > 0x1p-115 {
							t.Fatalf("%s: %v: element %d is %v, want about 0", name, x, i, got)
						}
					case exact > math.MaxFloat32:
						if !math.IsInf(float64(got), 1) {
							t.Fatalf("%s: %v: element %d is %v, want infinity", name, x, i, got)
						}
					case !(math.Abs(float64(got)-exact) <= 1e-6*math.Abs(exact)):
						t.Fatalf("%s: %v: element %d is %v, want %v", name, x, i, got, exact)
					}
				}
			}
		}
	}
}

// All kernels that round alike give the same bits, in every row of any product.
// Caught when planted: the scale of the row multiplied before that of the column.
func TestInt8KernelsAgree(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	for range 20 {
		m, n, k := 1+rng.Intn(40), 1+rng.Intn(150), 1+rng.Intn(1200)
		a, b := draw[float32](rng, m*k, false), draw[float32](rng, k*n, false)
		first := map[float64][]float32{} // by the largest magnitude of a column
		for name, kernel := range int8Kernels() {
			c := make([]float32, m*n)
			multiplyOnce(&Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel.Gemm}, a, b, c, false)
			if first[kernel.whole] == nil {
				first[kernel.whole] = c
			}
			for i, want := range first[kernel.whole] {
				if c[i] != want {
					t.Fatalf("%s, %dx%dx%d: element %d is %v, in another kernel %v", name, m, k, n, i, c[i], want)
				}
			}
		}
		row := make([]float32, n) // the last row by itself
		for name, kernel := range int8Kernels() {
			multiplyOnce(&Matmul{M: 1, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel.Gemm}, a[(m-1)*k:], b, row, false)
			for j := range row {
				if want := first[kernel.whole][(m-1)*n+j]; row[j] != want {
					t.Fatalf("%s, %dx%dx%d: column %d of the last row alone is %v, with others %v", name, m, k, n, j, row[j], want)
				}
			}
		}
	}
}
