package cpu

import (
	"fmt"
	"runtime/debug"

	"universal-transformer/cpu/internal/exec"
)

// MemoryError is the error of what is refused because it would need more memory than there is. Nothing was allocated for it.
type MemoryError struct {
	What  string // that needs it
	Need  int    // bytes
	Have  int    // bytes
	Limit string // what says that there are no more
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("backend %q: %s needs %.1f GiB of memory, and there are %.1f GiB (%s)", BackendName, e.What, gib(e.Need), gib(e.Have), e.Limit)
}

// Memory is what was asked for and what there is, for callers that do not know the backend.
func (e *MemoryError) Memory() (need, have int) { return e.Need, e.Have }

func gib(bytes int) float64 { return float64(bytes) / (1 << 30) }

// unchecked is the size below which nobody asks whether there is memory.
const unchecked = 64 << 20

// fits is an error if there is no room for so many more bytes, or not for so many in all, with what there is already.
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
	debug.FreeOSMemory() // what is garbage counts as used
	if err := refused(); err != nil {
		return err
	}
	return nil
}

// fitsProgram is fits of what an execution takes.
func (b *Backend) fitsProgram(name string, p *exec.Program) error {
	own, whole := p.Need()
	return b.fits(fmt.Sprintf("the graph %q", name), own, whole)
}
