package cpu

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"
)

// emitter collects the instructions of a program.
type emitter struct {
	g          *graph
	prog       *program
	slotOfExpr map[*expr]int
	inPlace    [][2]int   // slots: the first may take over the memory of the second
	accesses   [][]access // of each instruction
	position   []int      // of each instruction in the final order, once chains are formed
}

func (em *emitter) kernels() *kernelSet { return em.prog.machine.kernels }

// claimResults decides which computed values are results as they are; the others are copied.
func (em *emitter) claimResults() {
	for i, r := range em.g.results {
		b := r.view.base
		whole := r.view.isDense() && r.view.offset == 0 && r.size() == b.size() && r.dtype == b.dtype
		if !whole || b.isLeaf() || b.result >= 0 {
			b = &expr{id: len(em.g.exprs), op: opCopy, dtype: r.dtype, dims: r.dims, in: []*expr{r}}
			b.view = view{base: b, dims: b.dims, strides: contiguous(b.dims)}
			em.g.exprs = append(em.g.exprs, b)
		}
		b.result = i
		em.g.results[i] = b
		slot := em.newSlot(slotInfo{kind: slotResult, bytes: b.bytes()})
		em.slotOfExpr[b] = slot
		em.prog.results = append(em.prog.results, slot)
	}
}

// escapes tells whether e is needed outside its group.
func (em *emitter) escapes(e *expr) bool {
	if e.result >= 0 {
		return true
	}
	return slices.ContainsFunc(e.users, func(x *expr) bool { return x.unit != e.unit })
}

func (em *emitter) newSlot(s slotInfo) int {
	s.first, s.last = -1, -1
	em.prog.slots = append(em.prog.slots, s)
	return len(em.prog.slots) - 1
}

// slotOf returns the memory of a value that is not a view.
func (em *emitter) slotOf(e *expr) int {
	if slot, ok := em.slotOfExpr[e]; ok {
		return slot
	}
	s := slotInfo{kind: slotArena, bytes: e.bytes()}
	switch e.op {
	case compute.OpTypeParameter:
		s.kind = slotParam
	case compute.OpTypeConstant:
		s.kind, s.keep = slotConst, e.attr.(*constAttr).flat
		s.constant = reflect.ValueOf(s.keep).UnsafePointer()
	}
	slot := em.newSlot(s)
	em.slotOfExpr[e] = slot
	return slot
}

// temp makes memory for the instruction that is emitted next.
func (em *emitter) temp(bytes int) int {
	return em.newSlot(slotInfo{kind: slotArena, bytes: bytes})
}

// access is a slot that an instruction touches. It is aligned if splitting the instruction into equal shares of its
// rows splits the memory of the slot into the same shares.
type access struct {
	slot    int
	aligned bool
}

// emit adds an instruction that touches the given slots.
func (em *emitter) emit(in instr, slots ...int) {
	list := make([]access, len(slots))
	for i, s := range slots {
		list[i].slot = s
	}
	em.emitAccess(in, list)
}

// emitAccess is emit for instructions that know which slots they touch row by row.
func (em *emitter) emitAccess(in instr, list []access) {
	at := len(em.prog.instrs)
	em.prog.instrs = append(em.prog.instrs, in)
	em.accesses = append(em.accesses, list)
	for _, a := range list {
		if a.slot < 0 {
			continue
		}
		info := &em.prog.slots[a.slot]
		if info.first < 0 {
			info.first = at
		}
		info.last = at
	}
}

func (em *emitter) needScratch(bytes int) {
	em.prog.scratchBytes = max(em.prog.scratchBytes, roundUp(bytes, 4096))
}
