//go:build !(amd64 && goexperiment.simd)

package cpu

// scalarReason says why no SIMD kernels are used.
const scalarReason = "built without SIMD: on amd64, build with GOEXPERIMENT=simd in the environment for many times the speed"

func simdKernelSets() []*kernelSet { return nil }
