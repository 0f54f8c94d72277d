package exec

import (
	"slices"
	"sync"
	"unsafe"
)

// arena is one block of memory, aligned to cache lines, with slack behind it.
type arena struct {
	block []byte
	base  unsafe.Pointer
	bytes int // from base on
}

// CacheLine is what memory is aligned to, so that threads do not write to one line.
const CacheLine = 64

func newArena(bytes int) *arena {
	a := &arena{block: allocateBlock(bytes + 2*CacheLine), bytes: bytes}
	shift := -uintptr(unsafe.Pointer(unsafe.SliceData(a.block))) % CacheLine
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

// arenas lends memory to executions. Programs of many shapes run one after the other, so they share: what is idle goes to
// whoever comes next, and an arena that is too small makes room for a larger one. An arena holds whatever its last user left.
type arenas struct {
	mu     sync.Mutex
	idle   []*arena
	closed bool
}

// take lends an arena of at least so many bytes, the smallest idle one that is large enough.
func (l *arenas) take(bytes int) *arena {
	l.mu.Lock()
	best := -1
	for i, a := range l.idle {
		if a.bytes >= bytes && (best < 0 || a.bytes < l.idle[best].bytes) {
			best = i
		}
	}
	if best >= 0 {
		a := l.idle[best]
		l.idle = slices.Delete(l.idle, best, best+1)
		l.mu.Unlock()
		return a
	}
	tooSmall := l.idle
	l.idle = nil
	l.mu.Unlock()
	for _, a := range tooSmall {
		a.free()
	}
	return newArena(bytes)
}

// give takes an arena back.
func (l *arenas) give(a *arena) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		a.free()
		return
	}
	l.idle = append(l.idle, a)
}

// shutdown frees idle arenas now, and those lent as they come back.
func (l *arenas) shutdown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, a := range l.idle {
		a.free()
	}
	l.idle = nil
}
