package cpu

import "unsafe"

// arena is one block of memory, aligned to cache lines, with slack behind it.
type arena struct {
	block []byte
	base  unsafe.Pointer
}

const cacheLine = 64

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

func newArena(bytes int) *arena {
	a := &arena{block: allocateBlock(bytes + 2*cacheLine)}
	shift := -uintptr(unsafe.Pointer(unsafe.SliceData(a.block))) % cacheLine
	a.base = unsafe.Pointer(&a.block[shift])
	return a
}

func (a *arena) at(offset int) unsafe.Pointer { return unsafe.Add(a.base, offset) }

func (a *arena) free() {
	if a.block != nil {
		freeBlock(a.block)
		a.block, a.base = nil, nil
	}
}
