//go:build amd64 && goexperiment.simd

package cpu

import (
	"simd/archsimd"
	"unsafe"
)

// A product with one row on the left has two sums for each vector unit to work on in a panel, of the eight that it takes to keep
// the units busy. wide32 and wide64 take 64 and 32 columns at once, where they lie side by side; each sum runs in the
// order of the panel kernels, so results are the same to the last bit. c is not added to.

func wide32(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float32x8
	a, b := call.a, call.panel
	for range call.k {
		x := archsimd.BroadcastFloat32x8(*(*float32)(a))
		row := (*[8][8]float32)(b)
		s0 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s1)
		s2 = archsimd.LoadFloat32x8(&row[2]).MulAdd(x, s2)
		s3 = archsimd.LoadFloat32x8(&row[3]).MulAdd(x, s3)
		s4 = archsimd.LoadFloat32x8(&row[4]).MulAdd(x, s4)
		s5 = archsimd.LoadFloat32x8(&row[5]).MulAdd(x, s5)
		s6 = archsimd.LoadFloat32x8(&row[6]).MulAdd(x, s6)
		s7 = archsimd.LoadFloat32x8(&row[7]).MulAdd(x, s7)
		a, b = unsafe.Add(a, call.aK), unsafe.Add(b, call.panelRow)
	}
	c := (*[8][8]float32)(call.c)
	s0.Store(&c[0])
	s1.Store(&c[1])
	s2.Store(&c[2])
	s3.Store(&c[3])
	s4.Store(&c[4])
	s5.Store(&c[5])
	s6.Store(&c[6])
	s7.Store(&c[7])
	archsimd.ClearAVXUpperBits()
}

func wide64(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float64x4
	a, b := call.a, call.panel
	for range call.k {
		x := archsimd.BroadcastFloat64x4(*(*float64)(a))
		row := (*[8][4]float64)(b)
		s0 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s1)
		s2 = archsimd.LoadFloat64x4(&row[2]).MulAdd(x, s2)
		s3 = archsimd.LoadFloat64x4(&row[3]).MulAdd(x, s3)
		s4 = archsimd.LoadFloat64x4(&row[4]).MulAdd(x, s4)
		s5 = archsimd.LoadFloat64x4(&row[5]).MulAdd(x, s5)
		s6 = archsimd.LoadFloat64x4(&row[6]).MulAdd(x, s6)
		s7 = archsimd.LoadFloat64x4(&row[7]).MulAdd(x, s7)
		a, b = unsafe.Add(a, call.aK), unsafe.Add(b, call.panelRow)
	}
	c := (*[8][4]float64)(call.c)
	s0.Store(&c[0])
	s1.Store(&c[1])
	s2.Store(&c[2])
	s3.Store(&c[3])
	s4.Store(&c[4])
	s5.Store(&c[5])
	s6.Store(&c[6])
	s7.Store(&c[7])
	archsimd.ClearAVXUpperBits()
}

// A short row of results from long sums, such as what one query retrieves in attention, has two sums for the vector units. long32 and
// long64 make four of each: every fourth term is theirs, in 64 bytes of columns that lie side by side.

func long32(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float32x8
	a, b, aK, bK := call.a, call.panel, call.aK, call.panelRow
	for range call.k / 4 {
		x, row := archsimd.BroadcastFloat32x8(*(*float32)(a)), (*[2][8]float32)(b)
		s0 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s1)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat32x8(*(*float32)(a)), (*[2][8]float32)(b)
		s2 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s2)
		s3 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s3)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat32x8(*(*float32)(a)), (*[2][8]float32)(b)
		s4 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s4)
		s5 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s5)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat32x8(*(*float32)(a)), (*[2][8]float32)(b)
		s6 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s6)
		s7 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s7)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
	}
	for range call.k % 4 {
		x, row := archsimd.BroadcastFloat32x8(*(*float32)(a)), (*[2][8]float32)(b)
		s0 = archsimd.LoadFloat32x8(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat32x8(&row[1]).MulAdd(x, s1)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
	}
	c := (*[2][8]float32)(call.c)
	s0, s1 = s0.Add(s2).Add(s4.Add(s6)), s1.Add(s3).Add(s5.Add(s7))
	if call.add != 0 {
		s0, s1 = s0.Add(archsimd.LoadFloat32x8(&c[0])), s1.Add(archsimd.LoadFloat32x8(&c[1]))
	}
	s0.Store(&c[0])
	s1.Store(&c[1])
	archsimd.ClearAVXUpperBits()
}

func long64(call *gemmCall) {
	var s0, s1, s2, s3, s4, s5, s6, s7 archsimd.Float64x4
	a, b, aK, bK := call.a, call.panel, call.aK, call.panelRow
	for range call.k / 4 {
		x, row := archsimd.BroadcastFloat64x4(*(*float64)(a)), (*[2][4]float64)(b)
		s0 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s1)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat64x4(*(*float64)(a)), (*[2][4]float64)(b)
		s2 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s2)
		s3 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s3)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat64x4(*(*float64)(a)), (*[2][4]float64)(b)
		s4 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s4)
		s5 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s5)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
		x, row = archsimd.BroadcastFloat64x4(*(*float64)(a)), (*[2][4]float64)(b)
		s6 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s6)
		s7 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s7)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
	}
	for range call.k % 4 {
		x, row := archsimd.BroadcastFloat64x4(*(*float64)(a)), (*[2][4]float64)(b)
		s0 = archsimd.LoadFloat64x4(&row[0]).MulAdd(x, s0)
		s1 = archsimd.LoadFloat64x4(&row[1]).MulAdd(x, s1)
		a, b = unsafe.Add(a, aK), unsafe.Add(b, bK)
	}
	c := (*[2][4]float64)(call.c)
	s0, s1 = s0.Add(s2).Add(s4.Add(s6)), s1.Add(s3).Add(s5.Add(s7))
	if call.add != 0 {
		s0, s1 = s0.Add(archsimd.LoadFloat64x4(&c[0])), s1.Add(archsimd.LoadFloat64x4(&c[1]))
	}
	s0.Store(&c[0])
	s1.Store(&c[1])
	archsimd.ClearAVXUpperBits()
}
