package kernel

import "unsafe"

// A PeakLoop multiplies a strip of a few register blocks by one panel, again and again. All of it fits the first cache.
type PeakLoop struct {
	product            Matmul
	left, panel, right []float64 // memory of any type, aligned; zeros
	call               GemmCall
}

// NewPeakLoop returns a loop for the kernel, which must not round.
func (kr *Gemm) NewPeakLoop() *PeakLoop {
	const terms, strips = 128, 4
	rows := strips * kr.MR
	size := kr.size
	l := &PeakLoop{product: Matmul{M: rows, N: kr.NR, K: terms, ARow: terms * size, AK: size, BK: kr.NR * size, BN: size, CRow: kr.NR * size, Kernel: kr}}
	l.left, l.right = make([]float64, rows*terms), make([]float64, rows*kr.NR)
	l.panel = make([]float64, l.product.PackedBytes()/8)
	return l
}

// Run multiplies as many times.
func (l *PeakLoop) Run(times int) {
	for range times {
		l.product.Multiply(&l.call, unsafe.Pointer(&l.left[0]), unsafe.Pointer(&l.panel[0]), unsafe.Pointer(&l.right[0]), nil, l.product.All(), false)
	}
}

// Operations returns the multiplications and additions of one time.
func (l *PeakLoop) Operations() float64 {
	return 2 * float64(l.product.M) * float64(l.product.N) * float64(l.product.K)
}
