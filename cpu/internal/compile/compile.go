// Package compile is the back end of the compiler: it compiles a module to a program. Its input is an ir.Module, which package graph
// optimizes; its output is an exec.Program.
//
// Each group of the graph becomes an instruction: a fused group becomes steps on tiles (lower_fused.go, operands.go), whose
// intermediate values are in registers (registers.go); other groups are lowered by lower_*.go. chain.go then joins instructions that
// work on the same rows. plan.go assigns every value a place in an arena by liveness. A result replaces an operand that is no longer
// needed if both are accessed row by row, and donated inputs become results, so that a donated cache is updated in place.
//
// If something has no kernel, compilation ends with ir.Unsupported. Any other panic is a mistake in this package, and becomes an
// error that says so.
package compile

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/cpu/internal/exec"
	"universal-transformer/cpu/internal/graph"
	"universal-transformer/cpu/internal/ir"
	"universal-transformer/cpu/internal/kernel"
)

// Module compiles the main function, and the functions that it runs. The error is ir.Unsupported if an operation or a type has no
// kernel; other errors say where the compiler failed.
func Module(module *ir.Module, m *exec.Machine) (p *exec.Program, err error) {
	if foreign := foreignPart(module); foreign != "" {
		return nil, ir.Unsupported{What: foreign}
	}
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, ir.Failure(r, "the graph")
		}
	}()
	return compileGraph(graph.Build(module.Main, nil), m), nil
}

// foreignPart returns the name of the first operation that has no kernel, or whose type has none.
func foreignPart(module *ir.Module) string {
	seen := make(map[*ir.Function]bool)
	var visit func(f *ir.Function) string
	visit = func(f *ir.Function) string {
		if seen[f] {
			return ""
		}
		seen[f] = true
		live := ir.Live(f)
		for _, n := range f.Nodes {
			if !live[n] {
				continue
			}
			if _, ok := n.Attr.(*ir.ForeignAttr); ok {
				return n.Op.String()
			}
			if n.Shape.Ok() && !slices.Contains(kernel.DTypes, n.Shape.DType) {
				return fmt.Sprintf("%s of type %s", n.Op, n.Shape.DType)
			}
			if found := foreignAccumulator(n); found != "" {
				return found
			}
			fns := ir.ClosuresOf(n)
			if a, ok := n.Attr.(*ir.CallAttr); ok {
				fns = a.Functions
			}
			for _, g := range fns {
				if found := visit(g); found != "" {
					return found
				}
			}
		}
		return ""
	}
	return visit(module.Main)
}

// foreignAccumulator returns the name of the accumulator type of a product if it has no kernels.
func foreignAccumulator(n *ir.Node) string {
	a, ok := n.Attr.(*ir.DotAttr)
	if !ok || a.Config.AccumulatorDType == dtypes.InvalidDType || slices.Contains(kernel.DTypes, a.Config.AccumulatorDType) {
		return ""
	}
	return fmt.Sprintf("%s with type %s", n.Op, a.Config.AccumulatorDType)
}

// compileGraph compiles a graph to a program.
func compileGraph(g *graph.Graph, m *exec.Machine) *exec.Program {
	em := &emitter{g: g, prog: &exec.Program{Machine: m}, slotOfExpr: make(map[*graph.Expr]int), packings: make(map[packing]int), packed: make(map[packing]int), shared: make(map[int]bool)}
	em.claimResults()
	g.Prune()
	em.countPackings()
	for _, p := range g.Params {
		em.prog.Params = append(em.prog.Params, em.slotOf(p))
	}
	for _, group := range g.Partition(m.Share) {
		em.lower(group)
	}
	em.plan()
	return em.prog
}

// lower emits the instructions of a group.
func (em *emitter) lower(group *graph.Group) {
	if group.Fused {
		em.lowerFused(group)
		return
	}
	defer ir.Blame(group.Members[0].Name())
	em.lowerSingle(group.Members[0])
}
