package cpu

import "github.com/gomlx/compute"

// liveNodes are the operations of f that its results, or closures inside f, depend on.
func liveNodes(f *irFunction) map[*node]bool {
	live := make(map[*node]bool)
	var mark func(n *node)
	mark = func(n *node) {
		if n.fn != f || live[n] {
			return
		}
		live[n] = true
		for _, x := range n.inputs {
			mark(x)
		}
		for _, g := range closuresOf(n) {
			for _, c := range captures(g) {
				mark(c)
			}
		}
	}
	for _, r := range f.results {
		mark(r)
	}
	return live
}

// closuresOf returns the closures an operation runs: not the target of a Call, which sees nothing of its caller.
func closuresOf(n *node) []*irFunction {
	switch a := n.attr.(type) {
	case *sortAttr:
		return []*irFunction{a.comparator}
	case *callAttr:
		if n.op != compute.OpTypeCall {
			return a.fns
		}
	}
	return nil
}

// captures are the values of enclosing functions that a closure uses, in the order of first use.
func captures(f *irFunction) []*node {
	seen := make(map[*node]bool)
	var list []*node
	use := func(n *node) {
		if n.fn != f && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	live := liveNodes(f)
	for _, n := range f.nodes {
		if !live[n] {
			continue
		}
		for _, x := range n.inputs {
			use(x)
		}
		for _, g := range closuresOf(n) {
			for _, c := range captures(g) {
				use(c)
			}
		}
	}
	for _, r := range f.results {
		use(r)
	}
	return list
}
