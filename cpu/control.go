package cpu

import (
	"sort"
	"unsafe"
)

// subprogram is a compiled closure with the values it captures.
type subprogram struct {
	prog     *program
	captured []denseIn
}

// run executes the closure on the given parameters.
func (s *subprogram) run(fr *frame, params, results []unsafe.Pointer) {
	for _, c := range s.captured {
		params = append(params, c.at(fr))
	}
	s.prog.run(params, results, fr.parallel)
}

type callInstr struct {
	fn   *subprogram
	in   []denseIn
	outs []int
}

func (c *callInstr) run(fr *frame) {
	params := make([]unsafe.Pointer, len(c.in))
	for i, x := range c.in {
		params[i] = x.at(fr)
	}
	c.fn.run(fr, params, pointers(fr, c.outs))
}

func pointers(fr *frame, slots []int) []unsafe.Pointer {
	p := make([]unsafe.Pointer, len(slots))
	for i, s := range slots {
		p[i] = fr.ptrs[s]
	}
	return p
}

type ifInstr struct {
	pred            denseIn
	onTrue, onFalse *subprogram
	outs            []int
}

func (c *ifInstr) run(fr *frame) {
	branch := c.onFalse
	if *(*bool)(c.pred.at(fr)) {
		branch = c.onTrue
	}
	branch.run(fr, nil, pointers(fr, c.outs))
}

// whileInstr alternates the state between the memory of its results and a spare one.
type whileInstr struct {
	cond, body *subprogram
	initial    []denseIn
	outs       []int
	spare      []int // slots
	bytes      []int
	going      int // slot of the condition
}

func (w *whileInstr) run(fr *frame) {
	state := make([]unsafe.Pointer, len(w.initial), len(w.initial)+max(len(w.cond.captured), len(w.body.captured)))
	for i, x := range w.initial {
		state[i] = x.at(fr)
	}
	outs, next := pointers(fr, w.outs), pointers(fr, w.spare)
	other := outs
	going := []unsafe.Pointer{fr.ptrs[w.going]}
	for {
		w.cond.run(fr, state, going)
		if !*(*bool)(going[0]) {
			break
		}
		w.body.run(fr, state, next)
		copy(state, next)
		next, other = other, next
	}
	for i := range outs {
		if state[i] != outs[i] {
			copyBytes(outs[i], state[i], w.bytes[i])
		}
	}
}

type sortInstr struct {
	in                   []denseIn
	outs, sizes          []int
	outer, length, inner int
	compare              *subprogram
}

func (s *sortInstr) run(fr *frame) {
	order := make([]int, s.length)
	params := make([]unsafe.Pointer, 2*len(s.in), 2*len(s.in)+len(s.compare.captured))
	var less bool
	result := []unsafe.Pointer{unsafe.Pointer(&less)}
	for o := range s.outer {
		for i := range s.inner {
			first := o*s.length*s.inner + i
			for l := range order {
				order[l] = l
			}
			sort.SliceStable(order, func(a, b int) bool {
				for t, x := range s.in {
					params[2*t] = unsafe.Add(x.at(fr), (first+order[a]*s.inner)*s.sizes[t])
					params[2*t+1] = unsafe.Add(x.at(fr), (first+order[b]*s.inner)*s.sizes[t])
				}
				s.compare.run(fr, params, result)
				return less
			})
			for t, x := range s.in {
				for l, from := range order {
					copyBytes(unsafe.Add(fr.ptrs[s.outs[t]], (first+l*s.inner)*s.sizes[t]),
						unsafe.Add(x.at(fr), (first+from*s.inner)*s.sizes[t]), s.sizes[t])
				}
			}
		}
	}
}
