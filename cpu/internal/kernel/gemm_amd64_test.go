package kernel

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/gomlx/compute/dtypes"
)

// What is copied depends on the registers and the vendor: AMD's processors with AVX-512 read in place what others copy. The kernels have
// the bounds of this processor. Caught when planted: one bound for all kernels; Intel's for all vendors; kernels that ask for the wrong
// vendor.
func TestCopiedByVendor(t *testing.T) {
	const amd = 'A' | 'u'<<8 | 't'<<16 | 'h'<<24 // AuthenticAMD
	type bounds struct{ directRows, nearTerms, lateRows int }
	for _, c := range []struct {
		bits   bool
		vendor uint32
		want   bounds
	}{
		{false, intel, bounds{96, 255, 0}}, {false, amd, bounds{96, 255, 0}},
		{true, intel, bounds{96, 255, 512}}, {true, amd, bounds{math.MaxInt, 8192, 0}},
	} {
		direct, near, late := copied(c.bits, c.vendor)
		if got := (bounds{direct, near, late}); got != c.want {
			t.Errorf("512 bits %v, vendor %x: %+v, want %+v", c.bits, c.vendor, got, c.want)
		}
		for _, set := range sets {
			kr := set.Gemm[dtypes.Float32]
			if got := (bounds{kr.directRows, kr.nearTerms, kr.lateRows}); set.Level != LevelScalar && (set.Level == levelAVX512) == c.bits && vendor() == c.vendor && got != c.want {
				t.Errorf("%s: %+v, want %+v", set.Level, got, c.want)
			}
		}
	}
}

// The vendor is that of the system. Caught when planted: another vendor's letters.
func TestVendor(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil && runtime.GOOS == "linux" {
		t.Fatal(err)
	}
	if err == nil && bytes.Contains(info, []byte("GenuineIntel")) != (vendor() == intel) {
		t.Errorf("vendor %x, which is not that of /proc/cpuinfo", vendor())
	}
}
