//go:build amd64 && goexperiment.simd

package kernel

import (
	"math"
	"simd/archsimd"
)

func addVectors(s *Set) {
	if s.Level == levelAVX512 {
		addKernelsZ32(s)
		addKernelsZ64(s)
	} else {
		addKernelsY32(s)
		addKernelsY64(s)
	}
}

// Bounds that folds of maxima and minima start from.
var (
	neutralmaxZ32, neutralmaxY32 = float32(math.Inf(-1)), float32(math.Inf(-1))
	neutralminZ32, neutralminY32 = float32(math.Inf(1)), float32(math.Inf(1))
	neutralmaxZ64, neutralmaxY64 = math.Inf(-1), math.Inf(-1)
	neutralminZ64, neutralminY64 = math.Inf(1), math.Inf(1)
)

// The halves of a fold: registers of 128 bits.

func addX32(x, y archsimd.Float32x4) archsimd.Float32x4 { return x.Add(y) }

func maxX32(x, y archsimd.Float32x4) archsimd.Float32x4 {
	return x.Merge(y.Merge(x.Max(y), y.NotEqual(y)), x.NotEqual(x))
}

func minX32(x, y archsimd.Float32x4) archsimd.Float32x4 {
	return x.Merge(y.Merge(x.Min(y), y.NotEqual(y)), x.NotEqual(x))
}

// peak is the maximum where it does not matter what comes of values that are not numbers.

func peakX32(x, y archsimd.Float32x4) archsimd.Float32x4 { return x.Max(y) }

func peakY32(x, y archsimd.Float32x8) archsimd.Float32x8 { return x.Max(y) }

func peakX64(x, y archsimd.Float64x2) archsimd.Float64x2 { return x.Max(y) }

func peakY64(x, y archsimd.Float64x4) archsimd.Float64x4 { return x.Max(y) }

func addX64(x, y archsimd.Float64x2) archsimd.Float64x2 { return x.Add(y) }

func maxX64(x, y archsimd.Float64x2) archsimd.Float64x2 {
	return x.Merge(y.Merge(x.Max(y), y.NotEqual(y)), x.NotEqual(x))
}

func minX64(x, y archsimd.Float64x2) archsimd.Float64x2 {
	return x.Merge(y.Merge(x.Min(y), y.NotEqual(y)), x.NotEqual(x))
}
