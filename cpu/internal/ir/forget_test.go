package ir

import (
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
)

// A node that is kept keeps none of those it was computed from, nor closures and constants; its shape stays.
// Caught when planted: closures that keep their nodes.
func TestForget(t *testing.T) {
	m := &Module{}
	m.Main = &Function{Module: m}
	branch := &Function{Module: m, Parent: m.Main}
	shape := shapes.Make(dtypes.Float32, 2)
	x := m.Main.Add(compute.OpTypeConstant, shape, &ConstAttr{Flat: []float32{1, 2}})
	inside := branch.Add(compute.OpTypeNeg, shape, nil, x)
	branch.Results = []*Node{inside}
	y := m.Main.Add(compute.OpTypeIf, shape, &CallAttr{Functions: []*Function{branch, branch}}, x)
	m.Main.Results = []*Node{y}
	m.Forget()
	for name, n := range map[string]*Node{"constant": x, "in a closure": inside, "if": y} {
		if n.Inputs != nil || n.Attr != nil || n.Func.Nodes != nil || n.Func.Results != nil || !n.Shape.Equal(shape) {
			t.Errorf("%s: %+v", name, n)
		}
	}
}
