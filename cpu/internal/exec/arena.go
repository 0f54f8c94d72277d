package exec

import (
	"slices"
	"sync"
	"unsafe"
)

// An arena is one block of memory, aligned to cache lines, with spare bytes after it.
type arena struct {
	block []byte
	base  unsafe.Pointer
	bytes int // from base on
}

// CacheLine is the alignment of memory, so that threads do not write to the same line.
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

// arenas lends memory to executions. Programs of many shapes run one after the other, so they share: idle arenas are reused, and an
// arena that is too small is replaced by a larger one. The content of an arena is arbitrary.
type arenas struct {
	mu     sync.Mutex
	idle   []*arena
	closed bool
}

// acquire returns the smallest idle arena with at least the given number of bytes, or a new one.
func (l *arenas) acquire(bytes int) *arena {
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

// release returns an arena.
func (l *arenas) release(a *arena) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		a.free()
		return
	}
	l.idle = append(l.idle, a)
}

// shutdown frees idle arenas now, and lent ones when they are returned.
func (l *arenas) shutdown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, a := range l.idle {
		a.free()
	}
	l.idle = nil
}
