package cpu

// memberOf says what e would be in group u, and the group's row length then; kindNone if it cannot be a member
// as far as shapes are concerned.
func memberOf(e *expr, u *unit) (memberKind, int) {
	if u.n == 0 {
		return kindNone, 0
	}
	if a, ok := e.attr.(reduceAttr); ok {
		return reductionIn(e, a, u)
	}
	kind := kindNone
	switch {
	case e.size() == u.n:
		kind = kindFull
	case u.cols > 0 && e.size()*u.cols == u.n:
		kind = kindRow
	}
	for _, x := range e.in {
		if x.view.base.unit == u && !readable(x, kind, u.cols) {
			return kindNone, 0
		}
	}
	return kind, u.cols
}

// readable tells whether an operation of the given kind can read x tile by tile while its group runs.
func readable(x *expr, kind memberKind, cols int) bool {
	b := x.view.base
	if kind == kindFull && b.kind == kindRow {
		return isRowBroadcast(x, cols)
	}
	return b.kind == kind && x.size() == b.size() && x.view.isDense() && x.view.offset == 0
}

// reductionIn is memberOf for a reduction of a member.
func reductionIn(e *expr, a reduceAttr, u *unit) (memberKind, int) {
	x := e.in[0]
	b := x.view.base
	if b.unit != u || x.size() != b.size() || !x.view.isDense() {
		return kindNone, 0
	}
	if e.size() == 1 && (b.kind == kindRow || b.kind == kindFull && u.cols != u.n) {
		return kindAll, u.cols
	}
	if b.kind != kindFull {
		return kindNone, 0
	}
	if a.leading {
		if u.cols == 0 || u.cols == e.size() {
			return kindColumn, e.size()
		}
		return kindNone, 0
	}
	if u.cols == 0 || u.cols == a.length {
		return kindRow, a.length
	}
	return kindNone, 0
}

// isRowBroadcast tells whether x repeats each element of its base cols times.
func isRowBroadcast(x *expr, cols int) bool {
	if x.view.offset != 0 || x.size() != x.view.base.size()*cols {
		return false
	}
	d, s := collapse(x.dims, x.view.strides)
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
