package compile

import (
	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/kernel"
)

// pairSteps makes one step of two, where nothing else needs what the first computes and there is a kernel for both: the tile is read and
// written once less. Every operation is rounded as before.
func (f *fuser) pairSteps() {
	pairs := f.em.kernels().Pairs
	if len(pairs) == 0 {
		return
	}
	steps := f.prog.Steps
	writer, reads := make([]int, len(f.virtuals)), make([]int, len(f.virtuals))
	for i := range writer {
		writer[i] = -1 // the prologue
	}
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
	gone := make([]bool, len(steps))
	for i := range steps {
		then, ok := f.whole[i]
		if !ok {
			continue
		}
		s := &steps[i]
		for _, order := range [][2]exec.Address{{s.A, s.B}, {s.B, s.A}} {
			made, other := order[0], order[1]
			if made != s.A && then.Op == compute.OpTypeSub || made.Slot != exec.SlotScratch || reads[made.Offset] != 1 {
				continue
			}
			at := writer[made.Offset]
			first, ok := f.whole[at]
			both := pairs[kernel.Pair{First: first.Op, Second: then.Op, DType: then.DType}]
			if !ok || both == nil || first.DType != then.DType || steps[at].Extent != s.Extent {
				continue
			}
			s.Kernel, s.A, s.B, s.C = both, steps[at].A, steps[at].B, other
			gone[at] = true
			delete(f.whole, at)
			delete(f.whole, i)
			break
		}
	}
	kept := steps[:0]
	for i := range steps {
		if !gone[i] {
			kept = append(kept, steps[i])
		}
	}
	f.prog.Steps = kept
}
