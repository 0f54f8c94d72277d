package cpu_test

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/support/backendtest"

	"universal-transformer/cpu"
	"universal-transformer/cpu/internal/kernel"
)

// newBackend makes a backend and releases it at the end of the test. One whose kernels this build or processor lacks, also those of
// products=bf16 and products=int8, skips the test; that any other cannot be made is a failure.
func newBackend(t testing.TB, config string) compute.Backend {
	t.Helper()
	if _, level, _ := strings.Cut(config, ":"); level == "avx512" || level == "avx2" || level == "neon" {
		if _, err := kernel.Named(level); err != nil {
			t.Skip(err)
		}
	}
	for option, kernels := range map[string]string{"products=bf16": cpu.BFloat16(), "products=int8": cpu.Int8()} {
		if strings.Contains(config, option) && !strings.Contains(config, "scalar") && kernels == "" {
			t.Skipf("%s: this processor has no kernels for %s", config, option)
		}
	}
	b, err := compute.NewWithConfig(config)
	if err != nil {
		t.Fatalf("%s: %v", config, err)
	}
	t.Cleanup(b.Finalize)
	return b
}

// pointersChecked tells whether the rules of unsafe.Pointer are checked while tests run: the race detector does it, and
// go test -gcflags=all=-d=checkptr. The portable backend's matrix products break them.
var pointersChecked = func() bool {
	info, _ := debug.ReadBuildInfo()
	return cpu.RaceEnabled || info != nil && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool {
		return s.Key == "-gcflags" && strings.HasPrefix(s.Value, "all=") && strings.Contains(s.Value, "checkptr")
	})
}()

// reference is the backend that results are compared with: the portable one unless that would stop the tests.
func reference(t testing.TB) compute.Backend {
	if pointersChecked {
		return newBackend(t, "cpu:scalar,threads=1")
	}
	return newBackend(t, "go:ops_sequential")
}

// configs are the sets of kernels under test; those that this processor or build lacks are skipped.
// The last shares even little work, so that small tests go through what only large tensors would.
var configs = []string{"cpu:avx512", "cpu:avx2", "cpu:neon", "cpu:scalar", "cpu:threads=3,share=32"}

// TestConformance runs GoMLX's own suite for backends.
func TestConformance(t *testing.T) {
	for _, config := range configs {
		t.Run(config, func(t *testing.T) {
			b := newBackend(t, config)
			if pointersChecked {
				runWithoutHalf(t, withoutHalf{b})
				return
			}
			backendtest.RunAll(t, b, nil)
		})
	}
}

// runWithoutHalf is RunAll but for products, which try the half precision types without asking.
func runWithoutHalf(t *testing.T, b compute.Backend) {
	backendtest.TestBinaryOps(t, b)
	backendtest.TestUnaryOps(t, b)
	backendtest.TestConvertDType(t, b)
	backendtest.TestBitcast(t, b)
	backendtest.TestExec(t, b)
	backendtest.TestFunctions(t, b)
	backendtest.TestConvGeneral(t, b, nil)
	backendtest.TestSpecialOps(t, b)
	backendtest.TestFusedOps(t, b)
	backendtest.TestBarriers(t, b)
}

// withoutHalf hides the half precision types: the portable backend that their graphs are replayed on breaks the
// rules of unsafe.Pointer.
type withoutHalf struct{ compute.Backend }

func (b withoutHalf) Capabilities() compute.Capabilities {
	c := b.Backend.Capabilities()
	delete(c.DTypes, dtypes.Float16)
	delete(c.DTypes, dtypes.BFloat16)
	return c
}
