package exec

import (
	"sort"
	"unsafe"
)

// A Subprogram is a compiled closure with the values it captures.
type Subprogram struct {
	Program  *Program
	Captured []Operand
}

// run executes the closure on the given parameters.
func (s *Subprogram) run(fr *frame, params, results []unsafe.Pointer) {
	for _, c := range s.Captured {
		params = append(params, c.at(fr))
	}
	s.Program.run(params, results, nil, fr.parallel)
}

// Call runs another function.
type Call struct {
	Target *Subprogram
	In     []Operand
	Outs   []int
}

func (c *Call) run(fr *frame) {
	params := make([]unsafe.Pointer, len(c.In))
	for i, x := range c.In {
		params[i] = x.at(fr)
	}
	c.Target.run(fr, params, pointers(fr, c.Outs))
}

// pointers returns the addresses of slots.
func pointers(fr *frame, slots []int) []unsafe.Pointer {
	p := make([]unsafe.Pointer, len(slots))
	for i, s := range slots {
		p[i] = fr.ptrs[s]
	}
	return p
}

// If runs one of two closures.
type If struct {
	Pred            Operand
	OnTrue, OnFalse *Subprogram
	Outs            []int
}

func (c *If) run(fr *frame) {
	branch := c.OnFalse
	if *(*bool)(c.Pred.at(fr)) {
		branch = c.OnTrue
	}
	branch.run(fr, nil, pointers(fr, c.Outs))
}

// While alternates the state between the memory of its results and a spare one.
type While struct {
	Cond, Body *Subprogram
	Initial    []Operand
	Outs       []int
	Spare      []int // slots
	Bytes      []int
	Condition  int // slot of the condition's value
}

func (w *While) run(fr *frame) {
	state := make([]unsafe.Pointer, len(w.Initial), len(w.Initial)+max(len(w.Cond.Captured), len(w.Body.Captured)))
	for i, x := range w.Initial {
		state[i] = x.at(fr)
	}
	outs, next := pointers(fr, w.Outs), pointers(fr, w.Spare)
	other := outs
	going := []unsafe.Pointer{fr.ptrs[w.Condition]}
	for {
		w.Cond.run(fr, state, going)
		if !*(*bool)(going[0]) {
			break
		}
		w.Body.run(fr, state, next)
		copy(state, next)
		next, other = other, next
	}
	for i := range outs {
		if state[i] != outs[i] {
			copyBytes(outs[i], state[i], w.Bytes[i])
		}
	}
}

// Sort computes the sorted order of positions along an axis, outer x length x inner, and rearranges every tensor in that order.
type Sort struct {
	In                   []Operand
	Outs, Sizes          []int
	Outer, Length, Inner int
	Compare              *Subprogram
}

func (s *Sort) run(fr *frame) {
	order := make([]int, s.Length)
	params := make([]unsafe.Pointer, 2*len(s.In), 2*len(s.In)+len(s.Compare.Captured))
	var less bool
	result := []unsafe.Pointer{unsafe.Pointer(&less)}
	for o := range s.Outer {
		for i := range s.Inner {
			first := o*s.Length*s.Inner + i
			for l := range order {
				order[l] = l
			}
			sort.SliceStable(order, func(a, b int) bool {
				for t, x := range s.In {
					params[2*t] = unsafe.Add(x.at(fr), (first+order[a]*s.Inner)*s.Sizes[t])
					params[2*t+1] = unsafe.Add(x.at(fr), (first+order[b]*s.Inner)*s.Sizes[t])
				}
				s.Compare.run(fr, params, result)
				return less
			})
			for t, x := range s.In {
				for l, from := range order {
					copyBytes(unsafe.Add(fr.ptrs[s.Outs[t]], (first+l*s.Inner)*s.Sizes[t]),
						unsafe.Add(x.at(fr), (first+from*s.Inner)*s.Sizes[t]), s.Sizes[t])
				}
			}
		}
	}
}
