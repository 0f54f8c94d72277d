package cpu

import (
	"errors"
	"fmt"
	"slices"
)

// compileModule compiles the main function.
func compileModule(module *irModule, m *machine) (*program, error) {
	if foreign := foreignPart(module); foreign != "" {
		return nil, errors.New(foreign)
	}
	return compileFunction(module.main, m)
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

// compileFunction compiles f, with what its closures capture.
func compileFunction(f *irFunction, m *machine) (p *program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fmt.Errorf("the compiler failed: %v", r) // no graph is known to do this
			if u, ok := r.(unsupported); ok {
				err = fmt.Errorf("it uses %s", u.what)
			}
		}
	}()
	return compileGraph(graphOf(f, nil), m), nil
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
		if u.fused {
			em.lowerFused(u)
		} else {
			em.lowerSingle(u.members[0])
		}
	}
	em.plan()
	return em.prog
}
