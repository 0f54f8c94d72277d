package compile

import (
	"slices"

	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/kernel"
)

// assignRegisters assigns virtual registers addresses in the scratch memory of a part. Addresses are reused after their last use, the
// most recent first, because they are still in the cache.
func (f *fuser) assignRegisters() {
	p := f.prog
	last := make([]int, len(f.virtuals))
	for i := range p.Steps {
		for _, pl := range p.Steps[i].Places() {
			if pl.Slot == exec.SlotScratch {
				last[pl.Offset] = i
			}
		}
	}
	a := &registers{bytes: 0, address: make([]int, len(f.virtuals))}
	a.width[0] = kernel.RoundUp(p.Tile*8, exec.CacheLine)
	a.width[1] = kernel.RoundUp(p.Tile*p.Cols*f.widest(), exec.CacheLine)
	for i := range a.address {
		a.address[i] = -1
		if f.virtuals[i].fixed {
			a.allocate(f.virtuals[i].full, i)
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		reusable := func(v int) bool { return !f.virtuals[v].fixed && last[v] == i }
		dst := -1
		if s.Dst.Slot == exec.SlotScratch {
			dst = s.Dst.Offset
		}
		inPlace := func(v int) bool {
			return dst >= 0 && f.virtuals[v].full == f.virtuals[dst].full && f.virtuals[v].size == f.virtuals[dst].size
		}
		f.releaseOperands(a, s, func(v int) bool { return reusable(v) && inPlace(v) })
		if dst >= 0 && a.address[dst] < 0 {
			a.allocate(f.virtuals[dst].full, dst)
		}
		f.releaseOperands(a, s, func(v int) bool { return reusable(v) && !inPlace(v) })
		if dst >= 0 && reusable(dst) {
			a.release(f.virtuals[dst].full, dst)
		}
	}
	for _, list := range [][]exec.Step{p.Prologue, p.Steps} {
		for i := range list {
			for _, pl := range list[i].Places() {
				if pl.Slot == exec.SlotScratch {
					f.place(pl, a.address[pl.Offset], pl == &list[i].Dst)
				}
			}
		}
	}
	f.em.needScratch(a.bytes)
	f.em.prog.Views = max(f.em.prog.Views, p.Views)
}

// place replaces a virtual register by its address or, if it is only read and may be a view, by the address that its load has found.
func (f *fuser) place(pl *exec.Address, address int, written bool) {
	if view := f.virtuals[pl.Offset].view; view > 0 && !written {
		*pl = exec.Address{Slot: exec.SlotView, Offset: view - 1}
		return
	}
	pl.Offset = address
}

// widest returns the size of the largest element among the full registers.
func (f *fuser) widest() int {
	w := 1
	for _, v := range f.virtuals {
		if v.full {
			w = max(w, v.size)
		}
	}
	return w
}

// releaseOperands frees the distinct source registers of a step that the condition selects.
func (f *fuser) releaseOperands(a *registers, s *exec.Step, when func(v int) bool) {
	var done []int
	for _, pl := range s.Places()[:3] {
		if pl.Slot != exec.SlotScratch || slices.Contains(done, pl.Offset) {
			continue
		}
		if s.Dst.Slot == exec.SlotScratch && pl.Offset == s.Dst.Offset {
			continue
		}
		if when(pl.Offset) {
			a.release(f.virtuals[pl.Offset].full, pl.Offset)
			done = append(done, pl.Offset)
		}
	}
}

// registers allocates scratch memory in two widths.
type registers struct {
	width   [2]int
	free    [2][]int
	address []int
	bytes   int
}

func class(full bool) int {
	if full {
		return 1
	}
	return 0
}

func (a *registers) allocate(full bool, v int) {
	c := class(full)
	if n := len(a.free[c]); n > 0 {
		a.address[v] = a.free[c][n-1]
		a.free[c] = a.free[c][:n-1]
		return
	}
	a.address[v] = a.bytes
	a.bytes += a.width[c]
}

func (a *registers) release(full bool, v int) {
	c := class(full)
	a.free[c] = append(a.free[c], a.address[v])
}

// accesses returns all memory slots that the program uses. An access is aligned if it moves through its slot as the program moves
// through its rows.
func (f *fuser) accesses() []access {
	aligned := make(map[int]bool)
	var order []int
	touch := func(slot int, ok bool) {
		if was, seen := aligned[slot]; seen {
			aligned[slot] = was && ok
			return
		}
		aligned[slot] = ok
		order = append(order, slot)
	}
	for _, list := range [][]exec.Step{f.prog.Prologue, f.prog.Steps} {
		for i := range list {
			for _, pl := range list[i].Places() {
				if pl.Slot >= 0 {
					touch(pl.Slot, pl.Offset == 0 && pl.PartStep == 0 && pl.RowStep*f.prog.Rows == f.em.prog.Slots[pl.Slot].Bytes)
				}
			}
		}
	}
	for _, r := range f.prog.Partials {
		touch(r.Slot, false)
		touch(r.Dst, false)
	}
	out := make([]access, len(order))
	for i, slot := range order {
		out[i] = access{slot, aligned[slot]}
	}
	return out
}

// noteInPlace records which results may reuse the memory of an operand: one that is read tile by tile exactly where the result is
// written, and not afterwards.
func (f *fuser) noteInPlace() {
	type use struct {
		lastRead int
		ok       bool
		rowStep  int
	}
	reads := make(map[int]*use)
	read := func(pl *exec.Address, i int, aligned bool) {
		if pl.Slot < 0 {
			return
		}
		u := reads[pl.Slot]
		if u == nil {
			u = &use{ok: true, rowStep: pl.RowStep}
			reads[pl.Slot] = u
		}
		u.lastRead = i
		u.ok = u.ok && aligned && pl.RowStep == u.rowStep && pl.Offset == 0 && pl.RowStep > 0
	}
	writes := make(map[int]int)
	for i := range f.prog.Prologue {
		for _, pl := range f.prog.Prologue[i].Places()[:3] {
			read(pl, i, false)
		}
	}
	for i := range f.prog.Steps {
		s := &f.prog.Steps[i]
		for _, pl := range s.Places()[:3] {
			read(pl, i, s.Load == nil)
		}
		if s.Dst.Slot >= 0 && s.Dst.PartStep == 0 {
			writes[s.Dst.Slot] = i
		}
	}
	for dst, at := range writes {
		rowStep := f.prog.Steps[at].Dst.RowStep
		s := &f.prog.Steps[at]
		for src, u := range reads {
			elementwise := s.Extent == exec.ExtentTile || s.Extent == exec.ExtentFlat
			if _, own := writes[src]; !own && u.ok && u.lastRead <= at && u.rowStep == rowStep && elementwise {
				f.em.inPlace = append(f.em.inPlace, [2]int{dst, src})
			}
		}
	}
}
