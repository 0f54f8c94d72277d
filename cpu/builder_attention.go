package cpu

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"universal-transformer/cpu/internal/ir"
)

// attentionDims are the dimensions of the operands: B batch, H heads, M queries, N keys, D channels of a head.
type attentionDims struct{ b, h, m, n, d int }

// attentionForm returns an error unless the fused kernels support this form of attention.
func attentionForm(in []*ir.Node, layout compute.AttentionAxesLayout, o *compute.ScaledDotProductAttentionConfig) (*ir.AttentionAttr, attentionDims, error) {
	refuse := func(what string) (*ir.AttentionAttr, attentionDims, error) {
		return nil, attentionDims{}, fmt.Errorf("fused attention with %s: %w", what, compute.ErrNotImplemented)
	}
	if o == nil {
		o = &compute.ScaledDotProductAttentionConfig{}
	}
	q, k, v := in[0].Shape, in[1].Shape, in[2].Shape
	if q.Rank() != 4 || k.Rank() != 4 || v.Rank() != 4 {
		return refuse("operands that do not have four axes")
	}
	x := attentionDims{q.Dim(0), q.Dim(layout.HeadsAxis()), q.Dim(layout.SeqAxis()), k.Dim(layout.SeqAxis()), q.Dim(3)}
	attr := &ir.AttentionAttr{Layout: layout, Scale: o.Scale, Causal: o.Causal, HasMask: o.Mask != nil}
	if attr.Scale == 0 {
		attr.Scale = 1 / math.Sqrt(float64(x.d))
	}
	switch {
	case q.DType != k.DType || q.DType != v.DType || q.DType != dtypes.Float32 && q.DType != dtypes.Float64:
		return refuse("type " + q.DType.String())
	case o.Bias != nil || o.QuerySeqLen != nil || o.KeyValueSeqLen != nil:
		return refuse("bias or lengths")
	case !slices.Equal(k.Dimensions, v.Dimensions) || k.Dim(0) != x.b || k.Dim(layout.HeadsAxis()) != x.h || k.Dim(3) != x.d:
		return refuse("keys and values of other dimensions than the queries")
	case q.Size() == 0 || k.Size() == 0:
		return refuse("empty operands")
	case o.Causal && (o.Mask != nil || x.m != x.n):
		return refuse("causality and a mask, or queries that are not the keys")
	case o.Mask == nil:
		return attr, x, nil
	}
	mask := in[3].Shape
	if mask.DType != dtypes.Bool && mask.DType != q.DType {
		return refuse("mask of type " + mask.DType.String())
	}
	if mask.Rank() != 4 && mask.Rank() != 2 {
		return refuse("mask that has neither two nor four axes")
	}
	for i, d := range x.scores(layout)[4-mask.Rank():] {
		if mask.Rank() == 2 {
			d = [2]int{x.m, x.n}[i]
		}
		if mask.Dim(i) != d && mask.Dim(i) != 1 {
			return refuse("mask that cannot be broadcast")
		}
	}
	return attr, x, nil
}

// scores are the dimensions that a mask with four axes is broadcast to.
func (x attentionDims) scores(layout compute.AttentionAxesLayout) []int {
	if layout == compute.AttentionAxesLayoutBSHD {
		return []int{x.b, x.m, x.h, x.n}
	}
	return []int{x.b, x.h, x.m, x.n}
}

func (f *function) attentionInputs(query, key, value compute.Value, o *compute.ScaledDotProductAttentionConfig, more ...compute.Value) ([]*ir.Node, error) {
	inputs := []compute.Value{query, key, value}
	if o != nil && o.Mask != nil {
		inputs = append(inputs, o.Mask)
	}
	return f.nodesOf("FusedScaledDotProductAttention", append(inputs, more...)...)
}

// FusedScaledDotProductAttention implements compute.FusedOps. The states for the gradient are, for each batch,
// head and query, the largest score and the inverse of the sum of exponentials.
func (f *function) FusedScaledDotProductAttention(query, key, value compute.Value, layout compute.AttentionAxesLayout,
	options *compute.ScaledDotProductAttentionConfig) (compute.Value, []compute.Value, error) {
	in, err := f.attentionInputs(query, key, value, options)
	if err != nil {
		return nil, nil, err
	}
	attr, x, err := attentionForm(in, layout, options)
	if err != nil {
		return nil, nil, err
	}
	state := shapes.Make(in[0].Shape.DType, x.b, x.h, x.m)
	outs, err := f.addMulti(compute.OpTypeFusedScaledDotProductAttention, []shapes.Shape{in[0].Shape, state, state}, attr, in...)
	if err != nil {
		return nil, nil, err
	}
	return outs[0], values(outs[1:]), nil
}

// FusedScaledDotProductAttentionVJP implements compute.FusedOps.
func (f *function) FusedScaledDotProductAttentionVJP(query, key, value compute.Value, layout compute.AttentionAxesLayout,
	options *compute.ScaledDotProductAttentionConfig, output compute.Value, states []compute.Value, dOutput compute.Value) (dQuery, dKey, dValue compute.Value, err error) {
	if len(states) != 2 {
		return nil, nil, nil, fmt.Errorf("FusedScaledDotProductAttentionVJP needs the 2 states of the forward call, got %d", len(states))
	}
	in, err := f.attentionInputs(query, key, value, options, states[0], states[1], dOutput, output)
	if err != nil {
		return nil, nil, nil, err
	}
	attr, _, err := attentionForm(in, layout, options)
	if err != nil {
		return nil, nil, nil, err
	}
	outs, err := f.addMulti(compute.OpTypeFusedScaledDotProductAttentionVJP, shapesOf(in[:3]), attr, in...)
	if err != nil {
		return nil, nil, nil, err
	}
	return outs[0], outs[1], outs[2], nil
}
