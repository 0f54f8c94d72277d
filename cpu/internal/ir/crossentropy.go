package ir

import (
	"slices"
	"strings"

	"github.com/gomlx/compute/dtypes"
)

// CrossEntropyName is the beginning of the names of functions that are computed as cross entropy in blocks; see package cpu.
const CrossEntropyName = "linear_cross_entropy/"

// IsCrossEntropy reports whether a function has the name, the parameters and the results of cross entropy in blocks:
//
//	h [R, D], w [V, D], target [R] int32, a [R], b [R]  ->  truth [R], total [R], correct [R], dh [R, D], dw [V, D]
//
// or w and dw [D, V]. All numbers but the targets have one type.
func IsCrossEntropy(f *Function) bool {
	if !strings.HasPrefix(f.Name, CrossEntropyName) || len(f.Params) != 5 || len(f.Results) != 5 {
		return false
	}
	h, w := f.Params[0].Shape, f.Params[1].Shape
	if h.DType != dtypes.Float32 && h.DType != dtypes.Float64 || h.Rank() != 2 || w.Rank() != 2 || h.Size() == 0 || w.Size() == 0 {
		return false
	}
	channels := 1
	if CrossEntropyByColumn(f) {
		channels = 0
	}
	if w.Dim(channels) != h.Dim(1) || f.Params[2].Shape.DType != dtypes.Int32 {
		return false
	}
	dims := [][]int{h.Dimensions, w.Dimensions, h.Dimensions[:1], h.Dimensions[:1], h.Dimensions[:1]}
	results := [][]int{h.Dimensions[:1], h.Dimensions[:1], h.Dimensions[:1], h.Dimensions, w.Dimensions}
	for i := range dims {
		p, r := f.Params[i].Shape, f.Results[i].Shape
		if !slices.Equal(p.Dimensions, dims[i]) || !slices.Equal(r.Dimensions, results[i]) || r.DType != h.DType || i != 2 && p.DType != h.DType {
			return false
		}
	}
	return true
}

// CrossEntropyByColumn reports whether the words of w are its columns, which the name of the function says.
func CrossEntropyByColumn(f *Function) bool {
	return strings.HasPrefix(f.Name, CrossEntropyName+"columns")
}
