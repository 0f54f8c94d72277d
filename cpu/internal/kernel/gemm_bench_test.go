//go:build unix

package kernel

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
)

// threadTime is what this process has used of all cores, in nanoseconds.
func threadTime() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage.Utime.Nano() + usage.Stime.Nano()
}

// BenchmarkMatmul multiplies on one core, packing included, in the way in which the compiler has gradients and other products computed. tn: the left
// operand is stored by columns; nt: the right one by rows.
func BenchmarkMatmul(b *testing.B) {
	for _, c := range []struct {
		m, k, n int
		form    string
	}{
		{2048, 128, 128, "nn"}, {2048, 128, 512, "nn"}, {2048, 512, 128, "nn"}, {1024, 512, 2048, "nn"}, {1024, 2048, 512, "nn"}, {1024, 512, 512, "nn"}, {1024, 1024, 1024, "nn"},
		{2048, 128, 512, "nt"}, {1024, 2048, 512, "nt"}, {1024, 512, 2048, "nt"},
		{128, 2048, 128, "tn"}, {128, 2048, 512, "tn"}, {512, 2048, 128, "tn"}, {512, 1024, 512, "tn"}, {512, 1024, 2048, "tn"}, {2048, 1024, 512, "tn"},
		{64, 16, 64, "nt"}, {64, 64, 16, "nn"}, {48, 512, 16, "nn"},
	} {
		for _, kernel := range []*Gemm{Best().Gemm[dtypes.Float32], bestRounded(Best().Level, false, detect())} {
			if kernel != nil {
				benchmarkMatmul(b, kernel, c.form, c.m, c.k, c.n)
			}
		}
	}
}

func benchmarkMatmul(b *testing.B, kernel *Gemm, form string, m, k, n int) {
	b.Run(fmt.Sprintf("%s/%dx%dx%d/%s", form, m, k, n, kernel.Name), func(b *testing.B) {
		x, y, z := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		g := &Matmul{M: m, N: n, K: k, ARow: 4 * k, AK: 4, BK: 4 * n, BN: 4, CRow: 4 * n, Kernel: kernel}
		if form[0] == 't' {
			g.ARow, g.AK = 4, 4*m
		}
		if form[1] == 't' {
			g.BK, g.BN = 4, 4*k
		}
		g.PackA = g.PaysToPackA()
		g.ReadRight(false, m)
		packed, strips := make([]float32, g.PackedBytes()/4+1), make([]float32, g.StripBytes()/4+16)
		clear(strips)
		var call GemmCall
		before := threadTime()
		for b.Loop() {
			right := unsafe.Pointer(&y[0])
			if !g.Direct() {
				g.Pack(unsafe.Pointer(&packed[0]), right, 0, g.Panels())
				right = unsafe.Pointer(&packed[0])
			}
			g.Multiply(&call, unsafe.Pointer(&x[0]), right, unsafe.Pointer(&z[0]), unsafe.Pointer(&strips[0]), g.All(), false)
		}
		b.ReportMetric(2*float64(m*k*n)*float64(b.N)/float64(threadTime()-before), "GF")
	})
}
