package cpu

import (
	"sync"
	"unsafe"
)

// program is a compiled function: instructions over numbered slots of memory.
type program struct {
	machine *machine
	instrs  []instr
	slots   []slotInfo
	params  []int // slots
	results []int // slots

	arenaBytes   int
	scratchBytes int        // for each part of a task
	children     []*program // closures
	donor        []int      // for each result: the parameter whose memory it may take over, or -1

	mu     sync.Mutex
	frames []*frame // idle
	closed bool
}

// instr is one step of a program. It may split itself with frame.do.
type instr interface {
	run(fr *frame)
}

// slotKind says where the memory of a slot comes from.
type slotKind uint8

const (
	slotParam slotKind = iota
	slotConst
	slotArena
	slotResult
)

// slotInfo describes the memory of one value.
type slotInfo struct {
	kind        slotKind
	bytes       int
	offset      int            // in the arena
	constant    unsafe.Pointer // of slotConst
	keep        any            // holds the constant's memory
	first, last int            // instructions that write it first and touch it last
}

// frame is the state of one execution of a program.
type frame struct {
	prog     *program
	ptrs     []unsafe.Pointer // by slot
	arena    *arena
	scratch  []unsafe.Pointer // by part
	calls    []kernelCall     // by part
	parallel bool
	dotBatch int // the batch that a shared product is at
}

// kernelCall is room for the arguments of kernels that take many, on cache lines of its own.
type kernelCall struct {
	gemmCall
	attentionCall
	_ [2 * cacheLine]byte
}

// do runs all parts of a task.
func (fr *frame) do(t task) {
	pool := fr.prog.machine.pool
	if fr.parallel {
		pool.run(t, fr)
		return
	}
	for part := range pool.threads {
		t.part(fr, part, pool.threads)
	}
}

// take returns an idle frame or makes one, and lends it an arena of the backend's.
func (p *program) take() *frame {
	threads := p.machine.pool.threads
	var fr *frame
	p.mu.Lock()
	if n := len(p.frames); n > 0 {
		fr = p.frames[n-1]
		p.frames = p.frames[:n-1]
	}
	p.mu.Unlock()
	if fr == nil {
		fr = &frame{prog: p, ptrs: make([]unsafe.Pointer, len(p.slots)), scratch: make([]unsafe.Pointer, threads), calls: make([]kernelCall, threads)}
		for i := range p.slots {
			if s := &p.slots[i]; s.kind == slotConst {
				fr.ptrs[i] = s.constant
			}
		}
	}
	fr.settle(p.machine.arenas.take(p.arenaBytes + threads*p.scratchBytes))
	return fr
}

// settle points the frame into an arena.
func (fr *frame) settle(a *arena) {
	fr.arena = a
	for i := range fr.prog.slots {
		if s := &fr.prog.slots[i]; s.kind == slotArena {
			fr.ptrs[i] = a.at(s.offset)
		}
	}
	for i := range fr.scratch {
		fr.scratch[i] = a.at(fr.prog.arenaBytes + i*fr.prog.scratchBytes)
	}
}

// give takes a frame back.
func (p *program) give(fr *frame) {
	for _, s := range p.params {
		fr.ptrs[s] = nil
	}
	for _, s := range p.results {
		fr.ptrs[s] = nil
	}
	clear(fr.calls) // they point into tensors
	for i := range p.slots {
		if p.slots[i].kind == slotArena {
			fr.ptrs[i] = nil
		}
	}
	clear(fr.scratch)
	p.machine.arenas.give(fr.arena)
	fr.arena = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.frames = append(p.frames, fr)
	}
}

// execute runs the program on given memory for its parameters and results, on all threads unless another execution has
// them: then on the caller's, with the same results.
func (p *program) execute(params, results []unsafe.Pointer) {
	parallel := p.machine.pool.begin()
	p.run(params, results, parallel)
	if parallel {
		p.machine.pool.end()
	}
}

// run executes the program, in parallel if the execution owns the threads.
func (p *program) run(params, results []unsafe.Pointer, parallel bool) {
	fr := p.take()
	for i, s := range p.params {
		fr.ptrs[s] = params[i]
	}
	for i, s := range p.results {
		fr.ptrs[s] = results[i]
	}
	fr.parallel = parallel
	for _, in := range p.instrs {
		in.run(fr)
	}
	p.give(fr)
}

// release drops idle frames; frames in use follow when they are given back.
func (p *program) release() {
	for _, c := range p.children {
		c.release()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.frames = nil
}

// denseIn is an operand whose elements lie in order: a slot and bytes into it.
type denseIn struct{ slot, offset int }

func (d denseIn) at(fr *frame) unsafe.Pointer { return unsafe.Add(fr.ptrs[d.slot], d.offset) }

// execSlice is memory as n elements.
func execSlice[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(dst, src unsafe.Pointer, n int) {
	copy(execSlice[byte](dst, n), execSlice[byte](src, n))
}

// execProduct is the number of elements of a tensor.
func execProduct(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// split returns the part's share of n: from lo to hi.
func split(n, part, parts int) (lo, hi int) {
	return n * part / parts, n * (part + 1) / parts
}
