package cpu

import (
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// tileElements is the aim for the elements of a tile: 8 KB of float32, a sixth of the nearest cache.
const tileElements = 2048

// fuser turns a fused group into a row program.
type fuser struct {
	em       *emitter
	u        *unit
	prog     *rowProgram
	where    map[*expr]place // members
	loaded   map[*expr]operand
	virtuals []virtual
}

// virtual is a register before it has an address: place.offset holds its index until then.
type virtual struct {
	full  bool // tile x cols elements, else one for each row
	size  int
	fixed bool // set in the prologue, lives for all tiles
}

// operand is where and how a kernel finds a value.
type operand struct {
	place
	mode operandMode
}

type operandMode uint8

const (
	modeFull   operandMode = iota // as many elements as the operation
	modeRow                       // one for each row of a full operation
	modeScalar                    // a single one
)

// lowerFused emits the instruction of a fused group.
func (em *emitter) lowerFused(u *unit) {
	p := &rowProgram{rows: u.n, cols: 1, parts: 1}
	cols := u.cols
	if cols == 0 && u.hint != 0 && u.n%u.hint == 0 {
		cols = u.hint
	}
	if cols != 0 {
		p.cols, p.rows = cols, u.n/cols
	} else if u.cols == 0 && u.n == 0 {
		p.rows = 0
	}
	if a, ok := u.members[0].attr.(reduceAttr); ok && u.n == 0 {
		p.rows, p.cols = emptyExtent(u.members[0], a)
	}
	p.tile = min(max(1, tileElements/max(1, p.cols)), max(1, p.rows))
	if threads := em.prog.machine.threads; u.n >= em.prog.machine.share && p.rows >= p.tile*threads {
		p.parts = threads
	}
	f := &fuser{em: em, u: u, prog: p, where: make(map[*expr]place), loaded: make(map[*expr]operand)}
	for _, e := range u.members {
		f.member(e)
	}
	f.assignRegisters()
	em.emitAccess(p, f.accesses())
	f.noteInPlace()
}

// member adds the steps of one operation.
func (f *fuser) member(e *expr) {
	defer blame(e.op.String())
	if isReduce(e.op) {
		f.reduction(e)
	} else {
		f.elementwise(e)
	}
}

// emptyExtent gives the rows and columns of a reduction of no elements.
func emptyExtent(e *expr, a reduceAttr) (rows, cols int) {
	if a.leading {
		return a.length, e.size()
	}
	return e.size(), a.length
}

// newVirtual makes a register.
func (f *fuser) newVirtual(full bool, size int, fixed bool) place {
	f.virtuals = append(f.virtuals, virtual{full, size, fixed})
	return place{slot: slotScratch, offset: len(f.virtuals) - 1}
}

// target is where member e is written: memory if somebody outside the group needs it, else a register.
func (f *fuser) target(e *expr) place {
	full := e.kind == kindFull
	if !f.em.escapes(e) {
		pl := f.newVirtual(full, e.dtype.Size(), false)
		f.where[e] = pl
		return pl
	}
	pl := place{slot: f.em.slotOf(e), rowStep: e.dtype.Size()}
	if full {
		pl.rowStep *= f.prog.cols
	}
	f.where[e] = pl
	return pl
}

// resolve finds operand x of an operation of the given kind.
func (f *fuser) resolve(x *expr, kind memberKind) operand {
	b := x.view.base
	if b.unit == f.u && b.unit != nil {
		if b.kind == kindRow && kind == kindFull {
			return operand{f.where[b], modeRow}
		}
		return operand{f.where[b], modeFull}
	}
	if o, ok := f.loaded[x]; ok {
		return o
	}
	o := f.external(x, kind)
	if o.slot == slotScratch {
		f.loaded[x] = o
	}
	return o
}

// external finds an operand that is computed before the group runs.
func (f *fuser) external(x *expr, kind memberKind) operand {
	size := x.dtype.Size()
	base := place{slot: f.em.slotOf(x.view.base), offset: x.view.offset * size}
	if x.view.isDense() && !(x.size() == 1 && f.u.n > 1) {
		base.rowStep = size
		if kind == kindFull {
			base.rowStep *= f.prog.cols
		}
		return operand{base, modeFull}
	}
	d, s := collapse(x.dims, x.view.strides)
	rows, cols := f.prog.rows, f.prog.cols
	switch {
	case len(d) == 0 || len(d) == 1 && s[0] == 0:
		return operand{base, modeScalar}
	case kind == kindFull && len(d) == 2 && d[0] == rows && d[1] == cols && s[0] == 1 && s[1] == 0:
		base.rowStep = size
		return operand{base, modeRow}
	case kind == kindFull && len(d) == 2 && d[0] == rows && d[1] == cols && s[0] == 0 && s[1] == 1:
		if f.prog.tile == 1 {
			return operand{base, modeFull}
		}
		return operand{f.loadStep(x, base, d, s, kind, true), modeFull}
	}
	return operand{f.loadStep(x, base, d, s, kind, false), modeFull}
}

// loadStep gathers an operand into a register, for each tile or once.
func (f *fuser) loadStep(x *expr, from place, dims, strides []int, kind memberKind, once bool) place {
	if len(dims) > maxRank {
		panic(unsupported{fmt.Sprintf("a view of %d axes", len(dims))})
	}
	reg := f.newVirtual(kind == kindFull, x.dtype.Size(), once)
	f.addLoad(reg, from, x.dtype.Size(), dims, strides, kind, once)
	return reg
}

func (f *fuser) addLoad(dst, from place, size int, dims, strides []int, kind memberKind, once bool) {
	s := step{dst: dst, a: from, b: nowhere, c: nowhere, load: &stridedLoad{size, dims, strides}, extent: f.extentOf(kind)}
	if once {
		f.prog.prologue = append(f.prog.prologue, s)
	} else {
		f.prog.steps = append(f.prog.steps, s)
	}
}

// extentOf is the extent of an operation of operands as large as itself.
func (f *fuser) extentOf(kind memberKind) extent {
	if kind == kindRow {
		return extentRows
	}
	return extentTile
}

// repeatExtent is the extent of an operation with one operand of fewer elements.
func repeatExtent(kind memberKind, mode operandMode) extent {
	switch {
	case mode == modeRow:
		return extentTile
	case kind == kindRow:
		return extentOne
	}
	return extentFlat
}

// widen makes an operand as large as the operation.
func (f *fuser) widen(o operand, size int, kind memberKind) place {
	if o.mode == modeFull {
		return o.place
	}
	once := o.mode == modeScalar
	reg := f.newVirtual(kind == kindFull, size, once)
	s := step{fn: f.em.kernels().fill[size], dst: reg, a: o.place, b: nowhere, c: nowhere, extent: repeatExtent(kind, o.mode)}
	if once {
		f.prog.prologue = append(f.prog.prologue, s)
	} else {
		f.prog.steps = append(f.prog.steps, s)
	}
	return reg
}

// elementwise adds the steps of one member.
func (f *fuser) elementwise(e *expr) {
	k := f.em.kernels()
	if e.op == opCopy {
		f.copyView(e)
		return
	}
	in := make([]operand, len(e.in))
	for i, x := range e.in {
		in[i] = f.resolve(x, e.kind)
	}
	s := step{b: nowhere, c: nowhere, extent: f.extentOf(e.kind)}
	key := opKey{e.op, e.in[0].dtype}
	switch {
	case e.op == compute.OpTypeConvertDType:
		s.fn = k.convert[[2]dtypes.DType{e.in[0].dtype, e.dtype}]
	case e.op == compute.OpTypeWhere:
		s.fn = k.where[e.dtype.Size()]
	default:
		s.fn = k.elementwise[key]
	}
	if s.fn == nil {
		panic(unsupported{fmt.Sprintf("%s of %s", e.op, e.in[0].dtype)})
	}
	if len(in) == 2 && in[0].mode == modeFull && in[1].mode != modeFull && k.rowRight[key] != nil {
		s.fn, s.a, s.b, s.extent = k.rowRight[key], in[0].place, in[1].place, repeatExtent(e.kind, in[1].mode)
	} else if len(in) == 2 && in[1].mode == modeFull && in[0].mode != modeFull && k.rowLeft[key] != nil {
		s.fn, s.a, s.b, s.extent = k.rowLeft[key], in[0].place, in[1].place, repeatExtent(e.kind, in[0].mode)
	} else {
		operands := [3]*place{&s.a, &s.b, &s.c}
		for i, o := range in {
			*operands[i] = f.widen(o, e.in[i].dtype.Size(), e.kind)
		}
	}
	s.dst = f.target(e)
	f.prog.steps = append(f.prog.steps, s)
}

// copyView loads a view straight into the place of member e.
func (f *fuser) copyView(e *expr) {
	x := e.in[0]
	size := e.dtype.Size()
	if x.view.base.unit == f.u && f.u != nil {
		o := f.resolve(x, e.kind)
		s := step{fn: copyKernels[size], dst: f.target(e), a: o.place, b: nowhere, c: nowhere, extent: f.extentOf(e.kind)}
		if o.mode != modeFull {
			s.fn, s.extent = f.em.kernels().fill[size], repeatExtent(e.kind, o.mode)
		}
		f.prog.steps = append(f.prog.steps, s)
		return
	}
	d, s := collapse(x.dims, x.view.strides)
	if len(d) == 0 {
		d, s = []int{1}, []int{0}
	}
	if len(d) > maxRank {
		panic(unsupported{fmt.Sprintf("a view of %d axes", len(d))})
	}
	from := place{slot: f.em.slotOf(x.view.base), offset: x.view.offset * size}
	f.addLoad(f.target(e), from, size, d, s, e.kind, false)
}

// reduction adds the steps of a member that makes one element of many.
func (f *fuser) reduction(e *expr) {
	k := f.em.kernels()
	key := opKey{reduceOps[e.op], e.dtype}
	reduce, accumulate := k.reduce[key], k.accumulate[key]
	if reduce == nil || accumulate == nil {
		panic(unsupported{fmt.Sprintf("%s of %s", e.op, e.dtype)})
	}
	x := e.in[0]
	kind := kindFull
	if x.view.base.unit == f.u && x.view.base.kind == kindRow {
		kind = kindRow
	}
	src := f.widen(f.resolve(x, kind), e.dtype.Size(), kind)
	s := step{a: src, b: nowhere, c: nowhere, extent: f.extentOf(kind)}
	switch e.kind {
	case kindRow:
		s.fn, s.dst = reduce, f.target(e)
	case kindColumn:
		s.fn, s.dst = accumulate, f.partial(e, key)
	case kindAll:
		s.fn, s.dst, s.extent = reduce, f.newVirtual(false, e.dtype.Size(), false), repeatExtent(kind, modeScalar)
		f.prog.steps = append(f.prog.steps, s)
		sum := f.partial(e, key)
		s = step{fn: k.elementwise[key], dst: sum, a: sum, b: s.dst, c: nowhere, extent: extentUnit}
	}
	f.prog.steps = append(f.prog.steps, s)
}

// partial makes room for what each part accumulates for e.
func (f *fuser) partial(e *expr, key opKey) place {
	size := e.dtype.Size()
	slot := f.em.temp(f.em.prog.machine.threads * e.size() * size)
	f.prog.partials = append(f.prog.partials, partial{
		slot: slot, dst: f.em.slotOf(e), count: e.size(), size: size,
		neutral: neutrals[key], combine: f.em.kernels().elementwise[key],
	})
	return place{slot: slot, partStep: e.size() * size}
}
