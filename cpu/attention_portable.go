package cpu

import (
	"math"
	"unsafe"
)

// attentionCall holds the arguments of the kernels on rows of scores. Matrices have rowBytes to a row, of which
// width elements count; add has addRow bytes to a row (0: the same for all).
type attentionCall struct {
	scores, dScores, add unsafe.Pointer
	largest, inverse     unsafe.Pointer
	rows, width          int
	rowBytes, addRow     int
	scale                float64
}

// attentionKernels are the parts of attention between the matrix products. width is a multiple of lanes.
type attentionKernels struct {
	lanes int

	// softmax replaces scores by p = exp(scale*scores + add - largest) * inverse, where inverse makes a row's sum one,
	// and is 0 for a row of nothing but -inf.
	softmax func(c *attentionCall)

	// gradient replaces scores by p as above, with largest and inverse given, and dScores by
	// scale * p * (dScores - sum of p * dScores over the row).
	gradient func(c *attentionCall)
}

// portableAttention are the kernels in plain loops.
func portableAttention[T float]() *attentionKernels {
	return &attentionKernels{lanes: 1, softmax: softmaxRows[T], gradient: softmaxGradient[T]}
}

func softmaxRows[T float](c *attentionCall) {
	scale := T(c.scale)
	for r := range c.rows {
		s := slice[T](unsafe.Add(c.scores, r*c.rowBytes), c.width)
		add := slice[T](unsafe.Add(c.add, r*c.addRow), c.width)
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
		slice[T](c.largest, c.rows)[r], slice[T](c.inverse, c.rows)[r] = largest, inverse
	}
}

func softmaxGradient[T float](c *attentionCall) {
	scale := T(c.scale)
	for r := range c.rows {
		s := slice[T](unsafe.Add(c.scores, r*c.rowBytes), c.width)
		d := slice[T](unsafe.Add(c.dScores, r*c.rowBytes), c.width)
		add := slice[T](unsafe.Add(c.add, r*c.addRow), c.width)
		largest, inverse := slice[T](c.largest, c.rows)[r], slice[T](c.inverse, c.rows)[r]
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
