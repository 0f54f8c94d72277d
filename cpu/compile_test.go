package cpu_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/layers/attention"
	"universal-transformer/cpu/internal/ir"
)

// A compiler that breaks says so, and where; it does not hand the graph to the portable backend, which would hide the mistake.
// The planted mistake: recorded operations whose shape or attribute is not theirs, at which each half of the compiler breaks.
// Caught when planted: any panic taken for an operation that has no kernel.
func TestBrokenCompiler(t *testing.T) {
	for _, c := range []struct {
		operation, pkg string
		plant          func(f compute.Function, x compute.Value) (compute.Value, error)
	}{
		{"Add", "cpu/internal/graph", func(f compute.Function, x compute.Value) (compute.Value, error) {
			y, err := f.Add(x, x)
			y.(*ir.Node).Shape = shapes.Make(dtypes.Float32)
			return y, err
		}},
		{"DotGeneral", "cpu/internal/compile", func(f compute.Function, x compute.Value) (compute.Value, error) {
			y, err := f.DotGeneral(x, []int{1}, nil, x, []int{1}, nil, compute.DotGeneralConfig{})
			y.(*ir.Node).Shape.Dimensions = nil
			return y, err
		}},
	} {
		b := newBackend(t, "cpu").Builder("planted")
		f := b.Main()
		x, err := f.Parameter("x", shapes.Make(dtypes.Float32, 3, 5), nil)
		if err != nil {
			t.Fatal(err)
		}
		y, err := c.plant(f, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Return([]compute.Value{y}, nil); err != nil {
			t.Fatal(err)
		}
		said := captureLog(func() { _, err = b.Compile() })
		switch {
		case said != "":
			t.Errorf("%s: logged %q, want an error", c.operation, said)
		case err == nil:
			t.Errorf("%s: compiled", c.operation)
		case strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), c.pkg+": cannot compile "+c.operation+":") || !strings.Contains(err.Error(), "please report it"):
			t.Errorf("%s: the error is %q; want one line that names %s and the operation and asks to report it", c.operation, err, c.pkg)
		}
	}
}

// Attention over different lengths with as many rows in all: blocks of one are no blocks of the other.
// Caught when planted: a chain of both.
func TestAttentionOfTwoLengths(t *testing.T) {
	build := func(q, k *Node) []*Node {
		y, _ := attention.Core(q, q, q, attention.LayoutBSHD, attention.CoreOptions{UseCausalMask: true})
		z, _ := attention.Core(k, k, k, attention.LayoutBSHD, attention.CoreOptions{UseCausalMask: true})
		return []*Node{y, z}
	}
	values := make([]float32, 4*6*2*16)
	for i := range values {
		values[i] = float32(math.Sin(float64(i)))
	}
	run := func(b compute.Backend) []*tensors.Tensor {
		exec := MustNewExec(b, build)
		defer exec.Finalize()
		return exec.MustCall(tensors.FromFlatDataAndDimensions(values, 4, 6, 2, 16), tensors.FromFlatDataAndDimensions(values, 6, 4, 2, 16))
	}
	want := run(reference(t))
	for _, config := range append(configs, "cpu:threads=2,share=32") {
		t.Run(config, func(t *testing.T) {
			var got []*tensors.Tensor
			if said := captureLog(func() { got = run(newBackend(t, config)) }); said != "" {
				t.Errorf("logged %q", said)
			}
			for i := range want {
				if why := difference(got[i], want[i]); why != "" {
					t.Errorf("result %d: %s", i, why)
				}
			}
		})
	}
}
