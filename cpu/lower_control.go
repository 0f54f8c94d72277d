package cpu

import (
	"github.com/gomlx/compute"
)

// compileClosure compiles f and takes the captured operands from the front of in.
func (em *emitter) compileClosure(f *irFunction, in *[]denseIn) *subprogram {
	caught := captures(f)
	p := compileGraph(graphOf(f, caught), em.prog.machine)
	em.prog.children = append(em.prog.children, p)
	s := &subprogram{prog: p, captured: (*in)[:len(caught)]}
	*in = (*in)[len(caught):]
	return s
}

// lowerControl emits Call, If and While.
func (em *emitter) lowerControl(a *callAttr, e *expr, in []denseIn) {
	outs := make([]int, len(e.outs))
	for i, o := range e.outs {
		outs[i] = em.slotOf(o)
	}
	switch e.op {
	case compute.OpTypeCall:
		p := compileGraph(graphOf(a.fns[0], nil), em.prog.machine)
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
