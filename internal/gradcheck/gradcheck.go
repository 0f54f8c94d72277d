// Package gradcheck compares the gradients of a graph with central differences of its loss,
//
//	df/dx ~ (f(x + h) - f(x - h)) / 2h
//
// for every entry of every trainable variable. It needs float64: in single precision the differences are mostly rounding errors.
package gradcheck

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
)

// step is h: about the cube root of float64's epsilon, where the error of the formula, of order h^2, equals that of rounding.
const step = 1e-5

// rounding is the absolute tolerance of differences of a loss of order 1.
const rounding = 1e-9

// Loss builds a scalar from the nodes of the inputs.
type Loss = func(scope *model.Scope, inputs []*Node) *Node

// Check fails the test for every variable with an entry whose gradient differs by more than tolerance times the variable's largest
// one. It returns the largest gradient of each variable by path; a largest gradient of 0 may mean that the loss does not depend on
// the variable. The caller must avoid kinks (a rectifier, a halting threshold) within the step of the differences.
func Check(t testing.TB, backend compute.Backend, store *model.Store, loss Loss, inputs []any, tolerance float64) map[string]float64 {
	t.Helper()
	variables, gradients, err := analytic(backend, store, loss, inputs)
	if err != nil {
		t.Fatal(err)
	}
	exec, err := model.NewExec(backend, store, loss)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	largest := map[string]float64{}
	for i, v := range variables {
		differences, err := numeric(exec, v, inputs)
		if err != nil {
			t.Fatal(err)
		}
		scale := 0.0
		for _, g := range gradients[i] {
			scale = max(scale, math.Abs(g))
		}
		largest[v.Path()] = scale
		if line := compare(gradients[i], differences, tolerance*scale+rounding); line != "" {
			t.Errorf("%s %s: %s", v.Path(), v.Shape(), line)
		}
	}
	return largest
}

// compare describes the entry with the largest difference, if it exceeds allowed.
func compare(gradient, differences []float64, allowed float64) string {
	worst, off := 0, -1.0
	for i := range gradient {
		d := math.Abs(gradient[i] - differences[i])
		if math.IsNaN(d) {
			d = math.Inf(1)
		}
		if d > off {
			worst, off = i, d
		}
	}
	if off <= allowed {
		return ""
	}
	return fmt.Sprintf("entry %d has gradient %.9g, central differences %.9g: the difference %.2g exceeds %.2g",
		worst, gradient[worst], differences[worst], off, allowed)
}

// analytic returns the gradient of the loss by every trainable variable that it depends on.
func analytic(backend compute.Backend, store *model.Store, loss Loss, inputs []any) (variables []*model.Variable, gradients [][]float64, err error) {
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, nodes []*Node) []*Node {
		l := loss(scope, nodes)
		var values []*Node
		variables = variables[:0]
		for v := range store.IterVariables() {
			if v.Trainable && v.InUseByGraph(l.Graph()) {
				variables, values = append(variables, v), append(values, v.NodeValue(l))
			}
		}
		return Gradient(l, values...)
	})
	if err != nil {
		return nil, nil, err
	}
	defer exec.Finalize()
	out, err := exec.Call(inputs...)
	if err != nil {
		return nil, nil, err
	}
	for i, gradient := range out {
		if gradient.DType() != dtypes.Float64 {
			return nil, nil, fmt.Errorf("gradcheck: variable %s is of type %s: central differences need Float64", variables[i].Path(), gradient.DType())
		}
		gradients = append(gradients, tensors.MustCopyFlatData[float64](gradient))
	}
	return variables, gradients, nil
}

// numeric returns the central difference by every entry of one variable, and restores the variable.
func numeric(exec *model.Exec, v *model.Variable, inputs []any) ([]float64, error) {
	value, err := v.Value()
	if err != nil {
		return nil, err
	}
	start := tensors.MustCopyFlatData[float64](value)
	at := func(i int, x float64) (float64, error) {
		shifted := append([]float64(nil), start...)
		shifted[i] = x
		if err := v.SetValue(tensors.FromFlatDataAndDimensions(shifted, v.Shape().Dimensions...)); err != nil {
			return 0, err
		}
		out, err := exec.Call(inputs...)
		if err != nil {
			return 0, err
		}
		return tensors.ToScalar[float64](out[0]), nil
	}
	differences := make([]float64, len(start))
	for i, x := range start {
		right, err := at(i, x+step)
		if err != nil {
			return nil, err
		}
		left, err := at(i, x-step)
		if err != nil {
			return nil, err
		}
		differences[i] = (right - left) / (2 * step)
	}
	return differences, v.SetValue(tensors.FromFlatDataAndDimensions(start, v.Shape().Dimensions...))
}
