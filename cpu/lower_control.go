package cpu

import (
	"encoding/binary"
	"math/rand/v2"
	"sort"
	"unsafe"

	"github.com/gomlx/compute"
)

// subprogram is a compiled closure with the values it captures.
type subprogram struct {
	prog     *program
	captured []denseIn
}

// compileClosure compiles f and takes the captured operands from the front of in.
func (em *emitter) compileClosure(f *function, in *[]denseIn) *subprogram {
	caught := captures(f)
	p := compileGraph(graphOf(f, caught))
	em.prog.children = append(em.prog.children, p)
	s := &subprogram{prog: p, captured: (*in)[:len(caught)]}
	*in = (*in)[len(caught):]
	return s
}

// run executes the closure on the given parameters.
func (s *subprogram) run(fr *frame, params, results []unsafe.Pointer) {
	for _, c := range s.captured {
		params = append(params, c.at(fr))
	}
	s.prog.run(params, results, fr.parallel)
}

// lowerControl emits Call, If and While.
func (em *emitter) lowerControl(a *callAttr, e *expr, in []denseIn) {
	outs := make([]int, len(e.outs))
	for i, o := range e.outs {
		outs[i] = em.slotOf(o)
	}
	switch e.op {
	case compute.OpTypeCall:
		p := compileGraph(graphOf(a.fns[0], nil))
		em.prog.children = append(em.prog.children, p)
		em.emit(&callInstr{&subprogram{prog: p}, in, outs}, em.touched(e)...)
	case compute.OpTypeIf:
		rest := in[1:]
		onTrue := em.compileClosure(a.fns[0], &rest)
		onFalse := em.compileClosure(a.fns[1], &rest)
		em.emit(&ifInstr{in[0], onTrue, onFalse, outs}, em.touched(e)...)
	case compute.OpTypeWhile:
		em.lowerWhile(a, e, in, outs)
	}
}

func (em *emitter) lowerWhile(a *callAttr, e *expr, in []denseIn, outs []int) {
	w := &whileInstr{initial: in[:len(outs)], outs: outs}
	rest := in[len(outs):]
	w.cond = em.compileClosure(a.fns[0], &rest)
	w.body = em.compileClosure(a.fns[1], &rest)
	slots := em.touched(e)
	for _, o := range e.outs {
		w.bytes = append(w.bytes, o.bytes())
		w.spare = append(w.spare, em.temp(o.bytes()))
	}
	w.going = em.temp(1)
	slots = append(append(slots, w.spare...), w.going)
	em.emit(w, slots...)
}

type callInstr struct {
	fn   *subprogram
	in   []denseIn
	outs []int
}

func (c *callInstr) run(fr *frame) {
	params := make([]unsafe.Pointer, len(c.in))
	for i, x := range c.in {
		params[i] = x.at(fr)
	}
	c.fn.run(fr, params, pointers(fr, c.outs))
}

func pointers(fr *frame, slots []int) []unsafe.Pointer {
	p := make([]unsafe.Pointer, len(slots))
	for i, s := range slots {
		p[i] = fr.ptrs[s]
	}
	return p
}

type ifInstr struct {
	pred            denseIn
	onTrue, onFalse *subprogram
	outs            []int
}

func (c *ifInstr) run(fr *frame) {
	branch := c.onFalse
	if *(*bool)(c.pred.at(fr)) {
		branch = c.onTrue
	}
	branch.run(fr, nil, pointers(fr, c.outs))
}

// whileInstr alternates the state between the memory of its results and a spare one.
type whileInstr struct {
	cond, body *subprogram
	initial    []denseIn
	outs       []int
	spare      []int // slots
	bytes      []int
	going      int // slot of the condition
}

func (w *whileInstr) run(fr *frame) {
	state := make([]unsafe.Pointer, len(w.initial), len(w.initial)+max(len(w.cond.captured), len(w.body.captured)))
	for i, x := range w.initial {
		state[i] = x.at(fr)
	}
	outs, next := pointers(fr, w.outs), pointers(fr, w.spare)
	other := outs
	going := []unsafe.Pointer{fr.ptrs[w.going]}
	for {
		w.cond.run(fr, state, going)
		if !*(*bool)(going[0]) {
			break
		}
		w.body.run(fr, state, next)
		copy(state, next)
		next, other = other, next
	}
	for i := range outs {
		if state[i] != outs[i] {
			copyBytes(outs[i], state[i], w.bytes[i])
		}
	}
}

// lowerSort emits Sort: a stable sort of positions along the axis, then a move of every tensor.
func (em *emitter) lowerSort(a *sortAttr, e *expr, in []denseIn) {
	n := len(e.outs)
	rest := in[n:]
	s := &sortInstr{in: in[:n], compare: em.compileClosure(a.comparator, &rest)}
	dims := e.outs[0].dims
	s.outer, s.length, s.inner = product(dims[:a.axis]), dims[a.axis], product(dims[a.axis+1:])
	for _, o := range e.outs {
		s.outs = append(s.outs, em.slotOf(o))
		s.sizes = append(s.sizes, o.dtype.Size())
	}
	em.emit(s, em.touched(e)...)
}

type sortInstr struct {
	in                   []denseIn
	outs, sizes          []int
	outer, length, inner int
	compare              *subprogram
}

func (s *sortInstr) run(fr *frame) {
	order := make([]int, s.length)
	params := make([]unsafe.Pointer, 2*len(s.in), 2*len(s.in)+len(s.compare.captured))
	var less bool
	result := []unsafe.Pointer{unsafe.Pointer(&less)}
	for o := range s.outer {
		for i := range s.inner {
			first := o*s.length*s.inner + i
			for l := range order {
				order[l] = l
			}
			sort.SliceStable(order, func(a, b int) bool {
				for t, x := range s.in {
					params[2*t] = unsafe.Add(x.at(fr), (first+order[a]*s.inner)*s.sizes[t])
					params[2*t+1] = unsafe.Add(x.at(fr), (first+order[b]*s.inner)*s.sizes[t])
				}
				s.compare.run(fr, params, result)
				return less
			})
			for t, x := range s.in {
				for l, from := range order {
					copyBytes(unsafe.Add(fr.ptrs[s.outs[t]], (first+l*s.inner)*s.sizes[t]),
						unsafe.Add(x.at(fr), (first+from*s.inner)*s.sizes[t]), s.sizes[t])
				}
			}
		}
	}
}

// rngInstr draws random bits from the PCG generator of math/rand/v2, whose state is the first two words:
// the same bits as the portable backend.
type rngInstr struct {
	state          denseIn
	newState, bits int
	bytes          int
	boolean        bool
}

func (r *rngInstr) run(fr *frame) {
	state := slice[uint64](r.state.at(fr), 3)
	rng := rand.NewPCG(state[0], state[1])
	out := slice[byte](fr.ptrs[r.bits], r.bytes)
	for len(out) >= 8 {
		binary.LittleEndian.PutUint64(out, rng.Uint64())
		out = out[8:]
	}
	if len(out) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], rng.Uint64())
		copy(out, last[:])
	}
	if r.boolean {
		for i, b := range slice[byte](fr.ptrs[r.bits], r.bytes) {
			slice[byte](fr.ptrs[r.bits], r.bytes)[i] = b & 1
		}
	}
	saved, err := rng.MarshalBinary() // "pcg:" and two big-endian words
	if err != nil {
		panic(err)
	}
	next := slice[uint64](fr.ptrs[r.newState], 3)
	next[0], next[1], next[2] = binary.LittleEndian.Uint64(saved[4:]), binary.LittleEndian.Uint64(saved[12:]), state[2]
}
