//go:build !linux

package exec

import "runtime"

func allocateBlock(bytes int) []byte { return make([]byte, bytes) }

func freeBlock([]byte) {}

func addressSpace() (int, bool) { return 0, false }

// yieldThread lets another thread of this machine run on this core.
func yieldThread() { runtime.Gosched() }
