package kernel

import (
	"math/bits"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// addInteger adds the operations that signed and unsigned integers share. As in XLA, division by zero returns all bits set, and its
// remainder is the dividend, so a graph cannot crash the process.
func addInteger[T integer](s *Set, dtype dtypes.DType, lowest, highest T) {
	addNumber(s, dtype, lowest, highest)
	foldable(s, compute.OpTypeBitwiseAnd, dtype, ^T(0), func(a, b T) T { return a & b })
	foldable(s, compute.OpTypeBitwiseOr, dtype, 0, func(a, b T) T { return a | b })
	foldable(s, compute.OpTypeBitwiseXor, dtype, 0, func(a, b T) T { return a ^ b })
	width := int(unsafe.Sizeof(T(0))) * 8
	mask := ^uint64(0) >> (64 - width)
	s.Elementwise[Key{compute.OpTypeBitwiseNot, dtype}] = unaryOf(func(v T) T { return ^v })
	s.Elementwise[Key{compute.OpTypeBitCount, dtype}] = unaryOf(func(v T) T { return T(bits.OnesCount64(uint64(v) & mask)) })
	s.Elementwise[Key{compute.OpTypeClz, dtype}] = unaryOf(func(v T) T { return T(bits.LeadingZeros64(uint64(v)&mask) - (64 - width)) })
	s.Elementwise[Key{compute.OpTypeSign, dtype}] = unaryOf(signOf[T])
	s.Elementwise[Key{compute.OpTypePow, dtype}] = binaryOf(powInteger[T])
	s.Elementwise[Key{compute.OpTypeDiv, dtype}] = binaryOf(func(a, b T) T {
		if b == 0 {
			return ^T(0)
		}
		return a / b
	})
	s.Elementwise[Key{compute.OpTypeRem, dtype}] = binaryOf(func(a, b T) T {
		if b == 0 {
			return a
		}
		return a % b
	})
	s.Elementwise[Key{compute.OpTypeShiftLeft, dtype}] = binaryOf(func(a, b T) T { return a << shiftCount(b) })
	s.Elementwise[Key{compute.OpTypeShiftRightArithmetic, dtype}] = binaryOf(func(a, b T) T { return a >> shiftCount(b) })
}

// shiftCount maps negative counts to one larger than any width.
func shiftCount[T integer](n T) uint64 { return uint64(int64(n)) }

// powInteger multiplies base exponent times; negative exponents count as zero.
func powInteger[T integer](base, exponent T) T {
	result := T(1)
	for ; exponent > 0; exponent >>= 1 {
		if exponent&1 == 1 {
			result *= base
		}
		base *= base
	}
	return result
}

func addSigned[T signed, U Unsigned](s *Set, dtype dtypes.DType) {
	lowest := T(-1) << (unsafe.Sizeof(T(0))*8 - 1)
	addInteger(s, dtype, lowest, ^lowest)
	s.Elementwise[Key{compute.OpTypeAbs, dtype}] = unaryOf(func(v T) T {
		if v < 0 {
			return -v
		}
		return v
	})
	s.Elementwise[Key{compute.OpTypeNeg, dtype}] = unaryOf(func(v T) T { return -v })
	s.Elementwise[Key{compute.OpTypeShiftRightLogical, dtype}] = binaryOf(func(a, b T) T { return T(U(a) >> shiftCount(b)) })
}

func addUnsigned[T Unsigned](s *Set, dtype dtypes.DType) {
	addInteger(s, dtype, 0, ^T(0))
	s.Elementwise[Key{compute.OpTypeAbs, dtype}] = unaryOf(func(v T) T { return v })
	s.Elementwise[Key{compute.OpTypeShiftRightLogical, dtype}] = binaryOf(func(a, b T) T { return a >> shiftCount(b) })
}
