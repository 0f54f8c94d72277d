//go:build !amd64

package kernel

// features are none.
type features struct{}

func detect() features { return features{} }

func bestRounded(Level, bool, features) *Gemm { return nil }
