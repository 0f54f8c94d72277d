//go:build !linux

package cpu

func allocateBlock(bytes int) []byte { return make([]byte, bytes) }

func freeBlock([]byte) {}
