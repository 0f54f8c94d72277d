package cpu

import "slices"

// assignRegisters gives virtual registers addresses in the scratch of a part; those whose last use has
// passed are used again, the most recent first, because the cache still holds it.
func (f *fuser) assignRegisters() {
	p := f.prog
	last := make([]int, len(f.virtuals))
	for i := range p.steps {
		for _, pl := range p.steps[i].places() {
			if pl.slot == slotScratch {
				last[pl.offset] = i
			}
		}
	}
	a := &registers{bytes: 0, address: make([]int, len(f.virtuals))}
	a.width[0] = roundUp(p.tile*8, cacheLine)
	a.width[1] = roundUp(p.tile*p.cols*f.widest(), cacheLine)
	for i := range a.address {
		a.address[i] = -1
		if f.virtuals[i].fixed {
			a.allocate(f.virtuals[i].full, i)
		}
	}
	for i := range p.steps {
		s := &p.steps[i]
		reusable := func(v int) bool { return !f.virtuals[v].fixed && last[v] == i }
		dst := -1
		if s.dst.slot == slotScratch {
			dst = s.dst.offset
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
	for _, list := range [][]step{p.prologue, p.steps} {
		for i := range list {
			for _, pl := range list[i].places() {
				if pl.slot == slotScratch {
					pl.offset = a.address[pl.offset]
				}
			}
		}
	}
	f.em.needScratch(a.bytes)
}

// widest is the size of the largest element among the full registers.
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
func (f *fuser) releaseOperands(a *registers, s *step, when func(v int) bool) {
	var done []int
	for _, pl := range s.places()[:3] {
		if pl.slot != slotScratch || slices.Contains(done, pl.offset) {
			continue
		}
		if s.dst.slot == slotScratch && pl.offset == s.dst.offset {
			continue
		}
		if when(pl.offset) {
			a.release(f.virtuals[pl.offset].full, pl.offset)
			done = append(done, pl.offset)
		}
	}
}

// registers hands out scratch memory in two widths.
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

// accesses are all memory slots that the program touches. An access is aligned if it steps through its slot as the
// program does through its rows.
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
	for _, list := range [][]step{f.prog.prologue, f.prog.steps} {
		for i := range list {
			for _, pl := range list[i].places() {
				if pl.slot >= 0 {
					touch(pl.slot, pl.offset == 0 && pl.partStep == 0 && pl.rowStep*f.prog.rows == f.em.prog.slots[pl.slot].bytes)
				}
			}
		}
	}
	for _, r := range f.prog.partials {
		touch(r.slot, false)
		touch(r.dst, false)
	}
	out := make([]access, len(order))
	for i, slot := range order {
		out[i] = access{slot, aligned[slot]}
	}
	return out
}

// noteInPlace tells the memory plan which results may take over the memory of an operand: one that is read
// tile by tile exactly where the result is written, and for the last time not after that.
func (f *fuser) noteInPlace() {
	type use struct {
		lastRead int
		ok       bool
		rowStep  int
	}
	reads := make(map[int]*use)
	read := func(pl *place, i int, aligned bool) {
		if pl.slot < 0 {
			return
		}
		u := reads[pl.slot]
		if u == nil {
			u = &use{ok: true, rowStep: pl.rowStep}
			reads[pl.slot] = u
		}
		u.lastRead = i
		u.ok = u.ok && aligned && pl.rowStep == u.rowStep && pl.offset == 0 && pl.rowStep > 0
	}
	writes := make(map[int]int)
	for i := range f.prog.prologue {
		for _, pl := range f.prog.prologue[i].places()[:3] {
			read(pl, i, false)
		}
	}
	for i := range f.prog.steps {
		s := &f.prog.steps[i]
		for _, pl := range s.places()[:3] {
			read(pl, i, s.load == nil)
		}
		if s.dst.slot >= 0 && s.dst.partStep == 0 {
			writes[s.dst.slot] = i
		}
	}
	for dst, at := range writes {
		rowStep := f.prog.steps[at].dst.rowStep
		s := &f.prog.steps[at]
		for src, u := range reads {
			elementwise := s.extent == extentTile || s.extent == extentFlat
			if _, own := writes[src]; !own && u.ok && u.lastRead <= at && u.rowStep == rowStep && elementwise {
				f.em.inPlace = append(f.em.inPlace, [2]int{dst, src})
			}
		}
	}
}
