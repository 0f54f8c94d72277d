package cpu

import (
	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
)

// SetMemory makes a backend believe that there is so much memory.
func SetMemory(b compute.Backend, free, used int) {
	b.(*Backend).machine.Memory = func() exec.Memory { return exec.Memory{Free: free, Used: used, Limit: "a test"} }
}
