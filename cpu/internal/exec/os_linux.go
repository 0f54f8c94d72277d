package exec

import (
	"math"
	"syscall"

	"universal-transformer/cpu/internal/kernel"
)

// largeBlock is the size from which on memory is mapped outside the Go heap, in huge pages if possible, because matrix products
// access it with large strides.
const largeBlock = 1 << 20

func allocateBlock(bytes int) []byte {
	if bytes < largeBlock {
		return make([]byte, bytes)
	}
	block, err := syscall.Mmap(-1, 0, kernel.RoundUp(bytes, 2<<20), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, bytes)
	}
	_ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) // only a hint
	return block
}

func freeBlock(block []byte) {
	if len(block) >= largeBlock {
		_ = syscall.Munmap(block) // fails only for memory of the Go heap, which is not unmapped
	}
}

// addressSpace returns the limit of this process's address space, if there is one.
func addressSpace() (int, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit)
	return int(limit.Cur), err == nil && limit.Cur < math.MaxInt
}

// yieldThread lets another thread of this machine run on this core.
func yieldThread() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
