package graph

import "slices"

// order sorts the groups so that each comes after those that it reads, and otherwise as recorded.
func (p *partitioner) order() []*Group {
	var live []*Group
	for _, group := range p.groups {
		if len(group.Members) > 0 {
			live = append(live, group)
		}
	}
	last := func(group *Group) int { return group.Members[len(group.Members)-1].ID }
	slices.SortFunc(live, func(a, b *Group) int { return last(a) - last(b) })
	p.stamp++
	open := make(map[*Group]bool)
	var sorted []*Group
	var visit func(group *Group)
	visit = func(group *Group) {
		if open[group] {
			panic("a group needs itself")
		}
		if group.stamp == p.stamp {
			return
		}
		group.stamp = p.stamp
		open[group] = true
		deps := slices.Clone(group.deps)
		slices.SortFunc(deps, func(a, b *Group) int { return last(a) - last(b) })
		for _, d := range deps {
			visit(d)
		}
		open[group] = false
		sorted = append(sorted, group)
	}
	for _, group := range live {
		visit(group)
	}
	return sorted
}
