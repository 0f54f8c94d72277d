package cpu

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/exec"
)

// MemoryError is the error of an operation that needs more memory than is available. Nothing was allocated for it.
type MemoryError struct {
	What  string // the operation
	Need  int    // required bytes
	Have  int    // available bytes
	Limit string // what limits the memory
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("backend %q: %s needs %.1f GiB of memory, and there are %.1f GiB (%s)", BackendName, e.What, gib(e.Need), gib(e.Have), e.Limit)
}

// Memory returns the requested and the available number of bytes, for callers that do not import this package.
func (e *MemoryError) Memory() (need, have int) { return e.Need, e.Have }

// AvailableMemory returns the bytes that this process can still allocate, and what limits them: the machine, a control group, GOMEMLIMIT or the
// address space. It returns math.MaxInt if nothing is known to limit them.
func AvailableMemory() (bytes int, limit string) {
	m := exec.ReadMemory("/")
	return m.Free, m.Limit
}

func gib(bytes int) float64 { return float64(bytes) / (1 << 30) }

// unchecked is the size in bytes below which available memory is not checked.
const unchecked = 64 << 20

// addressable is the number of elements from which on a tensor cannot exist, whatever their type; their products do not fit into an int, either.
const addressable = 1 << 47

// fitsTensor is like fits for a tensor.
func (b *Backend) fitsTensor(what string, shape shapes.Shape) error {
	if err := checkAddressable(what, shape); err != nil {
		return err
	}
	return b.fits(what+" "+shape.String(), int(shape.ByteSize()), 0)
}

// checkAddressable returns an error if no memory can hold a tensor.
func checkAddressable(what string, shape shapes.Shape) error {
	n, empty := 1, slices.Contains(shape.Dimensions, 0)
	for _, d := range shape.Dimensions {
		if !empty && d > addressable/n {
			return &MemoryError{what + " " + shape.String(), math.MaxInt, addressable, "the address space"}
		}
		n *= max(d, 1)
	}
	return nil
}

// fits returns an error if the given number of bytes is not available. whole is that number plus the parameters, which exist already.
func (b *Backend) fits(what string, more, whole int) error {
	if max(more, whole) < unchecked {
		return nil
	}
	refused := func() *MemoryError {
		room := b.machine.Room()
		if more > room.Free {
			return &MemoryError{what, more, room.Free, room.Limit}
		}
		if whole-room.Used > room.Free {
			return &MemoryError{what, whole, room.Free + room.Used, room.Limit}
		}
		return nil
	}
	if refused() == nil {
		return nil
	}
	b.spare.drop()
	debug.FreeOSMemory() // garbage counts as used
	if err := refused(); err != nil {
		return err
	}
	return nil
}

// fitsProgram is like fits for the memory of an execution.
func (b *Backend) fitsProgram(name string, p *exec.Program) error {
	own, whole := p.Need()
	return b.fits(computation(name), own, whole)
}

// computation describes a graph by its name, "batches of 2 rows#1". GoMLX names others after Go functions: "Exec:main.main.func1#1".
func computation(name string) string {
	name, _, _ = strings.Cut(name, "#")
	if name == "" || strings.Contains(name, "Exec:") {
		return "the computation"
	}
	return "the computation of " + name
}
