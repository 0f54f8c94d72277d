//go:build !amd64 && !arm64

package kernel

// ScalarReason is the reason why no vector kernels are used.
const ScalarReason = "no vector kernels for this kind of processor: plain loops, many times slower"

func vectorSets() []*Set { return nil }
