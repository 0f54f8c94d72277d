package cpu

// machine is what programs run on: the kernels of one level, a number of threads, and memory that executions share.
type machine struct {
	kernels *kernelSet
	threads int
	share   int // elements from which work is shared between threads
	pool    *workerPool
	arenas  arenas
}

// newMachine describes a machine; its threads start with the first execution.
func newMachine(kernels *kernelSet, threads, share int) *machine {
	return &machine{kernels: kernels, threads: threads, share: share, pool: newWorkerPool(threads)}
}

// shutdown frees idle memory and stops the threads. What is running still finishes.
func (m *machine) shutdown() {
	m.arenas.shutdown()
	m.pool.stop()
}
