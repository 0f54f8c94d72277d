package cpu_test

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/support/backendtest"

	_ "universal-transformer/cpu"
)

// newBackend makes a backend and releases it at the end of the test.
func newBackend(t testing.TB, config string) compute.Backend {
	t.Helper()
	b, err := compute.NewWithConfig(config)
	if err != nil {
		t.Skipf("%s: %v", config, err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// configs are the sets of kernels under test; those that this processor or build lacks are skipped.
var configs = []string{"cpu:avx512", "cpu:avx2", "cpu:scalar"}

// TestConformance runs GoMLX's own suite for backends.
func TestConformance(t *testing.T) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) { backendtest.RunAll(t, newBackend(t, config), nil) })
	}
}
