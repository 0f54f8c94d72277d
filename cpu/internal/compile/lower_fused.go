package compile

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// tileElements is the target number of elements of a tile: 8 KB of float32, a fraction of the L1 cache.
const tileElements = 2048

// shortestRun is the minimum number of consecutive rows for tiles that end with the run.
const shortestRun = 8

// A fuser compiles a fused group to a row program.
type fuser struct {
	em       *emitter
	group    *graph.Group
	prog     *exec.Fused
	where    map[*graph.Expr]exec.Address // members
	loaded   map[*graph.Expr]fusedOperand
	virtuals []virtualRegister
	whole    map[int]kernel.Key // steps that are one operation on two operands of their own size
}

// A virtualRegister is a register without an address; place.offset holds its index until it gets one.
type virtualRegister struct {
	full  bool // tile x cols elements; otherwise one per row
	size  int
	fixed bool // set in the prologue and kept for all tiles
	view  int  // Step.View of the load that fills it
}

// lowerFused emits the instruction of a fused group.
func (em *emitter) lowerFused(group *graph.Group) {
	p := &exec.Fused{Rows: group.Size, Cols: 1, Parts: 1}
	cols := group.Cols
	if cols == 0 && group.RowHint != 0 && group.Size%group.RowHint == 0 {
		cols = group.RowHint
	}
	if cols != 0 {
		p.Cols, p.Rows = cols, group.Size/cols
	}
	if a, ok := group.Members[0].Attr.(graph.ReduceAttr); ok && group.Size == 0 {
		p.Rows, p.Cols = emptyExtent(group.Members[0], a)
	}
	p.Tile = min(max(1, tileElements/max(1, p.Cols)), max(1, p.Rows))
	if parts := min(em.partsOf(group.Size), p.Rows/p.Tile); parts >= em.prog.Machine.Threads {
		p.Parts = parts
	}
	f := &fuser{em: em, group: group, prog: p, where: make(map[*graph.Expr]exec.Address), loaded: make(map[*graph.Expr]fusedOperand), whole: make(map[int]kernel.Key)}
	for _, e := range group.Members {
		f.member(e)
	}
	if p.Run < min(p.Tile, shortestRun) {
		p.Run = 0
	}
	f.pairSteps()
	f.assignRegisters()
	em.emitAccess(p, f.accesses())
	f.noteInPlace()
}

// partsOf returns the number of parts of a task that computes so many elements.
func (em *emitter) partsOf(elements int) int {
	const large = 16 // times the least that is shared: taking a part is then a small share of its time
	m := em.prog.Machine
	switch {
	case elements < m.Share:
		return 1
	case elements < large*m.Share:
		return m.Threads
	}
	return m.Parts()
}

// member adds the steps of one operation.
func (f *fuser) member(e *graph.Expr) {
	defer ir.Blame(e.Name())
	if graph.IsReduce(e.Op) {
		f.reduction(e)
	} else {
		f.elementwise(e)
	}
}

// emptyExtent returns the rows and columns of a reduction of no elements.
func emptyExtent(e *graph.Expr, a graph.ReduceAttr) (rows, cols int) {
	if a.Leading {
		return a.Length, e.Size()
	}
	return e.Size(), a.Length
}

// elementwise adds the steps of one member.
func (f *fuser) elementwise(e *graph.Expr) {
	k := f.em.kernels()
	if e.Op == graph.OpCopy {
		f.copyView(e)
		return
	}
	in := make([]fusedOperand, len(e.Operands))
	for i, x := range e.Operands {
		in[i] = f.resolve(x, e.Kind)
	}
	s := exec.Step{B: exec.Nowhere, C: exec.Nowhere, Extent: f.extentOf(e.Kind)}
	key := kernel.Key{Op: e.Op, DType: e.Operands[0].DType}
	switch {
	case e.Op == compute.OpTypeConvertDType:
		s.Kernel = k.Convert[[2]dtypes.DType{e.Operands[0].DType, e.DType}]
	case e.Op == compute.OpTypeWhere:
		s.Kernel = k.Where[e.DType.Size()]
	default:
		s.Kernel = k.Elementwise[key]
	}
	if s.Kernel == nil {
		panic(ir.Unsupported{What: fmt.Sprintf("%s of %s", e.Op, e.Operands[0].DType)})
	}
	if len(in) == 2 && in[0].mode == modeFull && in[1].mode != modeFull && k.RowRight[key] != nil {
		s.Kernel, s.A, s.B, s.Extent = k.RowRight[key], in[0].Address, in[1].Address, repeatExtent(e.Kind, in[1].mode)
	} else if len(in) == 2 && in[1].mode == modeFull && in[0].mode != modeFull && k.RowLeft[key] != nil {
		s.Kernel, s.A, s.B, s.Extent = k.RowLeft[key], in[0].Address, in[1].Address, repeatExtent(e.Kind, in[0].mode)
	} else {
		operands := [3]*exec.Address{&s.A, &s.B, &s.C}
		for i, o := range in {
			*operands[i] = f.widen(o, e.Operands[i].DType.Size(), e.Kind)
		}
		if len(in) == 2 {
			f.whole[len(f.prog.Steps)] = key
		}
	}
	s.Dst = f.target(e)
	f.prog.Steps = append(f.prog.Steps, s)
}

// copyView loads a view straight into the place of member e.
func (f *fuser) copyView(e *graph.Expr) {
	x := e.Operands[0]
	size := e.DType.Size()
	if x.View.Base.Group == f.group && f.group != nil {
		o := f.resolve(x, e.Kind)
		s := exec.Step{Kernel: kernel.Copy[size], Dst: f.target(e), A: o.Address, B: exec.Nowhere, C: exec.Nowhere, Extent: f.extentOf(e.Kind)}
		if o.mode != modeFull {
			s.Kernel, s.Extent = f.em.kernels().Fill[size], repeatExtent(e.Kind, o.mode)
		}
		f.prog.Steps = append(f.prog.Steps, s)
		return
	}
	d, s := graph.Collapse(x.Dims, x.View.Strides)
	if len(d) == 0 {
		d, s = []int{1}, []int{0}
	}
	if len(d) > exec.MaxRank {
		panic(ir.Unsupported{What: fmt.Sprintf("a view of %d axes", len(d))})
	}
	from := exec.Address{Slot: f.em.slotOf(x.View.Base), Offset: x.View.Offset * size}
	f.addLoad(f.target(e), from, size, d, s, e.Kind, false)
}

// reduction adds the steps of a member that reduces elements.
func (f *fuser) reduction(e *graph.Expr) {
	k := f.em.kernels()
	key := kernel.Key{Op: ir.ReduceOps[e.Op], DType: e.DType}
	reduce, accumulate := k.Reduce[key], k.Accumulate[key]
	if reduce == nil || accumulate == nil {
		panic(ir.Unsupported{What: fmt.Sprintf("%s of %s", e.Op, e.DType)})
	}
	x := e.Operands[0]
	kind := graph.KindFull
	if x.View.Base.Group == f.group && x.View.Base.Kind == graph.KindRow {
		kind = graph.KindRow
	}
	src := f.widen(f.resolve(x, kind), e.DType.Size(), kind)
	s := exec.Step{A: src, B: exec.Nowhere, C: exec.Nowhere, Extent: f.extentOf(kind)}
	switch e.Kind {
	case graph.KindRow:
		s.Kernel, s.Dst = reduce, f.target(e)
	case graph.KindColumn:
		s.Kernel, s.Dst = accumulate, f.partial(e, key)
	case graph.KindAll:
		s.Kernel, s.Dst, s.Extent = reduce, f.newRegister(false, e.DType.Size(), false), repeatExtent(kind, modeScalar)
		f.prog.Steps = append(f.prog.Steps, s)
		sum := f.partial(e, key)
		s = exec.Step{Kernel: k.Elementwise[key], Dst: sum, A: sum, B: s.Dst, C: exec.Nowhere, Extent: exec.ExtentUnit}
	}
	f.prog.Steps = append(f.prog.Steps, s)
}

// partial reserves memory for the accumulators of e in each part.
func (f *fuser) partial(e *graph.Expr, key kernel.Key) exec.Address {
	size := e.DType.Size()
	slot := f.em.temp(f.em.prog.Machine.Parts() * e.Size() * size)
	f.prog.Partials = append(f.prog.Partials, exec.Partial{
		Slot: slot, Dst: f.em.slotOf(e), Count: e.Size(), Size: size,
		Neutral: kernel.Neutral[key], Combine: f.em.kernels().Elementwise[key],
	})
	return exec.Address{Slot: slot, PartStep: e.Size() * size}
}
