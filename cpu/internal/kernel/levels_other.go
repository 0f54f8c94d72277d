//go:build !amd64

package kernel

// ScalarReason says why no SIMD kernels are used.
const ScalarReason = "built without SIMD: on amd64, build with GOEXPERIMENT=simd in the environment for many times the speed"

func vectorSets() []*Set { return nil }

// features are none.
type features struct{}

func detect() features { return features{} }

func bestRounded(Level, bool, features) *Gemm { return nil }
