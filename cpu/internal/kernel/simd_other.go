//go:build !(amd64 && goexperiment.simd)

package kernel

// ScalarReason says why no SIMD kernels are used.
const ScalarReason = "built without SIMD: on amd64, build with GOEXPERIMENT=simd in the environment for many times the speed"

func simdKernelSets() []*Set { return nil }

// features are none.
type features struct{}

func detect() features { return features{} }

func bestRounded(Level, bool, features) *Gemm { return nil }
