package graph

import (
	"slices"

	"github.com/gomlx/compute"
	"universal-transformer/cpu/internal/ir"
)

// A Group becomes one instruction: a fused group of element-wise operations and reductions, or a single operation of any other kind.
//
// A fused group works on Size elements in rows of Cols. Its members are full (Size elements), or hold one element for each row.
// Results of reductions over all rows (KindColumn) or over everything (KindAll) exist only when the group has finished.
type Group struct {
	Members    []*Expr // in an order in which they can be computed
	Fused      bool
	Size, Cols int // Cols is 0 until a member depends on rows
	RowHint    int // a row length that would make operands cheap to read

	id    int
	deps  []*Group // groups whose results it reads
	users []*Group // groups that read its results
	level int      // above the levels of deps
	stamp int
}

// MemberKind is the extent of a member of a fused group.
type MemberKind uint8

const (
	kindNone   MemberKind = iota
	KindFull              // Size elements
	KindRow               // one element a row
	KindColumn            // Cols elements: rows reduced
	KindAll               // one element: everything reduced
)

// Partition assigns every operation to a group and returns the groups in an order in which they can run. Groups with at least share
// elements recompute values that are cheaper to compute than to read.
func (g *Graph) Partition(share int) []*Group {
	p := &partitioner{copiers: make(map[[2]*Group]*copier)}
	for _, e := range g.Exprs {
		p.assign(e)
	}
	p.recompute(share)
	return p.order()
}

// assign determines the group of one operation.
func (p *partitioner) assign(e *Expr) {
	defer ir.Blame(e.Name())
	switch {
	case e.IsLeaf() || e.View.Base != e:
	case e.Op == ir.OpOutput:
		e.Group = e.Operands[0].Group
	case isElementwise(e.Op) || IsReduce(e.Op):
		p.place(e)
	default:
		group := p.newGroup(e)
		for _, x := range e.Operands {
			p.depend(group, x)
		}
	}
}

// IsReduce reports whether op combines many elements into one.
func IsReduce(op compute.OpType) bool {
	_, ok := ir.ReduceOps[op]
	return ok
}

// partitioner is the state of Partition.
type partitioner struct {
	groups  []*Group
	stamp   int
	copiers map[[2]*Group]*copier // see recompute
}

func (p *partitioner) newGroup(e *Expr) *Group {
	group := &Group{id: len(p.groups), Members: []*Expr{e}}
	p.groups = append(p.groups, group)
	e.Group = group
	return group
}

func (p *partitioner) depend(group *Group, x *Expr) {
	if d := x.View.Base.Group; d != nil {
		group.needs(d)
	}
}

// needs records that the group reads results of d.
func (group *Group) needs(d *Group) {
	if d == group || slices.Contains(group.deps, d) {
		return
	}
	group.deps, d.users = append(group.deps, d), append(d.users, group)
	group.rise(d.level + 1)
}

// rise raises the group, and the groups that read its results, to a level.
func (group *Group) rise(level int) {
	if group.level >= level {
		return
	}
	group.level = level
	for _, user := range group.users {
		user.rise(level + 1)
	}
}

// place puts a fusible operation into the newest group of its operands that can take it, and joins the
// groups of the other operands to that one where possible.
func (p *partitioner) place(e *Expr) {
	var candidates []*Group
	for _, x := range e.Operands {
		if group := x.View.Base.Group; group != nil && group.Fused && !slices.Contains(candidates, group) {
			candidates = append(candidates, group)
		}
	}
	slices.SortFunc(candidates, func(a, b *Group) int { return b.id - a.id })
	var home *Group
	for _, group := range candidates {
		kind, _ := memberOf(e, group)
		if kind == kindNone || !p.independent(e, group) {
			continue
		}
		if home == nil {
			home = group
			continue
		}
		if other, _ := memberOf(e, home); other == kind && mergeable(home, group) && p.noPathBetween(home, group) {
			p.merge(home, group)
		}
	}
	if home == nil {
		home = p.beside(e)
	}
	if home == nil {
		p.start(e)
		return
	}
	e.Kind, home.Cols = memberOf(e, home)
	e.Group = home
	home.Members = append(home.Members, e)
	home.noteHint(e)
	for _, x := range e.Operands {
		p.depend(home, x)
	}
}

// start makes a group of one operation.
func (p *partitioner) start(e *Expr) {
	group := p.newGroup(e)
	group.Fused = true
	e.Kind, group.Size = KindFull, e.Size()
	if a, ok := e.Attr.(ReduceAttr); ok {
		group.Size = e.Operands[0].Size()
		group.Cols = a.Length
		e.Kind = KindRow
		switch {
		case e.Size() == 1:
			group.Cols, e.Kind = 0, KindAll
		case a.Leading:
			group.Cols, e.Kind = e.Size(), KindColumn
		}
	}
	group.noteHint(e)
	for _, x := range e.Operands {
		p.depend(group, x)
	}
}

// noteHint records a row length at which a broadcast operand of e would be read directly.
func (g *Group) noteHint(e *Expr) {
	if g.RowHint != 0 || e.Kind != KindFull {
		return
	}
	for _, x := range e.Operands {
		if d, s := Collapse(x.Dims, x.View.Strides); len(d) == 2 && (s[0] == 0 && s[1] == 1 || s[1] == 0) {
			g.RowHint = d[1]
		}
	}
}

// independent reports whether all operands of e from outside the group can be ready before it starts.
func (p *partitioner) independent(e *Expr, group *Group) bool {
	for _, x := range e.Operands {
		if d := x.View.Base.Group; d != nil && d != group && p.reaches(d, group) {
			return false
		}
	}
	return true
}

// reaches reports whether there is a path from one group to another.
func (p *partitioner) reaches(from, to *Group) bool {
	p.stamp++
	return p.walk(from, to)
}

// walk visits only groups that levels allow; otherwise most of the time of compiling a model would be spent here.
func (p *partitioner) walk(group, to *Group) bool {
	if group == to {
		return true
	}
	if group.level <= to.level || group.stamp == p.stamp {
		return false
	}
	group.stamp = p.stamp
	for _, d := range group.deps {
		if p.walk(d, to) {
			return true
		}
	}
	return false
}

// mergeable reports whether two groups can be one as far as their shapes, and what one reads of the other, are concerned.
func mergeable(a, b *Group) bool {
	if a.Size != b.Size || a.Cols != b.Cols && a.Cols != 0 && b.Cols != 0 {
		return false
	}
	cols := max(a.Cols, b.Cols)
	return readsTiles(a, b, cols) && readsTiles(b, a, cols)
}

// readsTiles reports whether a only reads values of b that exist while both run.
func readsTiles(a, b *Group, cols int) bool {
	for _, m := range a.Members {
		kind := m.Kind
		if IsReduce(m.Op) {
			kind = KindFull
			if m.Kind == KindAll && m.Operands[0].View.Base.Group == b && m.Operands[0].View.Base.Kind == KindRow {
				kind = KindRow
			}
		}
		for _, x := range m.Operands {
			if x.View.Base.Group == b && !readable(x, kind, cols) {
				return false
			}
		}
	}
	return true
}

// noPathBetween reports whether merging leaves no cycle through a third group.
func (p *partitioner) noPathBetween(a, b *Group) bool {
	for _, d := range a.deps {
		if d != b && p.reaches(d, b) {
			return false
		}
	}
	for _, d := range b.deps {
		if d != a && p.reaches(d, a) {
			return false
		}
	}
	return true
}

// merge moves the members of b into a.
func (p *partitioner) merge(a, b *Group) {
	for _, m := range b.Members {
		m.Group = a
	}
	a.Members = append(a.Members, b.Members...)
	slices.SortFunc(a.Members, func(x, y *Expr) int { return x.ID - y.ID })
	a.Cols = max(a.Cols, b.Cols)
	if a.RowHint == 0 {
		a.RowHint = b.RowHint
	}
	without := func(list []*Group, group *Group) []*Group {
		return slices.DeleteFunc(list, func(g *Group) bool { return g == group })
	}
	a.deps, a.users = without(a.deps, b), without(a.users, b)
	for _, d := range b.deps {
		d.users = without(d.users, b)
		a.needs(d)
	}
	for _, user := range b.users {
		user.deps = without(user.deps, b)
		user.needs(a)
	}
	b.Members, b.deps, b.users = nil, nil, nil
}
