//go:build !goexperiment.simd

package kernel

func addVectors(s *Set) {}
