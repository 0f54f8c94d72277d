package kernel

import "unsafe"

// Prefetch asks for memory that will be read soon.
func Prefetch(at unsafe.Pointer, bytes int) { prefetch(at, (bytes+63)/64) }

//go:noescape
func prefetch(at unsafe.Pointer, lines int)
