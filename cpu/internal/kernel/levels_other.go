//go:build !amd64

package kernel

// ScalarReason says why no vector kernels are used.
const ScalarReason = "no vector kernels for this kind of processor: plain loops, many times slower"

func vectorSets() []*Set { return nil }

// features are none.
type features struct{}

func detect() features { return features{} }

func bestRounded(Level, bool, features) *Gemm { return nil }
