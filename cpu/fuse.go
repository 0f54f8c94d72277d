package cpu

import (
	"slices"

	"github.com/gomlx/compute"
)

// unit is what runs as one instruction: a fused group of element-wise operations and reductions, or a single
// operation of any other kind.
//
// A fused group works on n elements in rows of cols. Its members are full (n elements), or hold one element for
// each row; reductions over rows or over everything end a group: their results exist when it has finished.
type unit struct {
	id      int
	members []*expr
	fused   bool
	n, cols int // cols is 0 while nothing depends on rows
	hint    int // a row length that would make operands cheap to read
	deps    map[*unit]bool
	stamp   int
}

// memberKind is the extent of a member of a fused group.
type memberKind uint8

const (
	kindNone   memberKind = iota
	kindFull              // n elements
	kindRow               // one element a row
	kindColumn            // cols elements: rows reduced
	kindAll               // one element: everything reduced
)

// partition assigns every operation to a unit and returns the units in an order in which they can run. Groups of share
// elements and more compute again what is cheaper to compute than to read.
func (g *graph) partition(share int) []*unit {
	p := &partitioner{copiers: make(map[[2]*unit]*copier)}
	for _, e := range g.exprs {
		p.assign(e)
	}
	p.recompute(share)
	return p.order()
}

// assign finds the group of one operation.
func (p *partitioner) assign(e *expr) {
	defer blame(e.op.String())
	switch {
	case e.isLeaf() || e.view.base != e:
	case e.op == opOutput:
		e.unit = e.in[0].unit
	case isElementwise(e.op) || isReduce(e.op):
		p.place(e)
	default:
		u := p.newUnit(e)
		for _, x := range e.in {
			p.depend(u, x)
		}
	}
}

func isReduce(op compute.OpType) bool {
	_, ok := reduceOps[op]
	return ok
}

type partitioner struct {
	units   []*unit
	stamp   int
	copiers map[[2]*unit]*copier // see recompute
}

func (p *partitioner) newUnit(e *expr) *unit {
	u := &unit{id: len(p.units), members: []*expr{e}, deps: make(map[*unit]bool)}
	p.units = append(p.units, u)
	e.unit = u
	return u
}

func (p *partitioner) depend(u *unit, x *expr) {
	if d := x.view.base.unit; d != nil && d != u {
		u.deps[d] = true
	}
}

// place puts a fusible operation into the newest group of its operands that can take it, and joins the
// groups of the other operands to that one where possible.
func (p *partitioner) place(e *expr) {
	var candidates []*unit
	for _, x := range e.in {
		if u := x.view.base.unit; u != nil && u.fused && !slices.Contains(candidates, u) {
			candidates = append(candidates, u)
		}
	}
	slices.SortFunc(candidates, func(a, b *unit) int { return b.id - a.id })
	var home *unit
	for _, u := range candidates {
		kind, _ := memberOf(e, u)
		if kind == kindNone || !p.independent(e, u) {
			continue
		}
		if home == nil {
			home = u
			continue
		}
		if other, _ := memberOf(e, home); other == kind && mergeable(home, u) && p.noPathBetween(home, u) {
			p.merge(home, u)
		}
	}
	if home == nil {
		p.start(e)
		return
	}
	e.kind, home.cols = memberOf(e, home)
	e.unit = home
	home.members = append(home.members, e)
	home.noteHint(e)
	for _, x := range e.in {
		p.depend(home, x)
	}
}

// start makes a group of one operation.
func (p *partitioner) start(e *expr) {
	u := p.newUnit(e)
	u.fused = true
	e.kind, u.n = kindFull, e.size()
	if a, ok := e.attr.(reduceAttr); ok {
		u.n = e.in[0].size()
		u.cols = a.length
		e.kind = kindRow
		switch {
		case e.size() == 1:
			u.cols, e.kind = 0, kindAll
		case a.leading:
			u.cols, e.kind = e.size(), kindColumn
		}
	}
	u.noteHint(e)
	for _, x := range e.in {
		p.depend(u, x)
	}
}

// noteHint remembers a row length at which a broadcast operand of e would be read directly.
func (u *unit) noteHint(e *expr) {
	if u.hint != 0 || e.kind != kindFull {
		return
	}
	for _, x := range e.in {
		if d, s := collapse(x.dims, x.view.strides); len(d) == 2 && (s[0] == 0 && s[1] == 1 || s[0] == 1 && s[1] == 0) {
			u.hint = d[1]
		}
	}
}

// independent tells whether all operands of e that are outside u can be ready before u starts.
func (p *partitioner) independent(e *expr, u *unit) bool {
	for _, x := range e.in {
		if d := x.view.base.unit; d != nil && d != u && p.reaches(d, u) {
			return false
		}
	}
	return true
}

// reaches tells whether from needs to.
func (p *partitioner) reaches(from, to *unit) bool {
	p.stamp++
	return p.walk(from, to)
}

func (p *partitioner) walk(u, to *unit) bool {
	if u == to {
		return true
	}
	if u.stamp == p.stamp {
		return false
	}
	u.stamp = p.stamp
	for d := range u.deps {
		if p.walk(d, to) {
			return true
		}
	}
	return false
}

// mergeable tells whether the shapes of two groups, and what one reads of the other, allow them to be one.
func mergeable(a, b *unit) bool {
	if a.n != b.n || a.cols != b.cols && a.cols != 0 && b.cols != 0 {
		return false
	}
	cols := max(a.cols, b.cols)
	return readsTiles(a, b, cols) && readsTiles(b, a, cols)
}

// readsTiles tells whether a reads of b only what is there while both run.
func readsTiles(a, b *unit, cols int) bool {
	for _, m := range a.members {
		kind := m.kind
		if isReduce(m.op) {
			kind = kindFull
			if m.kind == kindAll && m.in[0].view.base.unit == b && m.in[0].view.base.kind == kindRow {
				kind = kindRow
			}
		}
		for _, x := range m.in {
			if x.view.base.unit == b && !readable(x, kind, cols) {
				return false
			}
		}
	}
	return true
}

// noPathBetween tells whether merging leaves no cycle through a third unit.
func (p *partitioner) noPathBetween(a, b *unit) bool {
	for d := range a.deps {
		if d != b && p.reaches(d, b) {
			return false
		}
	}
	for d := range b.deps {
		if d != a && p.reaches(d, a) {
			return false
		}
	}
	return true
}

// merge moves the members of b into a.
func (p *partitioner) merge(a, b *unit) {
	for _, m := range b.members {
		m.unit = a
	}
	a.members = append(a.members, b.members...)
	slices.SortFunc(a.members, func(x, y *expr) int { return x.id - y.id })
	a.cols = max(a.cols, b.cols)
	if a.hint == 0 {
		a.hint = b.hint
	}
	for d := range b.deps {
		a.deps[d] = true
	}
	delete(a.deps, a)
	delete(a.deps, b)
	for _, u := range p.units {
		if u.deps[b] {
			delete(u.deps, b)
			u.deps[a] = true
		}
	}
	delete(a.deps, a)
	b.members = nil
}

// order sorts the units so that each comes after what it needs, otherwise as recorded.
func (p *partitioner) order() []*unit {
	var live []*unit
	for _, u := range p.units {
		if len(u.members) > 0 {
			live = append(live, u)
		}
	}
	last := func(u *unit) int { return u.members[len(u.members)-1].id }
	slices.SortFunc(live, func(a, b *unit) int { return last(a) - last(b) })
	p.stamp++
	open := make(map[*unit]bool)
	var sorted []*unit
	var visit func(u *unit)
	visit = func(u *unit) {
		if open[u] {
			panic("a group needs itself")
		}
		if u.stamp == p.stamp {
			return
		}
		u.stamp = p.stamp
		open[u] = true
		deps := make([]*unit, 0, len(u.deps))
		for d := range u.deps {
			deps = append(deps, d)
		}
		slices.SortFunc(deps, func(a, b *unit) int { return last(a) - last(b) })
		for _, d := range deps {
			visit(d)
		}
		open[u] = false
		sorted = append(sorted, u)
	}
	for _, u := range live {
		visit(u)
	}
	return sorted
}
