// Package npz reads arrays of NumPy, npz archives of npy files, as the tensors of package safetensors. GoMLX's reader (core/tensors/numpy) is not
// used, as it allocates what a header claims before it knows that the file has it.
package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"regexp"
	"strconv"
	"strings"

	"universal-transformer/internal/safetensors"
)

const (
	magic         = "\x93NUMPY"
	maxHeader     = 1 << 16
	maxDimensions = 32
	maxRatio      = 1100 // above that of any deflated data
)

// Read reads an archive of size bytes.
func Read(r io.ReaderAt, size int64) (*safetensors.File, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("npz: %w", err)
	}
	f := &safetensors.File{}
	seen, left := map[string]bool{}, maxRatio*uint64(size)
	for _, entry := range archive.File {
		name, ok := strings.CutSuffix(entry.Name, ".npy")
		if !ok || seen[name] {
			return nil, fmt.Errorf("npz: %q is not an array of its own: an archive holds one file NAME.npy for each array", entry.Name)
		}
		seen[name] = true
		if entry.UncompressedSize64 > left { // entries may share their data, so that the sizes of all count
			return nil, fmt.Errorf("npz: array %q: the archive claims more than %d bytes, more than a file of %d bytes can hold", name, maxRatio*uint64(size), size)
		}
		left -= entry.UncompressedSize64
		t, err := member(entry)
		if err != nil {
			return nil, fmt.Errorf("npz: array %q: %w", name, err)
		}
		t.Name = name
		f.Tensors = append(f.Tensors, t)
	}
	return f, nil
}

// member reads one array of an archive.
func member(entry *zip.File) (safetensors.Tensor, error) {
	file, err := entry.Open()
	if err != nil {
		return safetensors.Tensor{}, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(entry.UncompressedSize64)+1)) // the reader checks the sum
	if err != nil {
		return safetensors.Tensor{}, err
	}
	return Decode(data)
}

// Decode decodes a file with the given bytes, which is one array without a name. Data are in rows (C order); Fortran order is an error.
func Decode(data []byte) (safetensors.Tensor, error) {
	header, body, err := split(data)
	if err != nil {
		return safetensors.Tensor{}, err
	}
	t, err := parse(header)
	if err != nil {
		return safetensors.Tensor{}, err
	}
	t.Data = body
	if err := t.Validate(); err != nil {
		return safetensors.Tensor{}, errors.New(strings.TrimPrefix(err.Error(), `tensor "": `))
	}
	return t, nil
}

// split separates the header and the elements: the magic string, two bytes of version, the length of the header, the header, the elements.
func split(data []byte) (header string, body []byte, err error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok || len(rest) < 6 {
		return "", nil, errors.New("not an npy file")
	}
	version, rest := rest[0], rest[2:]
	var length uint32
	switch version {
	case 1:
		length, rest = uint32(binary.LittleEndian.Uint16(rest)), rest[2:]
	case 2, 3:
		length, rest = binary.LittleEndian.Uint32(rest), rest[4:]
	default:
		return "", nil, fmt.Errorf("version %d of the npy format is not known", version)
	}
	if length > maxHeader || int(length) > len(rest) {
		return "", nil, fmt.Errorf("the header claims %d bytes of %d", length, len(rest))
	}
	return string(rest[:length]), rest[length:], nil
}

// form is the header as NumPy writes it: a Python dictionary with sorted keys.
var form = regexp.MustCompile(`^\{'descr': '([^']*)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\),? ?\}\s*$`)

// types maps NumPy's types to those of safetensors. Numbers of one byte have no order of bytes.
var types = map[string]string{
	"<f8": "F64", "<f4": "F32", "<f2": "F16", "<i8": "I64", "<i4": "I32", "<i2": "I16", "|i1": "I8", "<u8": "U64", "<u4": "U32", "<u2": "U16", "|u1": "U8", "|b1": "BOOL",
}

// parse reads the type and the shape from a header.
func parse(header string) (t safetensors.Tensor, err error) {
	m := form.FindStringSubmatch(header)
	if m == nil {
		return t, fmt.Errorf("the header %.80q is not one that NumPy writes", header)
	}
	known := false
	if t.DType, known = types[m[1]]; !known {
		return t, fmt.Errorf("type %q is not supported: save numbers of the machine's own order of bytes, such as float32", m[1])
	}
	t.Shape = []int{}
	for part := range strings.SplitSeq(m[3], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.ParseUint(part, 10, bits.UintSize-1)
		if err != nil {
			return t, fmt.Errorf("shape (%s): %w", m[3], err)
		}
		t.Shape = append(t.Shape, int(n))
	}
	if len(t.Shape) > maxDimensions {
		return t, fmt.Errorf("shape has %d dimensions: there may be %d", len(t.Shape), maxDimensions)
	}
	if m[2] == "True" && len(t.Shape) > 1 {
		return t, errors.New("the array is stored by columns (fortran_order): save it with numpy.ascontiguousarray")
	}
	return t, nil
}
