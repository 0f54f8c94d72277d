package kernel

import (
	"fmt"
	"strings"
	"unsafe"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
)

// A Func works on a tile of rows x cols elements.
//
// Element-wise kernels read rows*cols consecutive elements of each operand; those named "row" read one element per row from one
// operand. Reductions write one element per row; accumulations add all rows to one. dst may be the same memory as an operand with the
// same element size, but must not overlap otherwise.
type Func func(dst, a, b, c unsafe.Pointer, rows, cols int)

// DTypes lists the types with kernels.
var DTypes = []dtypes.DType{
	dtypes.Bool, dtypes.Int8, dtypes.Int16, dtypes.Int32, dtypes.Int64,
	dtypes.Uint8, dtypes.Uint16, dtypes.Uint32, dtypes.Uint64, dtypes.Float32, dtypes.Float64,
}

// Key selects a kernel by operation and type of the operands.
type Key struct {
	Op    compute.OpType
	DType dtypes.DType
}

// Pair selects a kernel of two operations, of which the second is applied to the result of the first and another operand.
type Pair struct {
	First, Second compute.OpType
	DType         dtypes.DType
}

// Level is a set of instructions.
type Level string

const (
	LevelScalar Level = "scalar"
	levelAVX2   Level = "avx2"
	levelAVX512 Level = "avx512"
	levelNEON   Level = "neon"
)

// A Set holds the kernels of one level. Missing ones are taken from the portable ones.
type Set struct {
	Level Level

	Elementwise map[Key]Func  // all operands full
	Pairs       map[Pair]Func // (a First b) Second c, each rounded by itself; none in the portable set
	RowRight    map[Key]Func  // second operand: one element a row
	RowLeft     map[Key]Func  // first operand: one element a row
	Reduce      map[Key]Func  // key is the repeated operation: dst[r] = a[r,0] op a[r,1] ...
	Accumulate  map[Key]Func  // dst[j] = dst[j] op a[0,j] op a[1,j] ...
	Convert     map[[2]dtypes.DType]Func
	Where       map[int]Func // by element size
	Fill        map[int]Func // dst[r,j] = a[r]
	Gemm        map[dtypes.DType]*Gemm
	Rounded     *Gemm // of float32, with operands rounded to bfloat16: WithBFloat16
	ByParameter *Gemm // of float32 by a parameter, with operands rounded to int8: WithInt8
	Attention   map[dtypes.DType]*Attention
}

// over returns a copy of the portable kernels with those of s in their place.
func (s *Set) over(base *Set) *Set {
	out := &Set{Level: s.Level}
	out.Elementwise = override(base.Elementwise, s.Elementwise)
	out.Pairs = override(base.Pairs, s.Pairs)
	out.RowRight = override(base.RowRight, s.RowRight)
	out.RowLeft = override(base.RowLeft, s.RowLeft)
	out.Reduce = override(base.Reduce, s.Reduce)
	out.Accumulate = override(base.Accumulate, s.Accumulate)
	out.Convert = override(base.Convert, s.Convert)
	out.Where = override(base.Where, s.Where)
	out.Fill = override(base.Fill, s.Fill)
	out.Gemm = override(base.Gemm, s.Gemm)
	out.Attention = override(base.Attention, s.Attention)
	return out
}

func override[K comparable, V any](base, over map[K]V) map[K]V {
	out := make(map[K]V, len(base)+len(over))
	for k, v := range base {
		out[k] = v
	}
	for k, v := range over {
		out[k] = v
	}
	return out
}

// sets lists the levels that this build and processor support, best first.
var sets = append(vectorSets(), Portable)

// Best returns the kernels of the best level.
func Best() *Set { return sets[0] }

// Named returns the kernels of a level: avx512, avx2, neon or scalar.
func Named(name string) (*Set, error) {
	var there []string
	for _, s := range sets {
		if string(s.Level) == name {
			return s, nil
		}
		there = append(there, string(s.Level))
	}
	return nil, fmt.Errorf("this build has no %s kernels for this processor: there are %s", name, strings.Join(there, ", "))
}
