package compile

import (
	"cmp"
	"fmt"
	"slices"

	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
)

// A fusedOperand is the location and form of a kernel's operand.
type fusedOperand struct {
	exec.Address
	mode operandMode
}

type operandMode uint8

const (
	modeFull   operandMode = iota // as many elements as the operation
	modeRow                       // one per row of a full operation
	modeScalar                    // a single one
)

// newRegister makes a register.
func (f *fuser) newRegister(full bool, size int, fixed bool) exec.Address {
	f.virtuals = append(f.virtuals, virtualRegister{full: full, size: size, fixed: fixed})
	return exec.Address{Slot: exec.SlotScratch, Offset: len(f.virtuals) - 1}
}

// target returns the destination of member e: memory if it is needed outside the group, otherwise a register.
func (f *fuser) target(e *graph.Expr) exec.Address {
	full := e.Kind == graph.KindFull
	if !f.em.escapes(e) {
		pl := f.newRegister(full, e.DType.Size(), false)
		f.where[e] = pl
		return pl
	}
	pl := exec.Address{Slot: f.em.slotOf(e), RowStep: e.DType.Size()}
	if full {
		pl.RowStep *= f.prog.Cols
	}
	f.where[e] = pl
	return pl
}

// resolve returns operand x of an operation of the given kind.
func (f *fuser) resolve(x *graph.Expr, kind graph.MemberKind) fusedOperand {
	b := x.View.Base
	if b.Group == f.group && b.Group != nil {
		if b.Kind == graph.KindRow && kind == graph.KindFull {
			return fusedOperand{f.where[b], modeRow}
		}
		return fusedOperand{f.where[b], modeFull}
	}
	if o, ok := f.loaded[x]; ok {
		return o
	}
	o := f.external(x, kind)
	if o.Slot == exec.SlotScratch {
		f.loaded[x] = o
	}
	return o
}

// external returns an operand that is computed before the group runs.
func (f *fuser) external(x *graph.Expr, kind graph.MemberKind) fusedOperand {
	size := x.DType.Size()
	base := exec.Address{Slot: f.em.slotOf(x.View.Base), Offset: x.View.Offset * size}
	if x.View.IsDense() && !(x.Size() == 1 && f.group.Size > 1) {
		base.RowStep = size
		if kind == graph.KindFull {
			base.RowStep *= f.prog.Cols
		}
		return fusedOperand{base, modeFull}
	}
	d, s := graph.Collapse(x.Dims, x.View.Strides)
	rows, cols := f.prog.Rows, f.prog.Cols
	switch {
	case len(d) == 0 || len(d) == 1 && s[0] == 0:
		return fusedOperand{base, modeScalar}
	case kind == graph.KindFull && len(d) == 2 && d[0] == rows && d[1] == cols && s[0] == 1 && s[1] == 0:
		base.RowStep = size
		return fusedOperand{base, modeRow}
	case kind == graph.KindFull && len(d) == 2 && d[0] == rows && d[1] == cols && s[0] == 0 && s[1] == 1:
		if f.prog.Tile == 1 {
			return fusedOperand{base, modeFull}
		}
		return fusedOperand{f.loadStep(x, base, d, s, kind, true), modeFull}
	}
	if d, s := f.repeatedInRows(d, s, kind); d != nil {
		return fusedOperand{f.loadStep(x, base, d, s, graph.KindRow, false), modeRow}
	}
	return fusedOperand{f.loadStep(x, base, d, s, kind, false), modeFull}
}

// repeatedInRows returns an operand of a full operation as one element per row if all columns of a row read the same element,
// otherwise nil.
func (f *fuser) repeatedInRows(dims, strides []int, kind graph.MemberKind) (d, s []int) {
	last := len(dims) - 1
	if cols := f.prog.Cols; kind != graph.KindFull || cols == 1 || strides[last] != 0 || dims[last]%cols != 0 {
		return nil, nil
	}
	d = slices.Clone(dims)
	d[last] /= f.prog.Cols
	return graph.Collapse(d, strides)
}

// loadStep gathers an operand into a register, for each tile or once.
func (f *fuser) loadStep(x *graph.Expr, from exec.Address, dims, strides []int, kind graph.MemberKind, once bool) exec.Address {
	if len(dims) > exec.MaxRank {
		panic(ir.Unsupported{What: fmt.Sprintf("a view of %d axes", len(dims))})
	}
	reg := f.newRegister(kind == graph.KindFull, x.DType.Size(), once)
	f.addLoad(reg, from, x.DType.Size(), dims, strides, kind, once)
	if last := len(dims) - 1; kind == graph.KindFull && !once && strides[last] == 1 && dims[last] > f.prog.Cols && dims[last]%f.prog.Cols == 0 {
		f.prog.Views++
		f.prog.Steps[len(f.prog.Steps)-1].View, f.virtuals[reg.Offset].view = f.prog.Views, f.prog.Views
		f.prog.Run = cmp.Or(f.prog.Run, dims[last]/f.prog.Cols)
	}
	return reg
}

func (f *fuser) addLoad(dst, from exec.Address, size int, dims, strides []int, kind graph.MemberKind, once bool) {
	s := exec.Step{Dst: dst, A: from, B: exec.Nowhere, C: exec.Nowhere, Load: &exec.StridedLoad{Size: size, Dims: dims, Strides: strides}, Extent: f.extentOf(kind)}
	if once {
		f.prog.Prologue = append(f.prog.Prologue, s)
	} else {
		f.prog.Steps = append(f.prog.Steps, s)
	}
}

// extentOf returns the extent of an operation whose operands have its own size.
func (f *fuser) extentOf(kind graph.MemberKind) exec.Extent {
	if kind == graph.KindRow {
		return exec.ExtentRows
	}
	return exec.ExtentTile
}

// repeatExtent returns the extent of an operation with one smaller operand.
func repeatExtent(kind graph.MemberKind, mode operandMode) exec.Extent {
	switch {
	case mode == modeRow:
		return exec.ExtentTile
	case kind == graph.KindRow:
		return exec.ExtentOne
	}
	return exec.ExtentFlat
}

// widen expands an operand to the size of the operation.
func (f *fuser) widen(o fusedOperand, size int, kind graph.MemberKind) exec.Address {
	if o.mode == modeFull {
		return o.Address
	}
	once := o.mode == modeScalar
	reg := f.newRegister(kind == graph.KindFull, size, once)
	s := exec.Step{Kernel: f.em.kernels().Fill[size], Dst: reg, A: o.Address, B: exec.Nowhere, C: exec.Nowhere, Extent: repeatExtent(kind, o.mode)}
	if once {
		f.prog.Prologue = append(f.prog.Prologue, s)
	} else {
		f.prog.Steps = append(f.prog.Steps, s)
	}
	return reg
}
