//go:build !amd64

package kernel

import "unsafe"

// Prefetch does nothing: the kernels for this processor are not measured on hardware.
func Prefetch(at unsafe.Pointer, bytes int) {}
