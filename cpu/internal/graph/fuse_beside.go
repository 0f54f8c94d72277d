package graph

// beside returns the group of another operation that reads the same tensor as e, if rows are all that both are needed for: the group then
// reads the tensor once. The gradients of a depthwise convolution are such sums, one for each position of the window.
func (p *partitioner) beside(e *Expr) *Group {
	if !e.summed() {
		return nil
	}
	for _, x := range e.Operands {
		b := x.View.Base
		if b.Size() != e.Size() {
			continue
		}
		for _, other := range b.Users {
			group := other.Group
			if group == nil || other == e || !other.summed() {
				continue
			}
			if kind, _ := memberOf(e, group); kind == KindFull && p.independent(e, group) {
				return group
			}
		}
	}
	return nil
}

// summed reports whether e is an element-wise operation of which nothing but reductions of its rows is needed.
func (e *Expr) summed() bool {
	if e.Result >= 0 || len(e.Users) == 0 || !isElementwise(e.Op) {
		return false
	}
	for _, user := range e.Users {
		a, ok := user.Attr.(ReduceAttr)
		if !ok || !a.Leading {
			return false
		}
	}
	return true
}
