package kernel

import (
	"math"
	"unsafe"
)

// AttentionCall holds the arguments of the kernels on rows of scores. Matrices have rowBytes per row, of which width elements are
// used; add has addRow bytes per row (0: the same for all).
type AttentionCall struct {
	Scores, DScores, Add unsafe.Pointer
	Largest, Inverse     unsafe.Pointer
	Rows, Width          int
	RowBytes, AddRow     int
	Scale                float64
	PerRow               unsafe.Pointer // one element a row, of the kernels for blocks
}

// Attention holds the parts of attention between the matrix products. width is a multiple of lanes.
type Attention struct {
	Lanes int

	// Softmax replaces scores by p = exp(scale*scores + add - largest) * inverse, where inverse makes the sum of a row one, and is 0
	// for a row that contains only -inf.
	Softmax func(c *AttentionCall)

	// Gradient replaces scores by p as above, with largest and inverse given, and dScores by
	// scale * p * (dScores - sum of p * dScores over the row).
	Gradient func(c *AttentionCall)

	// Softmax and gradient over rows whose columns come in blocks. width is a multiple of BlockLanes.
	BlockLanes int

	// BlockSoftmax adds a block to a softmax: with x = scale*scores + add, it raises largest to the largest x of the row, replaces scores
	// by exp(x - largest), and perRow by exp of the largest before minus the largest, the factor that sums of earlier blocks lack; inverse
	// is the sum of the row's exponentials. Before the first block largest is -inf and the sum 0; largest stays -inf while all x are.
	BlockSoftmax func(c *AttentionCall)

	// BlockGradient replaces scores by p = exp(scale*scores + add - largest) * inverse, with largest and inverse of the whole row, and
	// dScores by scale * p * (dScores - perRow).
	BlockGradient func(c *AttentionCall)

	// Dropout writes the weights 0 and c[3] of dropout: with row keys a [rows, 2] and column keys b [3, cols], the hash of an element is
	//
	//	h = a[r,0] b[0,j] + a[r,1] b[1,j] + b[2,j]    modulo -c[0], between -(-c[0]-1)/2 and (-c[0]-1)/2
	//
	// and the weight is 0 if |h| is at most c[2]. c[1] is the inverse of -c[0]. All these numbers are whole but c[1] and c[3].
	Dropout Func
}

// portableAttention returns the kernels in plain loops.
func portableAttention[T Float]() *Attention {
	return &Attention{
		Lanes: 1, Softmax: softmaxRows[T], Gradient: softmaxGradient[T],
		BlockLanes: 1, BlockSoftmax: blockSoftmax[T], BlockGradient: blockGradient[T], Dropout: dropoutWeights[T],
	}
}

func softmaxRows[T Float](c *AttentionCall) {
	scale := T(c.Scale)
	for r := range c.Rows {
		s := slice[T](unsafe.Add(c.Scores, r*c.RowBytes), c.Width)
		add := slice[T](unsafe.Add(c.Add, r*c.AddRow), c.Width)
		largest := T(math.Inf(-1))
		for j := range s {
			s[j] = s[j]*scale + add[j]
			largest = max(largest, s[j])
		}
		if math.IsInf(float64(largest), -1) {
			largest = 0
		}
		var sum T
		for j := range s {
			s[j] = T(math.Exp(float64(s[j] - largest)))
			sum += s[j]
		}
		var inverse T
		if sum != 0 {
			inverse = 1 / sum
		}
		for j := range s {
			s[j] *= inverse
		}
		slice[T](c.Largest, c.Rows)[r], slice[T](c.Inverse, c.Rows)[r] = largest, inverse
	}
}

func softmaxGradient[T Float](c *AttentionCall) {
	scale := T(c.Scale)
	for r := range c.Rows {
		s := slice[T](unsafe.Add(c.Scores, r*c.RowBytes), c.Width)
		d := slice[T](unsafe.Add(c.DScores, r*c.RowBytes), c.Width)
		add := slice[T](unsafe.Add(c.Add, r*c.AddRow), c.Width)
		largest, inverse := slice[T](c.Largest, c.Rows)[r], slice[T](c.Inverse, c.Rows)[r]
		var sum T
		for j := range s {
			s[j] = T(math.Exp(float64(s[j]*scale+add[j]-largest))) * inverse
			sum += s[j] * d[j]
		}
		for j := range s {
			d[j] = scale * s[j] * (d[j] - sum)
		}
	}
}

func blockSoftmax[T Float](c *AttentionCall) {
	scale := T(c.Scale)
	for r := range c.Rows {
		s := slice[T](unsafe.Add(c.Scores, r*c.RowBytes), c.Width)
		add := slice[T](unsafe.Add(c.Add, r*c.AddRow), c.Width)
		before := slice[T](c.Largest, c.Rows)[r]
		largest := before
		for j := range s {
			s[j] = s[j]*scale + add[j]
			largest = max(largest, s[j])
		}
		slice[T](c.Largest, c.Rows)[r] = largest
		if math.IsInf(float64(largest), -1) {
			largest = 0
		}
		var sum T
		for j := range s {
			s[j] = T(math.Exp(float64(s[j] - largest)))
			sum += s[j]
		}
		factor := T(math.Exp(float64(before - largest)))
		slice[T](c.PerRow, c.Rows)[r] = factor
		slice[T](c.Inverse, c.Rows)[r] = slice[T](c.Inverse, c.Rows)[r]*factor + sum
	}
}

func blockGradient[T Float](c *AttentionCall) {
	scale := T(c.Scale)
	for r := range c.Rows {
		s := slice[T](unsafe.Add(c.Scores, r*c.RowBytes), c.Width)
		d := slice[T](unsafe.Add(c.DScores, r*c.RowBytes), c.Width)
		add := slice[T](unsafe.Add(c.Add, r*c.AddRow), c.Width)
		largest, inverse, dot := slice[T](c.Largest, c.Rows)[r], slice[T](c.Inverse, c.Rows)[r], slice[T](c.PerRow, c.Rows)[r]
		for j := range s {
			s[j] = T(math.Exp(float64(s[j]*scale+add[j]-largest))) * inverse
			d[j] = scale * s[j] * (d[j] - dot)
		}
	}
}

func dropoutWeights[T Float](dst, a, b, c unsafe.Pointer, rows, cols int) {
	d, row, column, numbers := slice[T](dst, rows*cols), slice[T](a, 2*rows), slice[T](b, 3*cols), slice[T](c, 4)
	for r := range rows {
		for j := range cols {
			hash := row[2*r]*column[j] + row[2*r+1]*column[cols+j] + column[2*cols+j]
			hash += numbers[0] * T(math.RoundToEven(float64(hash*numbers[1])))
			d[r*cols+j] = numbers[3]
			if max(hash, -hash) <= numbers[2] {
				d[r*cols+j] = 0
			}
		}
	}
}
