package cpu

import (
	"fmt"
	"slices"
)

// compileModule compiles the main function, with what its closures capture. The error is unsupported if an operation or a
// type has no kernels, and a bug otherwise.
func compileModule(module *irModule, m *machine) (p *program, err error) {
	if foreign := foreignPart(module); foreign != "" {
		return nil, unsupported{foreign}
	}
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, failure(r, "the graph")
		}
	}()
	return compileGraph(graphOf(module.main, nil), m), nil
}

// foreignPart names the first value whose type the kernels do not work on.
func foreignPart(module *irModule) string {
	seen := make(map[*irFunction]bool)
	var visit func(f *irFunction) string
	visit = func(f *irFunction) string {
		if seen[f] {
			return ""
		}
		seen[f] = true
		live := liveNodes(f)
		for _, n := range f.nodes {
			if !live[n] {
				continue
			}
			if n.shape.Ok() && !slices.Contains(nativeDTypes, n.shape.DType) {
				return fmt.Sprintf("%s of type %s", n.op, n.shape.DType)
			}
			fns := closuresOf(n)
			if a, ok := n.attr.(*callAttr); ok {
				fns = a.fns
			}
			for _, g := range fns {
				if found := visit(g); found != "" {
					return found
				}
			}
		}
		return ""
	}
	return visit(module.main)
}

// compileGraph turns a graph into a program.
func compileGraph(g *graph, m *machine) *program {
	em := &emitter{g: g, prog: &program{machine: m}, slotOfExpr: make(map[*expr]int)}
	em.claimResults()
	g.prune()
	for _, p := range g.params {
		em.prog.params = append(em.prog.params, em.slotOf(p))
	}
	for _, u := range g.partition(m.share) {
		em.lower(u)
	}
	em.plan()
	return em.prog
}

// lower emits the instructions of a group.
func (em *emitter) lower(u *unit) {
	if u.fused {
		em.lowerFused(u)
		return
	}
	defer blame(u.members[0].op.String())
	em.lowerSingle(u.members[0])
}
