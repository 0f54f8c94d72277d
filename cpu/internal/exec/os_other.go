//go:build !linux

package exec

import "runtime"

func allocateBlock(bytes int) []byte { return make([]byte, bytes) }

func freeBlock([]byte) {}

// yieldThread lets another thread of this machine run on this core.
func yieldThread() { runtime.Gosched() }
