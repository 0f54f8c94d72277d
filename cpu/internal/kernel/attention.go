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
}

// portableAttention returns the kernels in plain loops.
func portableAttention[T Float]() *Attention {
	return &Attention{Lanes: 1, Softmax: softmaxRows[T], Gradient: softmaxGradient[T]}
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
