package npz_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/npz"
	"universal-transformer/internal/safetensors"
)

// written is what numpy.save(f, numpy.array([[1, 2.5, -3], [4, 5, 6e4]], numpy.float32)) of NumPy 2.4 writes.
const written = "\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }                                                          \n" +
	"\x00\x00\x80?\x00\x00 @\x00\x00@\xc0\x00\x00\x80@\x00\x00\xa0@\x00`jG"

func TestDecode(t *testing.T) {
	got, err := npz.Decode([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	values, err := safetensors.Values[float32](got)
	if err != nil || !slices.Equal(values, []float32{1, 2.5, -3, 4, 5, 6e4}) || !slices.Equal(got.Shape, []int{2, 3}) {
		t.Errorf("%v %v, %v", got.Shape, values, err)
	}
}

// npy returns a file of version 1 with a header and data.
func npy(header string, data []byte) []byte {
	file := append([]byte("\x93NUMPY\x01\x00"), binary.LittleEndian.AppendUint16(nil, uint16(len(header)))...)
	return append(append(file, header...), data...)
}

// Arrays that are not of the type or size that they claim are refused with the reason, and nothing of that size is allocated.
// Caught when planted: no check of the size, the order of columns, the version or the type.
func TestRefused(t *testing.T) {
	for want, data := range map[string][]byte{
		"not an npy file":             []byte("PK"),
		"version 7":                   []byte("\x93NUMPY\x07\x00    {}"),
		"claims 65280 bytes":          []byte("\x93NUMPY\x01\x00\x00\xff{}"),
		"not one that NumPy writes":   npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", nil),
		`type ">f4"`:                  npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", make([]byte, 4)),
		`type "|O"`:                   npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", make([]byte, 4)),
		"ascontiguousarray":           npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }", make([]byte, 8)),
		"takes 4 bytes, not 5":        npy("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", make([]byte, 5)),
		"too large for this machine":  npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000, 9), }", nil),
		"value out of range":          npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,), }", nil),
		"takes 8000000000000 bytes":   npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", []byte("short")),
		"40 dimensions: there may be": npy("{'descr': '|i1', 'fortran_order': False, 'shape': ("+strings.Repeat("1, ", 40)+"), }", []byte("x")),
	} {
		if _, err := npz.Decode(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// archive returns a zip archive of files, given as pairs of name and content.
func archive(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err == nil {
			_, err = io.WriteString(f, files[i+1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte) (*safetensors.File, error) {
	return npz.Read(bytes.NewReader(data), int64(len(data)))
}

// An archive has the names of its arrays, also with slashes.
func TestRead(t *testing.T) {
	data := archive(t, "a/b/kernel.npy", written, "scalar.npy", string(npy("{'descr': '<i8', 'fortran_order': False, 'shape': (), }", make([]byte, 8))))
	f, err := read(data)
	if err != nil || len(f.Tensors) != 2 || f.Tensors[0].Name != "a/b/kernel" || f.Tensors[1].DType != "I64" || len(f.Tensors[1].Shape) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	bomb := bytes.Clone(data) // a header that claims a thousand times the file
	at := bytes.LastIndex(bomb, []byte("PK\x01\x02"))
	binary.LittleEndian.PutUint32(bomb[at+24:], 1<<31)
	for want, data := range map[string][]byte{
		"not an array of its own":        archive(t, "readme.txt", "hello"),
		`array "a": not an npy file`:     archive(t, "a.npy", "hello"),
		`"a.npy" is not an array of its`: archive(t, "a.npy", written, "a.npy", written),
		"zip: not a valid zip file":      []byte("PK nothing"),
		"more than a file of":            bomb,
	} {
		if _, err := read(data); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// shared returns an archive with entries for n arrays, which all have the data of one.
func shared(t *testing.T, n int, array string) []byte {
	t.Helper()
	data := archive(t, "0000.npy", array)
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	begin := bytes.LastIndex(data, []byte("PK\x01\x02"))
	entry, tail := data[begin:end], bytes.Clone(data[end:])
	all := bytes.Clone(data[:begin])
	for i := range n {
		all = append(all, bytes.Replace(entry, []byte("0000"), fmt.Appendf(nil, "%04d", i), 1)...)
	}
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(entry)))
	return append(all, tail...)
}

// Entries that share their data are refused once all of them have more bytes than the file can hold, and read until then.
// Caught when planted: a limit for each array alone.
func TestSharedData(t *testing.T) {
	zeros := string(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (300000,), }", make([]byte, 300_000)))
	if f, err := read(shared(t, 2, zeros)); err != nil || len(f.Tensors) != 2 || len(f.Tensors[1].Data) != 300_000 {
		t.Errorf("two arrays: %v", err)
	}
	const n = 500 // 150 MB in a file of some 30 kB
	data := shared(t, n, zeros)
	if n*len(zeros) < 2*1100*len(data) {
		t.Fatalf("a file of %d bytes may hold %d", len(data), n*len(zeros))
	}
	if _, err := read(data); err == nil || !strings.Contains(err.Error(), "more than a file of") {
		t.Errorf("%d arrays of %d bytes in %d bytes: %v", n, len(zeros), len(data), err)
	}
}

// FuzzRead: any archive is refused or gives arrays whose sizes fit their types and shapes.
func FuzzRead(f *testing.F) {
	f.Add(archive(f, "a.npy", written))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := read(data)
		if err != nil {
			return
		}
		for _, tensor := range file.Tensors {
			if err := tensor.Validate(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzDecode: any file is refused or is an array whose size fits its type and shape.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(written))
	f.Add(npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", make([]byte, 3)))
	f.Fuzz(func(t *testing.T, data []byte) {
		tensor, err := npz.Decode(data)
		if err != nil {
			return
		}
		if err := tensor.Validate(); err != nil {
			t.Error(err)
		}
	})
}
