// Package exec runs programs, which are lists of instructions over numbered slots of memory, written by package compile. It manages
// memory and threads, and knows no graphs.
//
// A Machine (machine.go) has threads (pool.go), which spin during an execution because waking a goroutine takes longer than most
// instructions, and arenas (arena.go), which executions share. Program.Execute runs the instructions; each splits itself into parts
// with disjoint results, more of them than threads, so that a thread whose core is slower or has other work executes fewer:
//
//	Fused              a fused group: steps of kernels on tiles of rows that stay in the L1 cache (fused.go)
//	Dot                a product of tensors: loops around kernel.Matmul (dot.go)
//	Attention          attention or its gradient, a head at a time, its scores in the cache (attention.go)
//	BlockAttention     the same for many keys, in blocks of queries and keys (attention_blocks.go)
//	CrossEntropy       the loss of a product of states and words, in blocks of rows and columns (crossentropy.go)
//	Chain              several of those, block by block of the rows they share (chain.go)
//	Gather, Scatter,
//	DynamicSlice,
//	DynamicUpdateSlice access by indices (index.go)
//	Copy, Concatenate,
//	Pad                moves (move.go)
//	ArgMinMax,
//	ReduceWindow,
//	Convolution        plain loops (window.go)
//	RandomBits         (random.go)
//	Call, If, While,
//	Sort               other programs (control.go)
package exec

import (
	"sync"
	"unsafe"

	"universal-transformer/cpu/internal/kernel"
)

// A Program is a compiled function: instructions over numbered slots of memory.
type Program struct {
	Machine      *Machine
	Instructions []Instruction
	Slots        []Slot
	Params       []int // slots
	Results      []int // slots

	ArenaBytes   int        // of an execution, without scratch memory
	ScratchBytes int        // for each thread
	Views        int        // maximum of Fused.Views
	Children     []*Program // closures
	Donors       []int      // for each result: the parameter whose memory it may reuse, or -1
	Packings     []Packing
	Small        bool // waking a thread takes about as long as the work

	mu     sync.Mutex
	frames []*frame // idle
	closed bool
}

// A Packing is a right operand of products that is packed from a parameter, so that callers can keep it between executions while the
// parameter does not change.
type Packing struct {
	Param  int           // index
	Offset int           // in bytes
	Slot   int           // of the packed operand
	Layout kernel.Matmul // only what Pack reads
}

// An Instruction is one step of a program. It may split itself with frame.do.
type Instruction interface {
	run(fr *frame)
}

// SlotKind determines where the memory of a slot comes from.
type SlotKind uint8

const (
	SlotParam  SlotKind = iota // the caller's
	SlotConst                  // the graph's
	SlotArena                  // in the arena of the execution
	SlotResult                 // the caller's
)

// A Slot describes the memory of one value.
type Slot struct {
	Kind        SlotKind
	Bytes       int
	Offset      int            // in the arena
	Constant    unsafe.Pointer // of SlotConst
	Keep        any            // holds the constant's memory
	First, Last int            // first and last instruction that use it
}

// A frame is the state of one execution of a program.
type frame struct {
	prog     *Program
	ptrs     []unsafe.Pointer // by slot
	arena    *arena
	scratch  []unsafe.Pointer   // by thread
	views    [][]unsafe.Pointer // by thread: addresses for SlotView
	calls    []kernelCall       // by thread
	given    []bool             // by slot: packed before the execution
	parallel bool
	dotBatch int // current batch of a shared product
}

// kernelCall is memory for the arguments of kernels with many arguments, on its own cache lines.
type kernelCall struct {
	kernel.GemmCall
	kernel.AttentionCall
	_ [2 * CacheLine]byte
}

// do runs a task in parts.
func (fr *frame) do(t task, parts int) {
	if fr.parallel {
		fr.prog.Machine.pool.run(t, fr, parts)
		return
	}
	for part := range parts {
		t.part(fr, share{part: part, parts: parts})
	}
}

// acquireFrame returns an idle frame or a new one, with an arena of the machine.
func (p *Program) acquireFrame() *frame {
	threads := p.Machine.Threads
	var fr *frame
	p.mu.Lock()
	if n := len(p.frames); n > 0 {
		fr = p.frames[n-1]
		p.frames = p.frames[:n-1]
	}
	p.mu.Unlock()
	if fr == nil {
		fr = &frame{prog: p, ptrs: make([]unsafe.Pointer, len(p.Slots)), given: make([]bool, len(p.Slots)), scratch: make([]unsafe.Pointer, threads), calls: make([]kernelCall, threads)}
		for range threads {
			fr.views = append(fr.views, make([]unsafe.Pointer, kernel.RoundUp(p.Views, CacheLine/8))) // on its own cache line
		}
		for i := range p.Slots {
			if s := &p.Slots[i]; s.Kind == SlotConst {
				fr.ptrs[i] = s.Constant
			}
		}
	}
	fr.useArena(p.Machine.arenas.acquire(p.ArenaBytes + threads*p.ScratchBytes))
	return fr
}

// useArena sets the frame's addresses in an arena.
func (fr *frame) useArena(a *arena) {
	fr.arena = a
	for i := range fr.prog.Slots {
		if s := &fr.prog.Slots[i]; s.Kind == SlotArena {
			fr.ptrs[i] = a.at(s.Offset)
		}
	}
	for i := range fr.scratch {
		fr.scratch[i] = a.at(fr.prog.ArenaBytes + i*fr.prog.ScratchBytes)
	}
}

// releaseFrame returns a frame.
func (p *Program) releaseFrame(fr *frame) {
	for _, s := range p.Params {
		fr.ptrs[s] = nil
	}
	for _, s := range p.Results {
		fr.ptrs[s] = nil
	}
	clear(fr.calls) // they point into tensors
	clear(fr.given)
	for i := range p.Slots {
		if p.Slots[i].Kind == SlotArena {
			fr.ptrs[i] = nil
		}
	}
	clear(fr.scratch)
	for _, views := range fr.views {
		clear(views)
	}
	p.Machine.arenas.release(fr.arena)
	fr.arena = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.frames = append(p.frames, fr)
	}
}

// Execute runs the program on given memory for its parameters and results. It uses all threads or, if another execution has them or
// they sleep and the program is small, the caller's thread, with the same results. packed has the memory of each packing, or nil where
// the program shall pack; it may be empty.
func (p *Program) Execute(params, results, packed []unsafe.Pointer) {
	parallel := p.Machine.pool.begin(p.Small)
	p.run(params, results, packed, parallel)
	if parallel {
		p.Machine.pool.end()
	}
}

// run executes the program, in parallel if the execution owns the threads.
func (p *Program) run(params, results, packed []unsafe.Pointer, parallel bool) {
	fr := p.acquireFrame()
	for i, s := range p.Params {
		fr.ptrs[s] = params[i]
	}
	for i, s := range p.Results {
		fr.ptrs[s] = results[i]
	}
	for i, memory := range packed {
		if slot := p.Packings[i].Slot; memory != nil {
			fr.ptrs[slot], fr.given[slot] = memory, true
		}
	}
	fr.parallel = parallel
	for _, in := range p.Instructions {
		in.run(fr)
	}
	p.releaseFrame(fr)
}

// Release frees idle frames. Frames in use are freed when they are returned.
func (p *Program) Release() {
	for _, c := range p.Children {
		c.Release()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.frames = nil
}

// An Operand is an operand whose elements are in order: a slot and an offset in bytes.
type Operand struct{ Slot, Offset int }

func (o Operand) at(fr *frame) unsafe.Pointer { return unsafe.Add(fr.ptrs[o.Slot], o.Offset) }

// slice returns memory as a slice of n elements.
func slice[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

func copyBytes(dst, src unsafe.Pointer, n int) {
	copy(slice[byte](dst, n), slice[byte](src, n))
}

// product returns the number of elements of a tensor.
func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}
