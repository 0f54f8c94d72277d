package graph

import (
	"slices"

	"github.com/gomlx/compute"
)

// Recomputing (rematerialization): values that a fused group writes only for much later groups, as the forward pass does for the
// gradient, are computed again in those groups if a few cheap operations produce them from values that are in memory anyway. A
// training step then moves fewer bytes, which limit the speed of element-wise work.

const (
	recomputeDepth  = 6 // maximum number of operations in a row
	recomputeReads  = 2 // maximum number of tensors of full size that are read instead
	recomputeGroups = 2 // maximum number of groups that recompute a value
)

// cheap lists operations that take no longer than reading a result from memory.
var cheap = map[compute.OpType]bool{
	compute.OpTypeAdd: true, compute.OpTypeSub: true, compute.OpTypeMul: true, compute.OpTypeDiv: true,
	compute.OpTypeNeg: true, compute.OpTypeMax: true, compute.OpTypeMin: true, compute.OpTypeAbs: true,
	compute.OpTypeSign: true, compute.OpTypeWhere: true, compute.OpTypeConvertDType: true,
	compute.OpTypeEqual: true, compute.OpTypeNotEqual: true, compute.OpTypeLessThan: true,
	compute.OpTypeLessOrEqual: true, compute.OpTypeGreaterThan: true, compute.OpTypeGreaterOrEqual: true,
}

// recompute visits the groups from the last one on, because a group that recomputes may make another's result unnecessary.
func (p *partitioner) recompute(share int) {
	for i := len(p.groups) - 1; i >= 0; i-- {
		group := p.groups[i]
		if !group.Fused || group.Size < share {
			continue
		}
		for _, e := range slices.Backward(slices.Clone(group.Members)) {
			p.recomputeUsers(e, group)
		}
		group.dropUnused()
	}
}

// recomputeUsers gives every other group that reads e its own copy of the computation, if that saves time.
func (p *partitioner) recomputeUsers(e *Expr, group *Group) {
	if e.Kind != KindFull || !cheap[e.Op] || e.Result >= 0 || e.Group != group {
		return
	}
	groups := make(map[*Group]bool)
	for _, m := range e.Users {
		if m.Group == group {
			continue
		}
		if !m.Group.Fused || m.Group.Size != group.Size {
			return
		}
		for _, x := range m.Operands {
			if x.View.Base == e && !(x.Size() == e.Size() && x.View.IsDense() && x.View.Offset == 0) {
				return
			}
		}
		groups[m.Group] = true
	}
	reads := make(map[*Expr]bool)
	if len(groups) == 0 || len(groups) > recomputeGroups || !recomputable(e, group, recomputeDepth, reads) || len(reads) > recomputeReads {
		return
	}
	for v := range groups {
		key := [2]*Group{group, v}
		if p.copiers[key] == nil {
			p.copiers[key] = &copier{p: p, from: group, to: v, copies: make(map[*Expr]*Expr)}
		}
		p.copiers[key].redirect(e)
	}
}

// recomputable reports whether e can be computed from values in memory, and collects those of full size.
func recomputable(e *Expr, group *Group, depth int, reads map[*Expr]bool) bool {
	if depth == 0 || !cheap[e.Op] {
		return false
	}
	for _, x := range e.Operands {
		b := x.View.Base
		switch {
		case b.Group != group || anchored(b):
			if b.Size() >= group.Size {
				reads[b] = true
			}
		case b.Kind == KindRow:
		case b.Kind != KindFull || !recomputable(b, group, depth-1, reads):
			return false
		}
	}
	return true
}

// anchored reports whether e must be in memory in any case.
func anchored(e *Expr) bool {
	return e.Result >= 0 || slices.ContainsFunc(e.Users, func(m *Expr) bool { return m.Group != e.Group && !m.Group.Fused })
}

// copier copies operations of one group to another.
type copier struct {
	p        *partitioner
	from, to *Group
	copies   map[*Expr]*Expr
}

// redirect makes the members of the other group read a copy of e.
func (c *copier) redirect(e *Expr) {
	users := slices.Clone(e.Users)
	for _, m := range users {
		if m.Group != c.to || c.copies[e] == m {
			continue
		}
		for i, x := range m.Operands {
			if x.View.Base == e {
				m.Operands[i] = c.view(x, c.clone(e))
				c.copies[e].Users = append(c.copies[e].Users, m)
			}
		}
	}
	e.Users = slices.DeleteFunc(e.Users, func(m *Expr) bool { return m.Group == c.to })
}

// view returns x, a dense view of its whole base, on another base.
func (c *copier) view(x, base *Expr) *Expr {
	if x == x.View.Base {
		return base
	}
	y := *x
	y.View.Base = base
	y.Operands = []*Expr{base}
	return &y
}

// clone adds e, and the members of its group that it depends on, to the front of the other group.
func (c *copier) clone(e *Expr) *Expr {
	if done := c.copies[e]; done != nil {
		return done
	}
	d := *e
	d.Group, d.Users, d.Result = c.to, nil, -1
	d.Operands = slices.Clone(e.Operands)
	d.View.Base = &d
	for i, x := range d.Operands {
		b := x.View.Base
		if b.Group == c.from && b.Kind == KindFull && !anchored(b) {
			b = c.clone(b)
			d.Operands[i] = c.view(x, b)
		}
		b.Users = append(b.Users, &d)
		c.p.depend(c.to, d.Operands[i])
	}
	c.copies[e] = &d
	at := 0
	for at < len(c.to.Members) && slices.ContainsFunc(d.Operands, func(x *Expr) bool {
		return slices.Contains(c.to.Members[at:], x.View.Base)
	}) {
		at++
	}
	c.to.Members = slices.Insert(c.to.Members, at, &d)
	return &d
}

// dropUnused removes members that are no longer read.
func (group *Group) dropUnused() {
	for i := len(group.Members) - 1; i >= 0; i-- {
		e := group.Members[i]
		if len(e.Users) > 0 || e.Result >= 0 {
			continue
		}
		group.Members = slices.Delete(group.Members, i, i+1)
		for _, x := range e.Operands {
			b := x.View.Base
			if at := slices.Index(b.Users, e); at >= 0 {
				b.Users = slices.Delete(b.Users, at, at+1)
			}
		}
	}
}
