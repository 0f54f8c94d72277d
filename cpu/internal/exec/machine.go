package exec

import "universal-transformer/cpu/internal/kernel"

// Machine is what programs run on: the kernels of one level, a number of threads, and memory that executions share.
type Machine struct {
	Kernels      *kernel.Set
	Threads      int
	Share        int           // elements from which work is shared between threads
	LeastRounded int           // rows, columns and terms of a product from which its operands are rounded, if they are
	Memory       func() Memory // what there is
	pool         *pool
	arenas       arenas
}

// NewMachine describes a machine; its threads start with the first execution.
func NewMachine(kernels *kernel.Set, threads, share int) *Machine {
	return &Machine{Kernels: kernels, Threads: threads, Share: share, Memory: func() Memory { return ReadMemory("/") }, pool: newPool(threads)}
}

// Close frees idle memory and stops the threads. What is running still finishes.
func (m *Machine) Close() {
	m.arenas.shutdown()
	m.pool.stop()
}
