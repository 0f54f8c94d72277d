package compile

import (
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/kernel"
)

// pairSteps merges two steps if nothing else needs the result of the first and there is a kernel for both, which saves reading and
// writing the tile once. Rounding does not change.
func (f *fuser) pairSteps() {
	if len(f.em.kernels().Pairs) == 0 {
		return
	}
	writer := slices.Repeat([]int{-1}, len(f.virtuals)) // the step that fills a register, -1 in the prologue
	reads := make([]int, len(f.virtuals))
	steps := f.prog.Steps
	for i := range steps {
		for _, pl := range steps[i].Places() {
			switch {
			case pl.Slot != exec.SlotScratch:
			case pl == &steps[i].Dst:
				writer[pl.Offset] = i
			default:
				reads[pl.Offset]++
			}
		}
	}
	onlyHere := func(made exec.Address) int { // the step that computes it; -1 if another step reads it too
		if made.Slot != exec.SlotScratch || reads[made.Offset] != 1 {
			return -1
		}
		return writer[made.Offset]
	}
	gone := make([]bool, len(steps))
	for i := range steps {
		a, b := steps[i].A, steps[i].B
		if at := onlyHere(a); f.pair(at, i, b) {
			gone[at] = true
		} else if at := onlyHere(b); f.whole[i].Op != compute.OpTypeSub && f.pair(at, i, a) {
			gone[at] = true
		}
	}
	f.prog.Steps = nil
	for i, s := range steps {
		if !gone[i] {
			f.prog.Steps = append(f.prog.Steps, s)
		}
	}
}

// pair merges step at into step i, which applies its operation to the result and another operand. It reports false if there is no
// kernel for both.
func (f *fuser) pair(at, i int, other exec.Address) bool {
	first, ok := f.whole[at]
	then, also := f.whole[i]
	both := f.em.kernels().Pairs[kernel.Pair{First: first.Op, Second: then.Op, DType: then.DType}]
	s, before := &f.prog.Steps[i], &f.prog.Steps[max(at, 0)]
	if !ok || !also || both == nil || first.DType != then.DType || before.Extent != s.Extent {
		return false
	}
	s.Kernel, s.A, s.B, s.C = both, before.A, before.B, other
	delete(f.whole, at)
	delete(f.whole, i)
	return true
}
