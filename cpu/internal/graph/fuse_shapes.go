package graph

// memberOf returns the kind that e would have in a group, and the group's row length then. It returns kindNone if the shape of e
// excludes it.
func memberOf(e *Expr, group *Group) (MemberKind, int) {
	if group.Size == 0 {
		return kindNone, 0
	}
	if a, ok := e.Attr.(ReduceAttr); ok {
		return reductionIn(e, a, group)
	}
	kind := kindNone
	switch {
	case e.Size() == group.Size:
		kind = KindFull
	case group.Cols > 0 && e.Size()*group.Cols == group.Size:
		kind = KindRow
	}
	for _, x := range e.Operands {
		if x.View.Base.Group == group && !readable(x, kind, group.Cols) {
			return kindNone, 0
		}
	}
	return kind, group.Cols
}

// readable reports whether an operation of the given kind can read x tile by tile while its group runs.
func readable(x *Expr, kind MemberKind, cols int) bool {
	b := x.View.Base
	if kind == KindFull && b.Kind == KindRow {
		return isRowBroadcast(x, cols)
	}
	return b.Kind == kind && x.Size() == b.Size() && x.View.IsDense() && x.View.Offset == 0
}

// reductionIn is like memberOf for a reduction of a member.
func reductionIn(e *Expr, a ReduceAttr, group *Group) (MemberKind, int) {
	x := e.Operands[0]
	b := x.View.Base
	if b.Group != group || x.Size() != b.Size() || !x.View.IsDense() {
		return kindNone, 0
	}
	if e.Size() == 1 && (b.Kind == KindRow || b.Kind == KindFull && group.Cols != group.Size) {
		return KindAll, group.Cols
	}
	if b.Kind != KindFull {
		return kindNone, 0
	}
	if a.Leading {
		if group.Cols == 0 || group.Cols == e.Size() {
			return KindColumn, e.Size()
		}
		return kindNone, 0
	}
	if group.Cols == 0 || group.Cols == a.Length {
		return KindRow, a.Length
	}
	return kindNone, 0
}

// isRowBroadcast reports whether x repeats each element of its base cols times.
func isRowBroadcast(x *Expr, cols int) bool {
	if x.View.Offset != 0 || x.Size() != x.View.Base.Size()*cols {
		return false
	}
	d, s := Collapse(x.Dims, x.View.Strides)
	switch len(d) {
	case 0:
		return true
	case 1:
		return s[0] == 0 && d[0] == cols || s[0] == 1 && cols == 1
	case 2:
		return s[0] == 1 && s[1] == 0 && d[1] == cols
	}
	return false
}
