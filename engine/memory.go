package engine

import "universal-transformer/cpu"

// AvailableMemory returns the bytes that this process can still allocate, and what limits them. It returns math.MaxInt if nothing is known to limit
// them.
func AvailableMemory() (bytes int, limit string) { return cpu.AvailableMemory() }
