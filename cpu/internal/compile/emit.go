package compile

import (
	"reflect"
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// An emitter collects the instructions of a program.
type emitter struct {
	g          *graph.Graph
	prog       *exec.Program
	slotOfExpr map[*graph.Expr]int
	inPlace    [][2]int        // pairs of slots: the first may reuse the memory of the second
	accesses   [][]access      // by instruction
	position   []int           // final position of each instruction, once chains are formed
	packings   map[packing]int // number of products with the same right operand
	packed     map[packing]int // slots of operands that are packed once
	kept       []keptSlot      // others that callers may have packed
	shared     map[int]bool    // those of packed: the first instruction writes them
}

func (em *emitter) kernels() *kernel.Set { return em.prog.Machine.Kernels }

// claimResults decides which computed values are written directly to the results; the others are copied.
func (em *emitter) claimResults() {
	for i, r := range em.g.Results {
		b := r.View.Base
		whole := r.View.IsDense() && r.View.Offset == 0 && r.Size() == b.Size() && r.DType == b.DType
		if !whole || b.IsLeaf() || b.Result >= 0 {
			b = &graph.Expr{ID: len(em.g.Exprs), Op: graph.OpCopy, DType: r.DType, Dims: r.Dims, Operands: []*graph.Expr{r}}
			b.View = graph.View{Base: b, Dims: b.Dims, Strides: graph.Contiguous(b.Dims)}
			em.g.Exprs = append(em.g.Exprs, b)
		}
		b.Result = i
		em.g.Results[i] = b
		slot := em.newSlot(exec.Slot{Kind: exec.SlotResult, Bytes: b.Bytes()})
		em.slotOfExpr[b] = slot
		em.prog.Results = append(em.prog.Results, slot)
	}
}

// escapes reports whether e is needed outside its group.
func (em *emitter) escapes(e *graph.Expr) bool {
	if e.Result >= 0 {
		return true
	}
	return slices.ContainsFunc(e.Users, func(x *graph.Expr) bool { return x.Group != e.Group })
}

func (em *emitter) newSlot(s exec.Slot) int {
	s.First, s.Last = -1, -1
	em.prog.Slots = append(em.prog.Slots, s)
	return len(em.prog.Slots) - 1
}

// slotOf returns the memory of a value that is not a view.
func (em *emitter) slotOf(e *graph.Expr) int {
	if slot, ok := em.slotOfExpr[e]; ok {
		return slot
	}
	s := exec.Slot{Kind: exec.SlotArena, Bytes: e.Bytes()}
	switch e.Op {
	case compute.OpTypeParameter:
		s.Kind = exec.SlotParam
	case compute.OpTypeConstant:
		s.Kind, s.Keep = exec.SlotConst, e.Attr.(*ir.ConstAttr).Flat
		s.Constant = reflect.ValueOf(s.Keep).UnsafePointer()
	}
	slot := em.newSlot(s)
	em.slotOfExpr[e] = slot
	return slot
}

// temp reserves memory for the next instruction.
func (em *emitter) temp(bytes int) int {
	return em.newSlot(exec.Slot{Kind: exec.SlotArena, Bytes: bytes})
}

// An access is the use of a slot by an instruction. It is aligned if splitting the instruction into equal shares of its rows splits
// the memory of the slot into the same shares.
type access struct {
	slot    int
	aligned bool
}

// emit adds an instruction that uses the given slots.
func (em *emitter) emit(in exec.Instruction, slots ...int) {
	list := make([]access, len(slots))
	for i, s := range slots {
		list[i].slot = s
	}
	em.emitAccess(in, list)
}

// emitAccess is like emit for instructions that know which slots they use row by row.
func (em *emitter) emitAccess(in exec.Instruction, list []access) {
	at := len(em.prog.Instructions)
	em.prog.Instructions = append(em.prog.Instructions, in)
	em.accesses = append(em.accesses, list)
	for _, a := range list {
		if a.slot < 0 {
			continue
		}
		info := &em.prog.Slots[a.slot]
		if info.First < 0 {
			info.First = at
		}
		info.Last = at
	}
}

func (em *emitter) needScratch(bytes int) {
	em.prog.ScratchBytes = max(em.prog.ScratchBytes, kernel.RoundUp(bytes, 4096))
}
