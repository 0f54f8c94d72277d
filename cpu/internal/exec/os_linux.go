package exec

import (
	"math"
	"syscall"

	"universal-transformer/cpu/internal/kernel"
)

// largeBlock is the size from which memory is mapped outside the Go heap, in huge pages where the system
// grants them: matrix products walk through it with large strides.
const largeBlock = 1 << 20

func allocateBlock(bytes int) []byte {
	if bytes < largeBlock {
		return make([]byte, bytes)
	}
	block, err := syscall.Mmap(-1, 0, kernel.RoundUp(bytes, 2<<20), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return make([]byte, bytes)
	}
	_ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) // a hint: works without
	return block
}

func freeBlock(block []byte) {
	if len(block) >= largeBlock {
		_ = syscall.Munmap(block) // fails only for memory of the Go heap, which needs nothing
	}
}

// addressSpace is the limit of this process's address space, if it has one.
func addressSpace() (int, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit)
	return int(limit.Cur), err == nil && limit.Cur < math.MaxInt
}

// yieldThread lets another thread of this machine run on this core.
func yieldThread() { syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }
