//go:build amd64 && goexperiment.simd

package cpu

import "simd/archsimd"

// scalarReason says why no SIMD kernels are used.
const scalarReason = "this processor has no AVX2: scalar kernels, about ten times slower than this machine could be with it"

// simdKernelSets returns what this processor can run, best first.
func simdKernelSets() []*kernelSet {
	var sets []*kernelSet
	if archsimd.X86.AVX512() && archsimd.X86.FMA() {
		sets = append(sets, newSIMDKernels(levelAVX512))
	}
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		sets = append(sets, newSIMDKernels(levelAVX2))
	}
	return sets
}

func newSIMDKernels(l level) *kernelSet {
	s := &kernelSet{level: l}
	addGemm(s)
	return s.over(portableKernels)
}
