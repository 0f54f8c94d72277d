//go:build !linux

package cpu

import "runtime"

// yieldThread lets another thread of this machine run on this core.
func yieldThread() { runtime.Gosched() }
