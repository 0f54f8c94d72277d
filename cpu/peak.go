package cpu

import (
	"sync"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/kernel"
)

// PeakWork returns a function that keeps the multiplication units of all threads busy with the inner loop of float32 products on operands
// in the first cache, and the number of multiplications and additions of one call. No product can be faster.
func (b *Backend) PeakWork() (work func(), operations float64) {
	const calls = 10_000
	gemm := b.machine.Kernels.Gemm[dtypes.Float32]
	loops := make([]*kernel.PeakLoop, b.machine.Threads)
	for i := range loops {
		loops[i] = gemm.NewPeakLoop()
	}
	work = func() {
		var all sync.WaitGroup
		for _, loop := range loops {
			all.Go(func() { loop.Run(calls) })
		}
		all.Wait()
	}
	return work, loops[0].Operations() * calls * float64(len(loops))
}
