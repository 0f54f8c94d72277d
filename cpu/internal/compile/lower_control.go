package compile

import (
	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
)

// compileClosure compiles f and removes the captured operands from the front of in.
func (em *emitter) compileClosure(f *ir.Function, in *[]exec.Operand) *exec.Subprogram {
	caught := ir.Captures(f)
	p := compileGraph(graph.Build(f, caught), em.prog.Machine)
	em.prog.Children = append(em.prog.Children, p)
	s := &exec.Subprogram{Program: p, Captured: (*in)[:len(caught)]}
	*in = (*in)[len(caught):]
	return s
}

// lowerControl emits Call, If and While.
func (em *emitter) lowerControl(a *ir.CallAttr, e *graph.Expr, in []exec.Operand) {
	outs := make([]int, len(e.Outputs))
	for i, o := range e.Outputs {
		outs[i] = em.slotOf(o)
	}
	switch e.Op {
	case compute.OpTypeCall:
		if ir.IsCrossEntropy(a.Functions[0]) {
			em.lowerCrossEntropy(a.Functions[0], e, in)
			return
		}
		if form, ok := ir.ParseBlockAttention(a.Functions[0]); ok {
			em.lowerBlockAttention(form, e, in)
			return
		}
		p := compileGraph(graph.Build(a.Functions[0], nil), em.prog.Machine)
		em.prog.Children = append(em.prog.Children, p)
		em.emit(&exec.Call{Target: &exec.Subprogram{Program: p}, In: in, Outs: outs}, em.touched(e)...)
	case compute.OpTypeIf:
		rest := in[1:]
		onTrue := em.compileClosure(a.Functions[0], &rest)
		onFalse := em.compileClosure(a.Functions[1], &rest)
		em.emit(&exec.If{Pred: in[0], OnTrue: onTrue, OnFalse: onFalse, Outs: outs}, em.touched(e)...)
	case compute.OpTypeWhile:
		em.lowerWhile(a, e, in, outs)
	}
}

func (em *emitter) lowerWhile(a *ir.CallAttr, e *graph.Expr, in []exec.Operand, outs []int) {
	w := &exec.While{Initial: in[:len(outs)], Outs: outs}
	rest := in[len(outs):]
	w.Cond = em.compileClosure(a.Functions[0], &rest)
	w.Body = em.compileClosure(a.Functions[1], &rest)
	slots := em.touched(e)
	for _, o := range e.Outputs {
		w.Bytes = append(w.Bytes, o.Bytes())
		w.Spare = append(w.Spare, em.temp(o.Bytes()))
	}
	w.Condition = em.temp(1)
	slots = append(append(slots, w.Spare...), w.Condition)
	em.emit(w, slots...)
}

// lowerSort emits Sort: a stable sort of positions along the axis, followed by a move of every tensor.
func (em *emitter) lowerSort(a *ir.SortAttr, e *graph.Expr, in []exec.Operand) {
	n := len(e.Outputs)
	rest := in[n:]
	s := &exec.Sort{In: in[:n], Compare: em.compileClosure(a.Comparator, &rest)}
	dims := e.Outputs[0].Dims
	s.Outer, s.Length, s.Inner = graph.Product(dims[:a.Axis]), dims[a.Axis], graph.Product(dims[a.Axis+1:])
	for _, o := range e.Outputs {
		s.Outs = append(s.Outs, em.slotOf(o))
		s.Sizes = append(s.Sizes, o.DType.Size())
	}
	em.emit(s, em.touched(e)...)
}
