package tensorboard

import (
	"encoding/binary"
	"errors"
)

// The wire format of protocol buffers: a field is a tag, which is a varint of its number and its type, and a value. The standard library has
// varints; protobuf's own packages read the program's file before main begins, which fails with few open files.

// A kind is the type of a field on the wire.
type kind uint8

const (
	varint  kind = 0
	fixed64 kind = 1
	length  kind = 2 // bytes, text or a nested buffer after their length
	fixed32 kind = 5
)

// A field is a field of a protocol buffer.
type field struct {
	number uint64
	kind   kind
	value  uint64 // of a number
	bytes  []byte // of kind length
}

var (
	errCut  = errors.New("a field is longer than its buffer")
	errKind = errors.New("a field has another type than in event.proto")
)

// fields calls f for each field of a protocol buffer.
func fields(b []byte, f func(field) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errCut
		}
		b = b[n:]
		found := field{number: tag >> 3, kind: kind(tag & 7)}
		rest, err := found.consume(b)
		if err != nil {
			return err
		}
		b = rest
		if err := f(found); err != nil {
			return err
		}
	}
	return nil
}

// consume reads the value of a field at the start of b, and returns what follows.
func (f *field) consume(b []byte) (rest []byte, err error) {
	switch f.kind {
	case varint, length:
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errCut
		}
		if b = b[n:]; f.kind == varint {
			f.value = v
			return b, nil
		}
		if v > uint64(len(b)) {
			return nil, errCut
		}
		f.bytes = b[:v]
		return b[v:], nil
	case fixed64:
		if len(b) < 8 {
			return nil, errCut
		}
		f.value = binary.LittleEndian.Uint64(b)
		return b[8:], nil
	case fixed32:
		if len(b) < 4 {
			return nil, errCut
		}
		f.value = uint64(binary.LittleEndian.Uint32(b))
		return b[4:], nil
	}
	return nil, errKind // groups, which event.proto does not have
}

// is reports whether a field has a number; its type must then be the given one.
func (f field) is(number uint64, k kind, err *error) bool {
	if f.number != number {
		return false
	}
	if f.kind != k {
		*err = errKind
	}
	return true
}

func appendTag(b []byte, number uint64, k kind) []byte {
	return binary.AppendUvarint(b, number<<3|uint64(k))
}

func appendNumber(b []byte, number, v uint64) []byte {
	return binary.AppendUvarint(appendTag(b, number, varint), v)
}

func appendBytes(b []byte, number uint64, v []byte) []byte {
	return append(binary.AppendUvarint(appendTag(b, number, length), uint64(len(v))), v...)
}
