package kernel

import (
	"math"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

type signed interface {
	int8 | int16 | int32 | int64
}

// Unsigned is the unsigned integer types.
type Unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

type integer interface{ signed | Unsigned }

// Float is the floating-point types.
type Float interface{ float32 | float64 }

// Number is the types with arithmetic.
type Number interface{ integer | Float }

// Portable returns plain loops for every type. They are the reference in tests of the other kernels.
var Portable = func() *Set {
	s := &Set{
		Level:       LevelScalar,
		Elementwise: make(map[Key]Func),
		RowRight:    make(map[Key]Func),
		RowLeft:     make(map[Key]Func),
		Reduce:      make(map[Key]Func),
		Accumulate:  make(map[Key]Func),
		Convert:     make(map[[2]dtypes.DType]Func),
		Where:       make(map[int]Func),
		Fill:        make(map[int]Func),
		Gemm:        make(map[dtypes.DType]*Gemm),
		Attention:   make(map[dtypes.DType]*Attention),
	}
	addFloat[float32](s, dtypes.Float32)
	addFloat[float64](s, dtypes.Float64)
	addSigned[int8, uint8](s, dtypes.Int8)
	addSigned[int16, uint16](s, dtypes.Int16)
	addSigned[int32, uint32](s, dtypes.Int32)
	addSigned[int64, uint64](s, dtypes.Int64)
	addUnsigned[uint8](s, dtypes.Uint8)
	addUnsigned[uint16](s, dtypes.Uint16)
	addUnsigned[uint32](s, dtypes.Uint32)
	addUnsigned[uint64](s, dtypes.Uint64)
	addBool(s)
	addMoves[uint8](s)
	addMoves[uint16](s)
	addMoves[uint32](s)
	addMoves[uint64](s)
	return s
}()

func slice[T any](p unsafe.Pointer, n int) []T { return unsafe.Slice((*T)(p), n) }

// unaryOf returns a kernel that applies a function to each element.
func unaryOf[T, R any](f func(T) R) Func {
	return func(dst, a, _, _ unsafe.Pointer, rows, cols int) {
		n := rows * cols
		d, x := slice[R](dst, n), slice[T](a, n)
		for i, v := range x {
			d[i] = f(v)
		}
	}
}

// binaryOf returns a kernel that applies a function to each pair of elements.
func binaryOf[T, R any](f func(T, T) R) Func {
	return func(dst, a, b, _ unsafe.Pointer, rows, cols int) {
		n := rows * cols
		d, x, y := slice[R](dst, n), slice[T](a, n), slice[T](b, n)
		for i, v := range x {
			d[i] = f(v, y[i])
		}
	}
}

// reducing returns a kernel that folds rows with f, starting from its neutral element.
func reducing[T any](neutral T, f func(T, T) T) Func {
	return func(dst, a, _, _ unsafe.Pointer, rows, cols int) {
		d, x := slice[T](dst, rows), slice[T](a, rows*cols)
		for r := range d {
			sum := neutral
			for _, v := range x[r*cols : (r+1)*cols] {
				sum = f(sum, v)
			}
			d[r] = sum
		}
	}
}

// accumulating returns a kernel that folds columns with f.
func accumulating[T any](f func(T, T) T) Func {
	return func(dst, a, _, _ unsafe.Pointer, rows, cols int) {
		d, x := slice[T](dst, cols), slice[T](a, rows*cols)
		for r := range rows {
			for j, v := range x[r*cols : (r+1)*cols] {
				d[j] = f(d[j], v)
			}
		}
	}
}

// foldable adds an operation that reductions use.
func foldable[T any](s *Set, op compute.OpType, dtype dtypes.DType, neutral T, f func(T, T) T) {
	key := Key{op, dtype}
	s.Elementwise[key] = binaryOf(f)
	s.Reduce[key] = reducing(neutral, f)
	s.Accumulate[key] = accumulating(f)
	setNeutral(key, neutral)
}

// Neutral returns the bytes of the neutral element of a reduction.
var Neutral = make(map[Key][8]byte)

func setNeutral[T any](key Key, v T) {
	var raw [8]byte
	*(*T)(unsafe.Pointer(&raw)) = v
	Neutral[key] = raw
}

func addNumber[T Number](s *Set, dtype dtypes.DType, lowest, highest T) {
	foldable(s, compute.OpTypeAdd, dtype, 0, func(a, b T) T { return a + b })
	foldable(s, compute.OpTypeMul, dtype, 1, func(a, b T) T { return a * b })
	foldable(s, compute.OpTypeMax, dtype, lowest, func(a, b T) T { return max(a, b) })
	foldable(s, compute.OpTypeMin, dtype, highest, func(a, b T) T { return min(a, b) })
	s.Elementwise[Key{compute.OpTypeSub, dtype}] = binaryOf(func(a, b T) T { return a - b })
	s.Elementwise[Key{compute.OpTypeEqual, dtype}] = binaryOf(func(a, b T) bool { return a == b })
	s.Elementwise[Key{compute.OpTypeNotEqual, dtype}] = binaryOf(func(a, b T) bool { return a != b })
	s.Elementwise[Key{compute.OpTypeLessThan, dtype}] = binaryOf(func(a, b T) bool { return a < b })
	s.Elementwise[Key{compute.OpTypeLessOrEqual, dtype}] = binaryOf(func(a, b T) bool { return a <= b })
	s.Elementwise[Key{compute.OpTypeGreaterThan, dtype}] = binaryOf(func(a, b T) bool { return a > b })
	s.Elementwise[Key{compute.OpTypeGreaterOrEqual, dtype}] = binaryOf(func(a, b T) bool { return a >= b })
	addConvert[T, int8](s, dtype, dtypes.Int8)
	addConvert[T, int16](s, dtype, dtypes.Int16)
	addConvert[T, int32](s, dtype, dtypes.Int32)
	addConvert[T, int64](s, dtype, dtypes.Int64)
	addConvert[T, uint8](s, dtype, dtypes.Uint8)
	addConvert[T, uint16](s, dtype, dtypes.Uint16)
	addConvert[T, uint32](s, dtype, dtypes.Uint32)
	addConvert[T, uint64](s, dtype, dtypes.Uint64)
	addConvert[T, float32](s, dtype, dtypes.Float32)
	addConvert[T, float64](s, dtype, dtypes.Float64)
	s.Convert[[2]dtypes.DType{dtype, dtypes.Bool}] = unaryOf(func(v T) bool { return v != 0 })
	s.Convert[[2]dtypes.DType{dtypes.Bool, dtype}] = unaryOf(func(v bool) T {
		if v {
			return 1
		}
		return 0
	})
	s.Gemm[dtype] = portableGemm[T]()
}

func addConvert[T, R Number](s *Set, from, to dtypes.DType) {
	s.Convert[[2]dtypes.DType{from, to}] = func(dst, a, _, _ unsafe.Pointer, rows, cols int) { // unaryOf calls a function for each element
		d, x := slice[R](dst, rows*cols), slice[T](a, rows*cols)
		for i, v := range x {
			d[i] = R(v)
		}
	}
}

func addFloat[T Float](s *Set, dtype dtypes.DType) {
	addNumber(s, dtype, T(math.Inf(-1)), T(math.Inf(1)))
	s.Attention[dtype] = portableAttention[T]()
	add := func(op compute.OpType, f func(float64) float64) {
		s.Elementwise[Key{op, dtype}] = unaryOf(func(v T) T { return T(f(float64(v))) })
	}
	add(compute.OpTypeCeil, math.Ceil)
	add(compute.OpTypeCos, math.Cos)
	add(compute.OpTypeErf, math.Erf)
	add(compute.OpTypeExp, math.Exp)
	add(compute.OpTypeExpm1, math.Expm1)
	add(compute.OpTypeFloor, math.Floor)
	add(compute.OpTypeLog, math.Log)
	add(compute.OpTypeLog1p, math.Log1p)
	add(compute.OpTypeLogistic, func(v float64) float64 { return 1 / (1 + math.Exp(-v)) })
	add(compute.OpTypeRound, math.RoundToEven)
	add(compute.OpTypeRsqrt, func(v float64) float64 { return 1 / math.Sqrt(v) })
	add(compute.OpTypeSin, math.Sin)
	add(compute.OpTypeSqrt, math.Sqrt)
	add(compute.OpTypeTanh, math.Tanh)
	s.Elementwise[Key{compute.OpTypeAbs, dtype}] = unaryOf(func(v T) T { return T(math.Abs(float64(v))) })
	s.Elementwise[Key{compute.OpTypeNeg, dtype}] = unaryOf(func(v T) T { return -v })
	s.Elementwise[Key{compute.OpTypeSign, dtype}] = unaryOf(signOf[T])
	s.Elementwise[Key{compute.OpTypeIsFinite, dtype}] = unaryOf(func(v T) bool { return v-v == 0 })
	s.Elementwise[Key{compute.OpTypeDiv, dtype}] = binaryOf(func(a, b T) T { return a / b })
	s.Elementwise[Key{compute.OpTypePow, dtype}] = binaryOf(func(a, b T) T { return T(math.Pow(float64(a), float64(b))) })
	s.Elementwise[Key{compute.OpTypeRem, dtype}] = binaryOf(func(a, b T) T { return T(math.Mod(float64(a), float64(b))) })
	s.Elementwise[Key{compute.OpTypeAtan2, dtype}] = binaryOf(func(a, b T) T { return T(math.Atan2(float64(a), float64(b))) })
}

// signOf returns -1 or 1, or the value itself if it is zero or NaN.
func signOf[T Number](v T) T {
	var zero T
	if v > zero {
		return 1
	}
	if v < zero {
		return zero - 1
	}
	return v
}

func addBool(s *Set) {
	foldable(s, compute.OpTypeLogicalAnd, dtypes.Bool, true, func(a, b bool) bool { return a && b })
	foldable(s, compute.OpTypeLogicalOr, dtypes.Bool, false, func(a, b bool) bool { return a || b })
	foldable(s, compute.OpTypeLogicalXor, dtypes.Bool, false, func(a, b bool) bool { return a != b })
	s.Elementwise[Key{compute.OpTypeLogicalNot, dtypes.Bool}] = unaryOf(func(v bool) bool { return !v })
	s.Elementwise[Key{compute.OpTypeEqual, dtypes.Bool}] = binaryOf(func(a, b bool) bool { return a == b })
	s.Elementwise[Key{compute.OpTypeNotEqual, dtypes.Bool}] = binaryOf(func(a, b bool) bool { return a != b })
	// Maximum and minimum of booleans are "or" and "and", which reductions of masks use.
	foldable(s, compute.OpTypeMax, dtypes.Bool, false, func(a, b bool) bool { return a || b })
	foldable(s, compute.OpTypeMin, dtypes.Bool, true, func(a, b bool) bool { return a && b })
}

// addMoves adds the kernels that depend only on the size of elements.
func addMoves[T Unsigned](s *Set) {
	size := int(unsafe.Sizeof(T(0)))
	s.Where[size] = func(dst, cond, a, b unsafe.Pointer, rows, cols int) {
		n := rows * cols
		d, c, x, y := slice[T](dst, n), slice[bool](cond, n), slice[T](a, n), slice[T](b, n)
		for i, yes := range c {
			if yes {
				d[i] = x[i]
			} else {
				d[i] = y[i]
			}
		}
	}
	s.Fill[size] = func(dst, a, _, _ unsafe.Pointer, rows, cols int) {
		x := slice[T](a, rows)
		d := slice[T](dst, rows*cols)
		for r, v := range x {
			row := d[r*cols : (r+1)*cols]
			copied := copy(row, []T{v})
			for copied < len(row) {
				copied += copy(row[copied:], row[:min(copied, 1024)]) // much faster than one by one
			}
		}
	}
}

// Copy copy a tile, by size of elements.
var Copy = map[int]Func{1: copyTile(1), 2: copyTile(2), 4: copyTile(4), 8: copyTile(8)}

func copyTile(size int) Func {
	return func(dst, a, _, _ unsafe.Pointer, rows, cols int) {
		copy(slice[byte](dst, rows*cols*size), slice[byte](a, rows*cols*size))
	}
}
