package exec

import "universal-transformer/cpu/internal/kernel"

// A Machine runs programs. It has the kernels of one level, a number of threads, and memory that executions share.
type Machine struct {
	Kernels      *kernel.Set
	Threads      int
	Share        int           // number of elements from which on work is shared between threads
	LeastRounded int           // minimum number of columns, terms and usually rows of a product whose operands are rounded
	Memory       func() Memory // returns the available memory
	pool         *pool
	arenas       arenas
}

// NewMachine returns a machine. Its threads start with the first execution.
func NewMachine(kernels *kernel.Set, threads, share int) *Machine {
	return &Machine{Kernels: kernels, Threads: threads, Share: share, Memory: func() Memory { return ReadMemory("/") }, pool: newPool(threads)}
}

// Parts returns the number of parts of a large task.
func (m *Machine) Parts() int {
	if m.Threads == 1 {
		return 1
	}
	return partsPerThread * m.Threads
}

// Close frees idle memory and stops the threads. Running executions still finish.
func (m *Machine) Close() {
	m.arenas.shutdown()
	m.pool.stop()
}
