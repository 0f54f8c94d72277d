package cpu

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
)

// SetMemory makes a backend believe that there is so much memory.
func SetMemory(b compute.Backend, free, used int) {
	b.(*Backend).machine.Memory = func() exec.Memory { return exec.Memory{Free: free, Used: used, Limit: "a test"} }
}

func init() {
	poison = func(flat any) {
		bytes := dtypes.UnsafeByteSliceFromAny(flat)
		for i := range bytes {
			bytes[i] = 0xFF // NaN, -1, true
		}
	}
}
