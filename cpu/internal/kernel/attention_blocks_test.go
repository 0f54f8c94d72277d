package kernel

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// A softmax of two blocks, with rows and blocks of rows that are hidden, is that of the whole rows, and the gradient too. All kernels agree
// with loops in double precision. Caught when planted: the factor of a block that does not raise the largest; a largest of 0 after a hidden
// block; the sum without the factor.
func TestBlocksOfAttention(t *testing.T) {
	for _, set := range sets {
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareBlocks[float32](t, set.Attention[dtypes.Float32], 3e-6) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareBlocks[float64](t, set.Attention[dtypes.Float64], 1e-14) })
	}
}

func compareBlocks[T Float](t *testing.T, kernels *Attention, tolerance float64) {
	const rows, scale = 5, 0.3
	rng := rand.New(rand.NewSource(2))
	size := int(unsafe.Sizeof(T(0)))
	for _, groups := range []int{1, 3} {
		width := groups * kernels.BlockLanes
		stride := width + 16
		var scores, gradients, add [2][]T
		for i := range 2 {
			scores[i], gradients[i], add[i] = draw[T](rng, rows*stride, false), draw[T](rng, rows*stride, false), draw[T](rng, rows*stride, false)
			for j := range add[i] {
				// Row 1 is hidden, row 2 in the first block, row 3 in the second; row 4 is larger in the second block.
				if r := j / stride; r == 1 || r == 2 && i == 0 || r == 3 && i == 1 || rng.Intn(4) == 0 && width > 1 && j%stride > 0 {
					add[i][j] = T(math.Inf(-1))
				} else if r == 4 && i == 1 {
					add[i][j] += 9
				}
			}
		}
		largest, sums, dots := make([]T, rows), make([]T, rows), draw[T](rng, rows, false)
		for r := range largest {
			largest[r] = T(math.Inf(-1))
		}
		p, wantLargest, wantSum := wholeSoftmax(scores, add, rows, width, stride, scale)
		call := func(i int, scores []T, perRow []T) *AttentionCall {
			return &AttentionCall{Scores: pointer(scores), DScores: pointer(gradients[i]), Add: pointer(add[i]), Largest: pointer(largest), Inverse: pointer(sums),
				PerRow: pointer(perRow), Rows: rows, Width: width, RowBytes: stride * size, AddRow: stride * size, Scale: scale}
		}
		near := func(what string, r, j int, got T, want float64) {
			t.Helper()
			if !(math.Abs(float64(got)-want) <= tolerance*max(1, math.Abs(want))) {
				t.Fatalf("%s, width %d, row %d, element %d: %v, want %v", what, width, r, j, got, want)
			}
		}
		var blocks, factors [2][]T
		for i := range 2 {
			blocks[i], factors[i] = slices.Clone(scores[i]), make([]T, rows)
			kernels.BlockSoftmax(call(i, blocks[i], factors[i]))
			if !slices.Equal(blocks[i][width:stride], scores[i][width:stride]) {
				t.Errorf("width %d: written behind a row", width)
			}
		}
		for r := range rows {
			if math.IsInf(wantLargest[r], -1) != math.IsInf(float64(largest[r]), -1) {
				t.Fatalf("width %d, row %d: largest %v, want %v", width, r, largest[r], wantLargest[r])
			} else if !math.IsInf(wantLargest[r], -1) {
				near("largest", r, 0, largest[r], wantLargest[r])
			}
			near("sum", r, 0, sums[r], wantSum[r])
			for i := range 2 {
				for j := range width {
					x := blocks[i][r*stride+j]
					if i == 0 {
						x *= factors[1][r]
					}
					near(fmt.Sprint("exponential of block ", i), r, j, x, p[i][r*stride+j]*wantSum[r])
				}
			}
		}
		for r := range rows {
			if sums[r] != 0 {
				sums[r] = 1 / sums[r]
			} else {
				largest[r] = 0
			}
		}
		for i := range 2 {
			d := slices.Clone(gradients[i])
			kernels.BlockGradient(call(i, scores[i], dots))
			for r := range rows {
				for j := range width {
					near("probability", r, j, scores[i][r*stride+j], p[i][r*stride+j])
					near("gradient", r, j, gradients[i][r*stride+j], scale*p[i][r*stride+j]*float64(d[r*stride+j]-dots[r]))
				}
			}
		}
	}
}

// wholeSoftmax returns the softmax of rows in two blocks, with the largest element and the sum of each row.
func wholeSoftmax[T Float](scores, add [2][]T, rows, width, stride int, scale float64) (p [2][]float64, largest, sum []float64) {
	p = [2][]float64{make([]float64, rows*stride), make([]float64, rows*stride)}
	for r := range rows {
		maximum, total := math.Inf(-1), 0.0
		each := func(f func(i, at int)) {
			for i := range 2 {
				for j := range width {
					f(i, r*stride+j)
				}
			}
		}
		each(func(i, at int) {
			p[i][at] = float64(scores[i][at])*scale + float64(add[i][at])
			maximum = max(maximum, p[i][at])
		})
		each(func(i, at int) {
			if p[i][at] = math.Exp(p[i][at] - maximum); math.IsInf(maximum, -1) {
				p[i][at] = 0
			}
			total += p[i][at]
		})
		each(func(i, at int) { p[i][at] /= max(total, 1e-300) })
		largest, sum = append(largest, maximum), append(sum, total)
	}
	return p, largest, sum
}

// Weights of dropout are those of whole numbers, for every residue and every part of a vector.
func TestDropoutWeights(t *testing.T) {
	for _, set := range sets {
		t.Run(string(set.Level)+"/float32", func(t *testing.T) { compareDropout[float32](t, set.Attention[dtypes.Float32].Dropout) })
		t.Run(string(set.Level)+"/float64", func(t *testing.T) { compareDropout[float64](t, set.Attention[dtypes.Float64].Dropout) })
	}
}

func compareDropout[T Float](t *testing.T, weights Func) {
	const prime, rows = 2887, 4
	rng := rand.New(rand.NewSource(3))
	for _, test := range []struct{ cols, largest int }{{1, 0}, {7, 300}, {33, 1442}, {2 * prime, 433}} {
		row, column := make([]T, 2*rows), make([]T, 3*test.cols)
		for i := range row {
			row[i] = T(prime - 1 - rng.Intn(prime)*i%prime) // the first are the largest
		}
		for i := range column {
			column[i] = T(rng.Intn(prime))
		}
		column[0], column[test.cols], column[2*test.cols] = prime-1, prime-1, prime-1 // the largest hash
		for j := prime; j < test.cols; j++ {
			column[j], column[test.cols+j], column[2*test.cols+j] = 0, 0, T(j-prime) // every residue
		}
		numbers := []T{-prime, T(1) / prime, T(test.largest), 1.25}
		got := make([]T, rows*test.cols+1)
		weights(pointer(got), pointer(row), pointer(column), pointer(numbers), rows, test.cols)
		for r := range rows {
			for j := range test.cols {
				hash := (int(row[2*r])*int(column[j]) + int(row[2*r+1])*int(column[test.cols+j]) + int(column[2*test.cols+j])) % prime
				want := T(1.25)
				if min(hash, prime-hash) <= test.largest {
					want = 0
				}
				if got[r*test.cols+j] != want {
					t.Fatalf("%d columns, row %d, column %d, hash %d: %v, want %v", test.cols, r, j, hash, got[r*test.cols+j], want)
				}
			}
		}
		if got[rows*test.cols] != 0 {
			t.Errorf("%d columns: written behind the last", test.cols)
		}
	}
}
