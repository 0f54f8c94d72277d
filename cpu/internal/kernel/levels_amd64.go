package kernel

import "golang.org/x/sys/cpu"

// ScalarReason is the reason why no vector kernels are used.
const ScalarReason = "this processor has no AVX2: scalar kernels, about ten times slower than this machine could be with it"

// vectorSets returns the vector kernels that this processor can run, best first.
func vectorSets() []*Set {
	var sets []*Set
	if cpu.X86.HasAVX512 && cpu.X86.HasFMA {
		sets = append(sets, newVectorSet(levelAVX512))
	}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		sets = append(sets, newVectorSet(levelAVX2))
	}
	return sets
}

func newVectorSet(l Level) *Set {
	s := (&Set{Level: l}).over(Portable)
	addGemm(s)
	if l == levelAVX512 {
		addKernelsZ32(s)
		addKernelsZ64(s)
	} else {
		addKernelsY32(s)
		addKernelsY64(s)
	}
	return s
}
