package compile

import (
	"slices"

	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// plan assigns every slot of the program an offset in the arena, so that slots with disjoint lifetimes share memory. It also
// determines which results may use the memory of which donated parameters.
func (em *emitter) plan() {
	defer ir.Blame("the plan of the memory")
	slots := em.prog.Slots
	em.chains()
	em.packOnce()
	em.keepPackings()
	em.donors()
	host := em.hosts()
	for i := range slots {
		if s := &slots[i]; s.First >= 0 {
			s.First, s.Last = em.span(s.First, s.Last, i)
		}
	}
	last := make([]int, len(slots)) // of the slots of each host
	for i, s := range slots {
		last[host[i]] = max(last[host[i]], s.Last)
	}
	type span struct{ slot, first, last, bytes int }
	var spans []span
	for i, s := range slots {
		if s.Kind != exec.SlotArena || host[i] != i || s.First < 0 {
			continue
		}
		spans = append(spans, span{i, s.First, last[i], kernel.RoundUp(s.Bytes, exec.CacheLine) + exec.CacheLine})
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.first - b.first })
	var pool freeList
	var active []span
	for _, sp := range spans {
		active = slices.DeleteFunc(active, func(a span) bool {
			if a.last < sp.first {
				pool.put(slots[a.slot].Offset, a.bytes)
				return true
			}
			return false
		})
		slots[sp.slot].Offset = pool.take(sp.bytes)
		active = append(active, sp)
	}
	for i := range slots {
		if slots[i].Kind == exec.SlotArena && host[i] != i {
			slots[i].Offset = slots[host[i]].Offset
		}
	}
	em.prog.ArenaBytes = kernel.RoundUp(pool.end, 4096)
}

// span returns the first and last position of a slot in the final order of instructions.
func (em *emitter) span(first, last, slot int) (int, int) {
	lo, hi := em.position[first], em.position[last]
	for j := first; j <= last; j++ {
		if slices.ContainsFunc(em.accesses[j], func(a access) bool { return a.slot == slot }) {
			lo, hi = min(lo, em.position[j]), max(hi, em.position[j])
		}
	}
	return lo, hi
}

// lastPosition returns the position of the last instruction that uses a slot.
func (em *emitter) lastPosition(slot int) int {
	s := &em.prog.Slots[slot]
	_, hi := em.span(s.First, s.Last, slot)
	return hi
}

// inStep reports whether the memory of a slot can be reused in instruction at: that instruction is the last to use it in the final
// order, and other instructions of its chain use it row by row.
func (em *emitter) inStep(slot, at int) bool {
	return em.lastPosition(slot) == em.position[at] && em.alone(slot, at)
}

// hosts maps each slot to the one whose memory it uses: itself, or an operand that is last used where the slot is written.
func (em *emitter) hosts() []int {
	slots := em.prog.Slots
	host := make([]int, len(slots))
	for i := range host {
		host[i] = i
	}
	taken := make(map[int]bool)
	for _, pair := range em.inPlace {
		dst, src := pair[0], pair[1]
		d, s := &slots[dst], &slots[src]
		if d.Kind == exec.SlotArena && s.Kind == exec.SlotArena && host[dst] == dst && !taken[src] &&
			d.Bytes == s.Bytes && s.Last == d.First && s.First < d.First && em.inStep(src, d.First) {
			host[dst] = host[src]
			taken[src] = true
		}
	}
	return host
}

// donors finds for each result a parameter whose memory it can reuse if the caller donates it: one of the same size that is not read
// after the result is first written, except row by row.
func (em *emitter) donors() {
	slots := em.prog.Slots
	em.prog.Donors = make([]int, len(em.prog.Results))
	taken := make(map[int]bool)
	for r, slot := range em.prog.Results {
		em.prog.Donors[r] = -1
		d := &slots[slot]
		for p, src := range em.prog.Params {
			s := &slots[src]
			if taken[p] || s.Bytes != d.Bytes || d.First < 0 || d.Bytes == 0 || em.g.Params[p].DType != em.g.Results[r].DType {
				continue
			}
			inStep := s.Last == d.First && slices.Contains(em.inPlace, [2]int{slot, src}) && em.inStep(src, d.First)
			before := s.Last >= 0 && em.lastPosition(src) < em.position[d.First]
			if before || inStep {
				if em.prog.Donors[r] < 0 || inStep {
					em.prog.Donors[r] = p
				}
				if inStep {
					break
				}
			}
		}
		if p := em.prog.Donors[r]; p >= 0 {
			taken[p] = true
		}
	}
}

// A freeList manages offsets of an arena that grows at its end.
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
