package cpu

import (
	"slices"
)

// plan gives every slot that lives inside the program an offset in the arena, so that slots which live at
// different times share memory, and decides which results may use the memory of which donated parameter.
func (em *emitter) plan() {
	defer blame("the plan of the memory")
	slots := em.prog.slots
	em.chains()
	em.donors()
	host := em.hosts()
	for i := range slots {
		if s := &slots[i]; s.first >= 0 {
			s.first, s.last = em.span(s.first, s.last, i)
		}
	}
	type span struct{ slot, first, last, bytes int }
	var spans []span
	for i, s := range slots {
		if s.kind != slotArena || host[i] != i || s.first < 0 {
			continue
		}
		sp := span{i, s.first, s.last, roundUp(s.bytes, cacheLine) + cacheLine}
		for j := range slots {
			if host[j] == i {
				sp.last = max(sp.last, slots[j].last)
			}
		}
		spans = append(spans, sp)
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.first - b.first })
	var pool freeList
	var active []span
	for _, sp := range spans {
		active = slices.DeleteFunc(active, func(a span) bool {
			if a.last < sp.first {
				pool.put(slots[a.slot].offset, a.bytes)
				return true
			}
			return false
		})
		slots[sp.slot].offset = pool.take(sp.bytes)
		active = append(active, sp)
	}
	for i := range slots {
		if slots[i].kind == slotArena && host[i] != i {
			slots[i].offset = slots[host[i]].offset
		}
	}
	em.prog.arenaBytes = roundUp(pool.end, 4096)
}

// span gives the first and last place of a slot in the final order: instructions were moved.
func (em *emitter) span(first, last, slot int) (int, int) {
	lo, hi := em.position[first], em.position[last]
	for j := first; j <= last; j++ {
		if slices.ContainsFunc(em.accesses[j], func(a access) bool { return a.slot == slot }) {
			lo, hi = min(lo, em.position[j]), max(hi, em.position[j])
		}
	}
	return lo, hi
}

// lastPosition is the place of the last instruction that touches a slot.
func (em *emitter) lastPosition(slot int) int {
	s := &em.prog.slots[slot]
	_, hi := em.span(s.first, s.last, slot)
	return hi
}

// inStep tells whether the memory of a slot can be taken over in instruction at: it is the last to touch it in the
// final order too, and whatever runs with it in a chain stays in step with the rows.
func (em *emitter) inStep(slot, at int) bool {
	return em.lastPosition(slot) == em.position[at] && em.alone(slot, at)
}

// hosts maps each slot to the one whose memory it uses: itself, or an operand that dies where it is written.
func (em *emitter) hosts() []int {
	slots := em.prog.slots
	host := make([]int, len(slots))
	for i := range host {
		host[i] = i
	}
	taken := make(map[int]bool)
	for _, pair := range em.inPlace {
		dst, src := pair[0], pair[1]
		d, s := &slots[dst], &slots[src]
		if d.kind == slotArena && s.kind == slotArena && host[dst] == dst && !taken[src] &&
			d.bytes == s.bytes && s.last == d.first && s.first < d.first && em.inStep(src, d.first) {
			host[dst] = host[src]
			taken[src] = true
		}
	}
	return host
}

// donors finds for each result a parameter whose memory it can take over when the caller gives it away: one
// of the same size that is not read after the result is first written, except in step with it.
func (em *emitter) donors() {
	slots := em.prog.slots
	em.prog.donor = make([]int, len(em.prog.results))
	taken := make(map[int]bool)
	for r, slot := range em.prog.results {
		em.prog.donor[r] = -1
		d := &slots[slot]
		for p, src := range em.prog.params {
			s := &slots[src]
			if taken[p] || s.bytes != d.bytes || d.first < 0 || d.bytes == 0 || em.g.params[p].dtype != em.g.results[r].dtype {
				continue
			}
			inStep := s.last == d.first && slices.Contains(em.inPlace, [2]int{slot, src}) && em.inStep(src, d.first)
			before := s.last >= 0 && em.lastPosition(src) < em.position[d.first]
			if before || inStep {
				if em.prog.donor[r] < 0 || inStep {
					em.prog.donor[r] = p
				}
				if inStep {
					break
				}
			}
		}
		if p := em.prog.donor[r]; p >= 0 {
			taken[p] = true
		}
	}
}

// freeList manages offsets of an arena that grows at its end.
type freeList struct {
	holes []hole // sorted by offset, never adjacent
	end   int
}

type hole struct{ offset, bytes int }

// take returns the smallest hole that fits, or grows the arena.
func (f *freeList) take(bytes int) int {
	best := -1
	for i, h := range f.holes {
		if h.bytes >= bytes && (best < 0 || h.bytes < f.holes[best].bytes) {
			best = i
		}
	}
	if best < 0 {
		offset := f.end
		if n := len(f.holes); n > 0 && f.holes[n-1].offset+f.holes[n-1].bytes == f.end {
			offset = f.holes[n-1].offset
			f.holes = f.holes[:n-1]
		}
		f.end = offset + bytes
		return offset
	}
	h := &f.holes[best]
	offset := h.offset
	h.offset += bytes
	h.bytes -= bytes
	if h.bytes == 0 {
		f.holes = slices.Delete(f.holes, best, best+1)
	}
	return offset
}

// put returns memory and joins it with its neighbours.
func (f *freeList) put(offset, bytes int) {
	i, _ := slices.BinarySearchFunc(f.holes, offset, func(h hole, o int) int { return h.offset - o })
	f.holes = slices.Insert(f.holes, i, hole{offset, bytes})
	if i+1 < len(f.holes) && f.holes[i].offset+f.holes[i].bytes == f.holes[i+1].offset {
		f.holes[i].bytes += f.holes[i+1].bytes
		f.holes = slices.Delete(f.holes, i+1, i+2)
	}
	if i > 0 && f.holes[i-1].offset+f.holes[i-1].bytes == f.holes[i].offset {
		f.holes[i-1].bytes += f.holes[i].bytes
		f.holes = slices.Delete(f.holes, i, i+1)
	}
}
