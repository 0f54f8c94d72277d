package kernel

import (
	"math"
	"math/rand"
	"strings"
	"testing"
)

// roundedKernels are all that this processor can run.
func roundedKernels() map[string]*Gemm {
	all := map[string]*Gemm{"portable": portableRounded()}
	for _, named := range []bool{false, true} {
		if g := bestRounded(Best().Level, named, detect()); g != nil {
			all[g.Name] = g
		}
	}
	for name, g := range otherPairs() {
		all[name] = g
	}
	return all
}

// asBFloat16 rounds in arithmetic: eight bits of significand, ties to even, the exponents of float32.
func asBFloat16(x float32) float64 {
	v := float64(x)
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	if math.Abs(v) < 0x1p-126 {
		return math.Copysign(0, v)
	}
	fraction, exponent := math.Frexp(v)
	if v = math.Ldexp(math.RoundToEven(fraction*256), exponent-8); math.Abs(v) >= 0x1p128 {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// TestRoundedMatmul compares products with those, in float64, of operands that the test rounds: within the bound for n
// additions in float32 in any order, n 2^-24 times the sum of what is added, without its sign.
// Caught when planted: terms of a pair exchanged; operands cut off instead of rounded; c not added, or not from the second block
// of terms on; a strip that is not whole left out; the sums of one column added to another's.
func TestRoundedMatmul(t *testing.T) {
	for name, kernel := range roundedKernels() {
		t.Run(name, func(t *testing.T) { compareRounded(t, kernel) })
	}
}

func compareRounded(t *testing.T, kernel *Gemm) {
	rng := rand.New(rand.NewSource(5))
	for i := range 60 {
		m, n, k := 1+rng.Intn(70), 1+rng.Intn(100), 1+rng.Intn(100)
		switch i % 10 {
		case 0:
			m, k = 1+rng.Intn(40), 500+rng.Intn(600)
		case 1:
			m, n = 380+rng.Intn(30), 1+rng.Intn(40)
		case 2:
			m, n = 32*(1+rng.Intn(3)), 32*(1+rng.Intn(3))
		case 3:
			m, n, k = 32*(1+rng.Intn(3)), 32*(1+rng.Intn(3)), 32*(1+rng.Intn(20))
		}
		g := Matmul{M: m, N: n, K: k, CRow: 4 * n, Kernel: kernel}
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
		for r := range m {
			for j := range n {
				want, size := start, start
				for l := range k {
					x := asBFloat16(a[(r*g.ARow+l*g.AK)/4]) * asBFloat16(b[(l*g.BK+j*g.BN)/4])
					want, size = want+x, size+math.Abs(x)
				}
				if !(math.Abs(float64(c[r*n+j])-want) <= float64(k+1)*0x1p-24*size) {
					t.Fatalf("%dx%dx%d (%+v): element %d, %d is %v, want %v", m, k, n, g, r, j, c[r*n+j], want)
				}
			}
		}
		if c[m*n] != 7 {
			t.Fatalf("%dx%dx%d writes behind its end", m, k, n)
		}
	}
}

// drawStrided draws a matrix stored by rows, by columns, or with gaps. Strides in bytes.
func drawStrided(rng *rand.Rand, rows, cols int) (values []float32, row, col int) {
	switch rng.Intn(5) {
	case 0, 1:
		return draw[float32](rng, rows*cols, false), 4 * cols, 4
	case 2, 3:
		return draw[float32](rng, rows*cols, false), 4, 4 * rows
	}
	return draw[float32](rng, rows*cols*2, false), 8 * cols, 8
}

// TestRoundedSpecial: what is not finite stays in its row and column, padding spoils nothing, denormals count as zero, ties go
// to even, and what is beyond the largest bfloat16 becomes infinite.
// Caught when planted: ties rounded up; what is no number becoming infinite; denormals kept.
func TestRoundedSpecial(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	tie := math.Float32frombits
	for name, kernel := range roundedKernels() {
		for _, c := range []struct{ x, y, want float32 }{
			{inf, 2, inf}, {-inf, 2, -inf}, {inf, 0, nan}, {nan, 1, nan}, {1, nan, nan}, {0, -inf, nan}, {math.Float32frombits(0xffc12345), 1, nan}, {math.Float32frombits(0x7f800001), 1, nan},
			{math.MaxFloat32, 1, inf}, {-math.MaxFloat32, 1, -inf}, {0x1.fep127, 1, 0x1.fep127},
			{0x1p-127, 0x1p127, 0}, {0x1p127, 0x1p-130, 0}, {0x1p-126, 0x1p126, 1}, {0x1.8p-149, 0x1p127, 0},
			{tie(0x3f808000), 1, 1}, {tie(0x3f818000), 1, tie(0x3f820000)}, {tie(0x3f808001), 1, tie(0x3f810000)}, {tie(0xbf807fff), 1, -1},
		} {
			const m, n, k = 37, 41, 33
			a, b, out := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
			for i := range a {
				a[i] = 0
			}
			for i := range b {
				b[i] = 1
			}
			a[35*k+32] = c.x
			for j := range n {
				b[32*n+j] = c.y
			}
			multiplyOnce(&Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel}, a, b, out, false)
			for i, got := range out {
				want := float32(0)
				switch {
				case i/n == 35:
					want = c.want
				case c.y-c.y != 0:
					want = nan // of 0 times what is not finite
				}
				if got != want && !(got != got && want != want) {
					t.Fatalf("%s: %v by %v: element %d is %v, want %v", name, c.x, c.y, i, got, want)
				}
			}
		}
	}
}

// TestRoundedRowsAreIndependent: a row has the same bits whatever the other rows hold and wherever it stands.
// Caught: blocks that are not whole added up before what was there.
func TestRoundedRowsAreIndependent(t *testing.T) {
	for name, kernel := range roundedKernels() {
		rng := rand.New(rand.NewSource(3))
		const m, n, k = 67, 37, 530
		row, b := draw[float32](rng, k, false), draw[float32](rng, k*n, false)
		var first []float32
		for at := 0; at < m; at += 3 {
			a, c := draw[float32](rng, m*k, true), make([]float32, m*n)
			copy(a[at*k:], row)
			multiplyOnce(&Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel}, a, b, c, false)
			got := c[at*n : (at+1)*n]
			if first == nil {
				first = append(first, got...)
			}
			for j := range got {
				if got[j] != first[j] {
					t.Fatalf("%s: column %d of the row is %v at row %d, %v at row 0", name, j, got[j], at, first[j])
				}
			}
		}
	}
}

// TestWithBFloat16: without the instructions there is one line that says what is missing; tiles are taken where there are some, unless
// the level was asked for; plain loops only where they were.
// Caught when planted: plain loops that were not asked for.
func TestWithBFloat16(t *testing.T) {
	for _, set := range sets {
		for _, named := range []bool{false, true} {
			got, err := set.withBFloat16(named, features{})
			switch {
			case set.Level == LevelScalar && named:
				if err != nil || got.Rounded == nil || !got.Rounded.Rounds() {
					t.Errorf("scalar: %+v, %v", got, err)
				}
			case err == nil || !strings.Contains(err.Error(), "products=bf16 needs a processor with AVX512_BF16") || strings.Contains(err.Error(), "\n"):
				t.Errorf("%s, named %t: %v", set.Level, named, err)
			}
		}
		if set.Rounded != nil {
			t.Errorf("%s rounds by itself", set.Level)
		}
	}
}
