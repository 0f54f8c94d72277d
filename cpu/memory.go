package cpu

import "unsafe"

// execSlice is memory as n elements.
func execSlice[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(dst, src unsafe.Pointer, n int) {
	copy(execSlice[byte](dst, n), execSlice[byte](src, n))
}

// execProduct is the number of elements of a tensor.
func execProduct(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// split returns the part's share of n: from lo to hi.
func split(n, part, parts int) (lo, hi int) {
	return n * part / parts, n * (part + 1) / parts
}
