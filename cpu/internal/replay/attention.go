package replay

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// A graphWriter calls operations of another backend and keeps the first error.
type graphWriter struct {
	f   compute.Function
	err error
}

func (w *graphWriter) do(v compute.Value, err error) compute.Value {
	if w.err == nil {
		w.err = err
	}
	return v
}

func (w *graphWriter) dims(v compute.Value) []int {
	if w.err != nil {
		return make([]int, 4)
	}
	s, err := w.f.Shape(v)
	w.do(nil, err)
	return s.Dimensions
}

func (w *graphWriter) scalar(dtype dtypes.DType, x float64) compute.Value {
	if dtype == dtypes.Float32 {
		return w.do(w.f.Constant([]float32{float32(x)}))
	}
	return w.do(w.f.Constant([]float64{x}))
}

func (w *graphWriter) dot(l compute.Value, lc int, r compute.Value, rc int) compute.Value {
	if w.err != nil {
		return nil
	}
	return w.do(w.f.DotGeneral(l, []int{lc}, []int{0, 1}, r, []int{rc}, []int{0, 1}, compute.DotGeneralConfig{}))
}

// decomposeAttention writes fused attention, or its gradient, in plain operations: with axes in the order
// batch, head, position, channel,
//
//	P = softmax(scale Q K' + mask), zero where masked       O = P V
//	dV = P' dO    dP = dO V'    dS = scale P (dP - sum_j P dP)    dQ = dS K    dK = dS' Q
func decomposeAttention(n *ir.Node, to compute.Function, in []compute.Value) ([]compute.Value, error) {
	a := n.Attr.(*ir.AttentionAttr)
	w := &graphWriter{f: to}
	heads := func(v compute.Value) compute.Value { // its own inverse
		if a.Layout == compute.AttentionAxesLayoutBSHD && w.err == nil {
			return w.do(to.Transpose(v, 0, 2, 1, 3))
		}
		return v
	}
	dtype := n.Inputs[0].Shape.DType
	q, k, v := heads(in[0]), heads(in[1]), heads(in[2])
	rest := in[3:]
	var mask compute.Value
	if a.HasMask {
		mask, rest = in[3], in[4:]
	}
	p, largest, inverse := w.softmax(a, dtype, w.dot(q, 3, k, 3), mask, n)
	if w.err != nil {
		return nil, w.err
	}
	if n.Op == compute.OpTypeFusedScaledDotProductAttention {
		return []compute.Value{heads(w.dot(p, 3, v, 2)), largest, inverse}, w.err
	}
	dOut := heads(rest[2])
	dV := w.dot(p, 2, dOut, 2)
	dP := w.dot(dOut, 3, v, 3)
	if w.err != nil {
		return nil, w.err
	}
	sum := w.keep(w.do(to.ReduceSum(w.do(to.Mul(p, dP)), 3)))
	dS := w.do(to.Mul(w.do(to.Mul(p, w.do(to.Sub(dP, sum)))), w.scalar(dtype, a.Scale)))
	return []compute.Value{heads(w.dot(dS, 3, k, 2)), heads(w.dot(dS, 2, q, 2)), heads(dV)}, w.err
}

// keep restores the last axis of a reduced tensor, with size one.
func (w *graphWriter) keep(v compute.Value) compute.Value {
	d := w.dims(v)
	return w.do(w.f.Reshape(v, append(append([]int{}, d...), 1)...))
}

// softmax returns the softmax of scaled and masked scores [B, H, M, N], and the values that the fused operation keeps of it.
func (w *graphWriter) softmax(a *ir.AttentionAttr, dtype dtypes.DType, scores, mask compute.Value, n *ir.Node) (p, largest, inverse compute.Value) {
	if w.err != nil {
		return nil, nil, nil
	}
	f := w.f
	d := w.dims(scores)
	shape := shapes.Make(dtype, d...)
	scores = w.do(f.Mul(scores, w.scalar(dtype, a.Scale)))
	var visible compute.Value
	switch {
	case a.Causal:
		square := shapes.Make(dtypes.Int32, d[2], d[3])
		lower := w.do(f.GreaterOrEqual(w.do(f.Iota(square, 0)), w.do(f.Iota(square, 1))))
		visible = w.do(f.BroadcastInDim(lower, shapes.Make(dtypes.Bool, d...), []int{2, 3}))
	case a.HasMask:
		m := n.Inputs[3].Shape
		if m.Rank() == 4 && a.Layout == compute.AttentionAxesLayoutBSHD {
			mask = w.do(f.Transpose(mask, 0, 2, 1, 3))
		}
		axes := []int{0, 1, 2, 3}[4-m.Rank():]
		shape.DType = m.DType
		mask = w.do(f.BroadcastInDim(mask, shape, axes))
		if m.DType != dtypes.Bool {
			scores = w.do(f.Add(scores, mask))
		} else {
			visible = mask
		}
	}
	if visible != nil {
		scores = w.do(f.Where(visible, scores, w.scalar(dtype, -1e30)))
	}
	largest = w.do(f.ReduceMax(scores, 3))
	e := w.do(f.Exp(w.do(f.Sub(scores, w.keep(largest)))))
	if visible != nil {
		e = w.do(f.Where(visible, e, w.scalar(dtype, 0)))
	}
	sum := w.do(f.Max(w.do(f.ReduceSum(e, 3)), w.scalar(dtype, 1e-30)))
	inverse = w.do(f.Div(w.scalar(dtype, 1), sum))
	return w.do(f.Mul(e, w.keep(inverse))), largest, inverse
}
