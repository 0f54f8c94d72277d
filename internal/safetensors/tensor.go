// Package safetensors reads and writes the safetensors format of Hugging Face, version 0.x: eight bytes with the length of the header
// (little-endian), a JSON header with type, shape and range of bytes of every tensor, and the bytes. Everything is checked when a
// file is read: a file that is cut short, or has overlapping ranges, gaps or wrong sizes is an error that says so.
package safetensors

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
)

// A Tensor is a named array: row-major, little-endian bytes.
type Tensor struct {
	Name  string
	DType string // F64 F32 F16 BF16 I64 I32 I16 I8 U64 U32 U16 U8 BOOL F8_E4M3 F8_E5M2
	Shape []int  // empty: a scalar
	Data  []byte
}

// A File is the content of a safetensors file.
type File struct {
	Metadata map[string]string // "__metadata__" of the header
	Tensors  []Tensor          // after reading, in the order of their bytes
}

// sizes holds the number of bytes of an element of each type.
var sizes = map[string]int{
	"F64": 8, "I64": 8, "U64": 8,
	"F32": 4, "I32": 4, "U32": 4,
	"F16": 2, "BF16": 2, "I16": 2, "U16": 2,
	"I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1,
}

// Tensor returns the tensor with the given name.
func (f *File) Tensor(name string) (Tensor, bool) {
	i := slices.IndexFunc(f.Tensors, func(t Tensor) bool { return t.Name == name })
	if i < 0 {
		return Tensor{}, false
	}
	return f.Tensors[i], true
}

// byteSize returns the number of bytes of a tensor with the given type and shape.
func byteSize(dtype string, shape []int) (int, error) {
	size, known := sizes[dtype]
	if !known {
		return 0, fmt.Errorf("type %q is not supported", dtype)
	}
	total, empty := uint(size), false
	for _, n := range shape {
		if n < 0 {
			return 0, fmt.Errorf("shape %v has a negative size", shape)
		}
		if n == 0 {
			empty = true
			continue
		}
		hi, lo := bits.Mul(total, uint(n))
		if hi != 0 || lo > 1<<(bits.UintSize-2) {
			return 0, fmt.Errorf("shape %v is too large for this machine", shape)
		}
		total = lo
	}
	if empty {
		return 0, nil
	}
	return int(total), nil
}

// Validate returns an error unless the number of bytes is that of the type and shape.
func (t Tensor) Validate() error {
	size, err := byteSize(t.DType, t.Shape)
	if err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	if size != len(t.Data) {
		return fmt.Errorf("tensor %q: %s of shape %v takes %d bytes, not %d", t.Name, t.DType, t.Shape, size, len(t.Data))
	}
	return nil
}

// An Element is a Go type of tensor elements.
type Element interface {
	float64 | float32 | int64 | int32 | int16 | int8 | uint64 | uint32 | uint16 | uint8 | bool
}

func dtypeOf[T Element]() string {
	var zero T
	switch any(zero).(type) {
	case float64:
		return "F64"
	case float32:
		return "F32"
	case int64:
		return "I64"
	case int32:
		return "I32"
	case int16:
		return "I16"
	case int8:
		return "I8"
	case uint64:
		return "U64"
	case uint32:
		return "U32"
	case uint16:
		return "U16"
	case uint8:
		return "U8"
	}
	return "BOOL"
}

// New returns a tensor of values, whose number must be that of the shape.
func New[T Element](name string, shape []int, values []T) (Tensor, error) {
	data, err := binary.Append(make([]byte, 0, binary.Size(values)), binary.LittleEndian, values)
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %q: %w", name, err)
	}
	t := Tensor{Name: name, DType: dtypeOf[T](), Shape: slices.Clone(shape), Data: data}
	return t, t.Validate()
}

// Values returns the elements of a tensor, whose type must be exactly that of T.
func Values[T Element](t Tensor) ([]T, error) {
	if want := dtypeOf[T](); t.DType != want {
		return nil, fmt.Errorf("tensor %q is %s, not %s", t.Name, t.DType, want)
	}
	if err := t.Validate(); err != nil {
		return nil, err
	}
	values := make([]T, len(t.Data)/sizes[t.DType])
	if _, err := binary.Decode(t.Data, binary.LittleEndian, values); err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return values, nil
}
