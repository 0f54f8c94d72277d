package ir

import "github.com/gomlx/compute"

// Live returns the operations of f that its results, or closures inside f, depend on.
func Live(f *Function) map[*Node]bool {
	live := make(map[*Node]bool)
	var mark func(n *Node)
	mark = func(n *Node) {
		if n.Func != f || live[n] {
			return
		}
		live[n] = true
		for _, x := range n.Inputs {
			mark(x)
		}
		for _, g := range ClosuresOf(n) {
			for _, c := range Captures(g) {
				mark(c)
			}
		}
	}
	for _, r := range f.Results {
		mark(r)
	}
	return live
}

// ClosuresOf returns the closures that an operation runs. The target of a Call is not one, as it does not use values of its caller.
func ClosuresOf(n *Node) []*Function {
	switch a := n.Attr.(type) {
	case *SortAttr:
		return []*Function{a.Comparator}
	case *CallAttr:
		if n.Op != compute.OpTypeCall {
			return a.Functions
		}
	}
	return nil
}

// functionsOf returns all functions that an operation runs.
func functionsOf(n *Node) []*Function {
	if a, ok := n.Attr.(*CallAttr); ok {
		return a.Functions
	}
	return ClosuresOf(n)
}

// Captures returns the values of enclosing functions that a closure uses, in the order of first use.
func Captures(f *Function) []*Node {
	seen := make(map[*Node]bool)
	var list []*Node
	use := func(n *Node) {
		if n.Func != f && !seen[n] {
			seen[n] = true
			list = append(list, n)
		}
	}
	live := Live(f)
	for _, n := range f.Nodes {
		if !live[n] {
			continue
		}
		for _, x := range n.Inputs {
			use(x)
		}
		for _, g := range ClosuresOf(n) {
			for _, c := range Captures(g) {
				use(c)
			}
		}
	}
	for _, r := range f.Results {
		use(r)
	}
	return list
}
