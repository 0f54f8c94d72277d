package cpu

import (
	"slices"

	"github.com/gomlx/compute"
)

// Recomputing: what a fused group writes only for other groups to read much later, as the forward pass does for the
// gradient, is computed again in those groups if a few cheap operations make it from what is in memory anyway. A
// training step moves fewer bytes for it, and bytes are what element-wise work waits for.

const (
	recomputeDepth  = 6 // operations in a row
	recomputeReads  = 2 // tensors of full size that are read instead
	recomputeGroups = 2 // that do it
)

// cheap are operations that take no longer than reading a result from memory would.
var cheap = map[compute.OpType]bool{
	compute.OpTypeAdd: true, compute.OpTypeSub: true, compute.OpTypeMul: true, compute.OpTypeDiv: true,
	compute.OpTypeNeg: true, compute.OpTypeMax: true, compute.OpTypeMin: true, compute.OpTypeAbs: true,
	compute.OpTypeSign: true, compute.OpTypeWhere: true, compute.OpTypeConvertDType: true,
	compute.OpTypeEqual: true, compute.OpTypeNotEqual: true, compute.OpTypeLessThan: true,
	compute.OpTypeLessOrEqual: true, compute.OpTypeGreaterThan: true, compute.OpTypeGreaterOrEqual: true,
}

// recompute goes through the groups from the last on: a group that recomputes may make another's result needless.
func (p *partitioner) recompute(share int) {
	for i := len(p.units) - 1; i >= 0; i-- {
		u := p.units[i]
		if !u.fused || u.n < share {
			continue
		}
		for _, e := range slices.Backward(slices.Clone(u.members)) {
			p.recomputeUsers(e, u)
		}
		u.dropUnused()
	}
}

// recomputeUsers gives every other group that reads e its own copy of the computation, if that pays.
func (p *partitioner) recomputeUsers(e *expr, u *unit) {
	if e.kind != kindFull || !cheap[e.op] || e.result >= 0 || e.unit != u {
		return
	}
	groups := make(map[*unit]bool)
	for _, m := range e.users {
		if m.unit == u {
			continue
		}
		if !m.unit.fused || m.unit.n != u.n {
			return
		}
		for _, x := range m.in {
			if x.view.base == e && !(x.size() == e.size() && x.view.isDense() && x.view.offset == 0) {
				return
			}
		}
		groups[m.unit] = true
	}
	reads := make(map[*expr]bool)
	if len(groups) == 0 || len(groups) > recomputeGroups || !recomputable(e, u, recomputeDepth, reads) || len(reads) > recomputeReads {
		return
	}
	for v := range groups {
		key := [2]*unit{u, v}
		if p.copiers[key] == nil {
			p.copiers[key] = &copier{p: p, from: u, to: v, copies: make(map[*expr]*expr)}
		}
		p.copiers[key].redirect(e)
	}
}

// recomputable tells whether e can be made from values in memory, and collects those of full size.
func recomputable(e *expr, u *unit, depth int, reads map[*expr]bool) bool {
	if depth == 0 || !cheap[e.op] {
		return false
	}
	for _, x := range e.in {
		b := x.view.base
		switch {
		case b.unit != u || anchored(b):
			if b.size() >= u.n {
				reads[b] = true
			}
		case b.kind == kindRow:
		case b.kind != kindFull || !recomputable(b, u, depth-1, reads):
			return false
		}
	}
	return true
}

// anchored tells whether e must be in memory whatever is recomputed.
func anchored(e *expr) bool {
	return e.result >= 0 || slices.ContainsFunc(e.users, func(m *expr) bool { return m.unit != e.unit && !m.unit.fused })
}

// copier copies operations of one group to another.
type copier struct {
	p        *partitioner
	from, to *unit
	copies   map[*expr]*expr
}

// redirect makes the members of the other group read a copy of e.
func (c *copier) redirect(e *expr) {
	users := slices.Clone(e.users)
	for _, m := range users {
		if m.unit != c.to || c.copies[e] == m {
			continue
		}
		for i, x := range m.in {
			if x.view.base == e {
				m.in[i] = c.view(x, c.clone(e))
				c.copies[e].users = append(c.copies[e].users, m)
			}
		}
	}
	e.users = slices.DeleteFunc(e.users, func(m *expr) bool { return m.unit == c.to })
}

// view is x, a dense view of all its base, on another base.
func (c *copier) view(x, base *expr) *expr {
	if x == x.view.base {
		return base
	}
	y := *x
	y.view.base = base
	y.in = []*expr{base}
	return &y
}

// clone adds e, and what it is made of inside its group, to the front of the other group.
func (c *copier) clone(e *expr) *expr {
	if done := c.copies[e]; done != nil {
		return done
	}
	d := *e
	d.unit, d.users, d.result = c.to, nil, -1
	d.in = slices.Clone(e.in)
	d.view.base = &d
	for i, x := range d.in {
		b := x.view.base
		if b.unit == c.from && b.kind == kindFull && !anchored(b) {
			b = c.clone(b)
			d.in[i] = c.view(x, b)
		}
		b.users = append(b.users, &d)
		c.p.depend(c.to, d.in[i])
	}
	c.copies[e] = &d
	at := 0
	for at < len(c.to.members) && slices.ContainsFunc(d.in, func(x *expr) bool {
		return slices.Contains(c.to.members[at:], x.view.base)
	}) {
		at++
	}
	c.to.members = slices.Insert(c.to.members, at, &d)
	return &d
}

// dropUnused removes members that nobody reads any more.
func (u *unit) dropUnused() {
	for i := len(u.members) - 1; i >= 0; i-- {
		e := u.members[i]
		if len(e.users) > 0 || e.result >= 0 {
			continue
		}
		u.members = slices.Delete(u.members, i, i+1)
		for _, x := range e.in {
			b := x.view.base
			if at := slices.Index(b.users, e); at >= 0 {
				b.users = slices.Delete(b.users, at, at+1)
			}
		}
	}
}
