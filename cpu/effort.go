package cpu

import "math"

// Waking the helpers and meeting them after every instruction costs about as much as some ten thousand multiplications each
// time. A program whose instructions do less than that on average, such as one step of decoding a single sequence, is faster on
// the thread of its caller, and much faster where other processes want the cores.
const (
	effortPerShare = 8 // of an instruction, in units of backend.share: below it a program is not shared
	effortOfOne    = 2 // of computing one element: fewer than its multiplications would be, more than none
)

// worthSharing tells whether the threads should share the instructions of a program.
func (em *emitter) worthSharing() bool {
	if len(em.prog.children) > 0 {
		return true // nobody knows how often they run
	}
	total := 0.0
	for _, e := range em.g.exprs {
		total += effort(e)
	}
	return total >= float64(effortPerShare*em.prog.backend.share*max(1, len(em.prog.instrs)))
}

// effort is about how many multiplications a value takes.
func effort(e *expr) float64 {
	if e.view.base != nil && e.view.base != e || e.isLeaf() {
		return 0
	}
	switch a := e.attr.(type) {
	case dotAttr:
		terms := 1
		for _, axis := range a.lhsContract {
			terms *= e.in[0].dims[axis]
		}
		return float64(terms) * float64(e.size())
	case *attentionAttr:
		scores := float64(e.in[0].size()) * float64(e.in[1].dims[a.layout.SeqAxis()])
		return 5 * scores // forward 2 products, backward 5
	case *convAttr, *windowAttr, *sortAttr, *scatterAttr:
		return math.Inf(1)
	}
	if e.op == opOutput {
		return 0
	}
	return effortOfOne * float64(e.size())
}
