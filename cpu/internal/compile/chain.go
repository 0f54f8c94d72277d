package compile

import (
	"slices"

	"universal-transformer/cpu/internal/exec"
)

const (
	chainLength = 20      // maximum number of members
	chainWindow = 32      // number of instructions examined for one chain
	chainBytes  = 1 << 20 // maximum size of a block of all tensors: half of the L2 cache of a core
)

// chainRows returns how many rows an instruction has in a chain, and how many of them must stay together. It returns 0 rows if the
// instruction cannot be in a chain. Groups that work element by element can have any number of rows that divides theirs.
func chainRows(in exec.Instruction) (rows, unit int, divisible bool) {
	switch x := in.(type) {
	case *exec.Dot:
		if x.Split == exec.ByRow && x.Batches == 1 && !x.Empty && !x.Transposed() && !x.Direct() && x.M >= x.ChainRows {
			return x.M, 1, false
		}
	case *exec.Attention:
		return x.B * x.M, x.M, false
	case *exec.Fused:
		if x.Parts > 1 {
			return x.Rows, 1, true
		}
	}
	return 0, 0, false
}

// chains finds sequences of instructions that can be chained and joins them. Instructions in between that no member needs run after
// the chain.
func (em *emitter) chains() {
	n := len(em.prog.Instructions)
	firstUse := make([]int, len(em.prog.Slots)) // of each slot
	for i, s := range em.prog.Slots {
		firstUse[i] = s.First
	}
	done := make([]bool, n)
	var instrs []exec.Instruction
	position := make([]int, n)
	for i := range n {
		if done[i] {
			continue
		}
		members, rows := em.chainFrom(i, done, firstUse)
		for _, m := range members {
			done[m] = true
			position[m] = len(instrs)
		}
		if len(members) == 1 {
			instrs = append(instrs, em.prog.Instructions[i])
			continue
		}
		instrs = append(instrs, em.newChain(members, rows))
	}
	em.prog.Instructions = instrs
	em.position = position
}

// chainFrom returns the members of a chain that begins with instruction i, which is the only one if there is no other.
func (em *emitter) chainFrom(i int, done []bool, firstUse []int) (members []int, rows int) {
	rows = em.rowsNear(i, done)
	members = []int{i}
	if rows == 0 || !em.fits(i, rows) {
		return members, rows
	}
	_, unit, _ := chainRows(em.prog.Instructions[i]) // the largest of the members, a multiple of all others
	aligned := make(map[int]bool)                    // slots written in the chain
	skipped := make(map[int]bool)                    // instructions that run after the chain
	for j := i; j < len(em.prog.Instructions) && j < i+chainWindow && len(members) < chainLength; j++ {
		if done[j] {
			continue
		}
		if j > i && (!em.fits(j, rows) || !em.stacks(j, unit) || !em.allowed(j, firstUse, aligned, skipped)) {
			skipped[j] = true
			continue
		}
		if j > i {
			members = append(members, j)
			_, own, _ := chainRows(em.prog.Instructions[j])
			unit = max(unit, own)
		}
		for _, a := range em.accesses[j] {
			if a.slot >= 0 && firstUse[a.slot] == j {
				aligned[a.slot] = a.aligned
			}
		}
	}
	return members, rows
}

// rowsNear returns the number of rows of the first instruction from i on that determines it.
func (em *emitter) rowsNear(i int, done []bool) int {
	for j := i; j < len(em.prog.Instructions) && j < i+4; j++ {
		if rows, _, divisible := chainRows(em.prog.Instructions[j]); rows > 0 && !divisible && !done[j] {
			return rows
		}
	}
	return 0
}

// fits reports whether instruction j can be in a chain of the given rows.
func (em *emitter) fits(j, rows int) bool {
	have, unit, divisible := chainRows(em.prog.Instructions[j])
	return have == rows && rows/unit >= em.prog.Machine.Threads || divisible && have > 0 && have%rows == 0
}

// stacks reports whether blocks of whole units can also be blocks of instruction j, whose rows stay together in its own units.
func (em *emitter) stacks(j, unit int) bool {
	_, own, _ := chainRows(em.prog.Instructions[j])
	return max(unit, own)%min(unit, own) == 0
}

// allowed reports whether instruction j can be the next member: its inputs existed before the chain, or a member writes them row by
// row.
func (em *emitter) allowed(j int, firstUse []int, aligned, skipped map[int]bool) bool {
	for _, a := range em.accesses[j] {
		if a.slot < 0 || firstUse[a.slot] == j || em.shared[a.slot] {
			continue
		}
		if inStep, written := aligned[a.slot]; written && !(inStep && a.aligned) {
			return false
		}
		if skipped[firstUse[a.slot]] {
			return false
		}
	}
	return true
}

// newChain joins instructions. The size of blocks is chosen so that their part of all tensors fits into a cache.
func (em *emitter) newChain(members []int, rows int) *exec.Chain {
	c := &exec.Chain{Rows: rows, Unit: 1, Parts: em.prog.Machine.Parts()}
	largest := 1
	for _, j := range members {
		c.Members = append(c.Members, em.prog.Instructions[j])
		if x, ok := em.prog.Instructions[j].(*exec.Fused); ok {
			x.Parts = c.Parts
		}
		_, unit, _ := chainRows(em.prog.Instructions[j])
		c.Unit = max(c.Unit, unit)
		for _, a := range em.accesses[j] {
			if a.aligned {
				largest = max(largest, em.prog.Slots[a.slot].Bytes)
			}
		}
	}
	c.Block = max(1, chainBytes/max(1, largest/c.Rows)/c.Unit) * c.Unit
	return c
}

// alone reports whether, in the chain of instruction at, the slot is only used row by row.
func (em *emitter) alone(slot, at int) bool {
	for j, list := range em.accesses {
		if em.position[j] != em.position[at] {
			continue
		}
		if slices.ContainsFunc(list, func(a access) bool { return a.slot == slot && !a.aligned }) {
			return false
		}
	}
	return true
}
