package safetensors_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/safetensors"
)

// file puts a header and a body together by hand.
func file(header, body string) []byte {
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(header))), header...), body...)
}

func tensor[T safetensors.Element](t *testing.T, name string, shape []int, values ...T) safetensors.Tensor {
	t.Helper()
	made, err := safetensors.New(name, shape, values)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestDecodeByHand(t *testing.T) {
	header := `{"__metadata__":{"who":"me"}, "b":{"dtype":"F32","shape":[1,2],"data_offsets":[2,10]},
		"a":{"data_offsets":[0,2],"shape":[2],"dtype":"U8"}, "none":{"dtype":"I64","shape":[0,3],"data_offsets":[2,2]},
		"one":{"dtype":"BOOL","shape":[],"data_offsets":[10,11]}}   `
	f, err := safetensors.Decode(file(header, "\x05\x06\x00\x00\x80\x3f\x00\x00\x00\xc0\x01"))
	if err != nil {
		t.Fatal(err)
	}
	want := []safetensors.Tensor{
		{Name: "a", DType: "U8", Shape: []int{2}, Data: []byte{5, 6}},
		{Name: "none", DType: "I64", Shape: []int{0, 3}, Data: []byte{}},
		{Name: "b", DType: "F32", Shape: []int{1, 2}, Data: []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0}},
		{Name: "one", DType: "BOOL", Shape: []int{}, Data: []byte{1}},
	}
	if !reflect.DeepEqual(f.Tensors, want) || f.Metadata["who"] != "me" {
		t.Errorf("decoded %+v, want %+v", f, want)
	}
	b, _ := f.Tensor("b")
	if values, err := safetensors.Values[float32](b); err != nil || !slices.Equal(values, []float32{1, -2}) {
		t.Errorf("b is %v, %v, want 1, -2", values, err)
	}
	if _, err := safetensors.Values[float64](b); err == nil {
		t.Error("an F32 tensor gives float64 values")
	}
}

func TestEncodeByHand(t *testing.T) {
	f := &safetensors.File{
		Metadata: map[string]string{"z": "<1>", "a": "\"2\""},
		Tensors: []safetensors.Tensor{
			tensor(t, "z", []int{2}, int8(-1), int8(2)),
			tensor(t, "é", []int{1, 1}, 1.5),
			tensor(t, "b", []int{}, uint64(7)),
		},
	}
	header := `{"__metadata__":{"a":"\"2\"","z":"<1>"},"b":{"dtype":"U64","shape":[],"data_offsets":[0,8]},` +
		`"é":{"dtype":"F64","shape":[1,1],"data_offsets":[8,16]},"z":{"dtype":"I8","shape":[2],"data_offsets":[16,18]}}`
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	want := file(header, "\x07\x00\x00\x00\x00\x00\x00\x00"+"\x00\x00\x00\x00\x00\x00\xf8\x3f"+"\xff\x02")
	got, err := safetensors.Encode(f)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("encoded\n%q, %v, want\n%q", got, err, want)
	}
	slices.Reverse(f.Tensors)
	if again, _ := safetensors.Encode(f); !bytes.Equal(again, want) {
		t.Error("the order of the tensors changes the bytes")
	}
}

func TestEveryElementTypeRoundTrips(t *testing.T) {
	roundTrip(t, "F64", math.Inf(-1), math.SmallestNonzeroFloat64)
	roundTrip(t, "F32", float32(math.MaxFloat32), -1.25)
	roundTrip(t, "I64", int64(math.MinInt64), 1)
	roundTrip(t, "I32", int32(math.MinInt32), 1)
	roundTrip(t, "I16", int16(math.MinInt16), 1)
	roundTrip(t, "I8", int8(math.MinInt8), 1)
	roundTrip(t, "U64", uint64(math.MaxUint64), 1)
	roundTrip(t, "U32", uint32(math.MaxUint32), 1)
	roundTrip(t, "U16", uint16(math.MaxUint16), 1)
	roundTrip(t, "U8", uint8(math.MaxUint8), 1)
	roundTrip(t, "BOOL", true, false)
}

func roundTrip[T safetensors.Element](t *testing.T, dtype string, values ...T) {
	t.Helper()
	data, err := safetensors.Encode(&safetensors.File{Tensors: []safetensors.Tensor{tensor(t, "x", []int{2, 1}, values...)}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Read(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	back, err := safetensors.Values[T](f.Tensors[0])
	if err != nil || f.Tensors[0].DType != dtype || !slices.Equal(back, values) {
		t.Errorf("%v is read back as %s %v, %v", values, f.Tensors[0].DType, back, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	one := func(dtype, shape, offsets string) string {
		return fmt.Sprintf(`{"x":{"dtype":%s,"shape":%s,"data_offsets":%s}}`, dtype, shape, offsets)
	}
	two := `{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"y":{"dtype":"U8","shape":[2],"data_offsets":[%d,%d]}}`
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"empty":              {nil, "cut off: 0 bytes are too few"},
		"seven bytes":        {make([]byte, 7), "too few"},
		"header too long":    {file("{}", "")[:9], "the file is cut off: the header claims 2 bytes, the file has 1 left"},
		"huge header":        {[]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), "18446744073709551615 bytes, more than the 100000000"},
		"no object":          {file("[]", ""), "begin with {"},
		"leading space":      {file(" {}", ""), "begin with {"},
		"cut short":          {file(`{"x":`, ""), "header"},
		"behind the object":  {file(`{} {}`, ""), "follow the closing brace"},
		"invalid UTF-8":      {file("{\"\xff\":1}", ""), "UTF-8"},
		"name twice":         {file(`{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}`, ""), "twice"},
		"unknown type":       {file(one(`"F31"`, "[1]", "[0,4]"), "1234"), `"F31"`},
		"no type":            {file(`{"x":{"shape":[1],"data_offsets":[0,1]}}`, "1"), "must have"},
		"one offset":         {file(one(`"U8"`, "[1]", "[0]"), "1"), "two data_offsets"},
		"unknown member":     {file(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"strides":[1]}}`, "1"), "strides"},
		"null size":          {file(one(`"U8"`, "[null]", "[0,0]"), ""), "shape holds null"},
		"null offset":        {file(one(`"U8"`, "[1]", "[null,1]"), "1"), "data_offsets holds null"},
		"shape of text":      {file(one(`"U8"`, `"1"`, "[0,1]"), "1"), "shape is not a list of integers"},
		"many dimensions":    {file(one(`"U8"`, "["+strings.Repeat("1,", 32)+"1]", "[0,1]"), "1"), "33 dimensions: there may be 32"},
		"null shape":         {file(one(`"U8"`, "null", "[0,1]"), "1"), "shape is null"},
		"null type":          {file(one(`null`, "[1]", "[0,1]"), "1"), "dtype is not a string"},
		"null tensor":        {file(`{"x":null}`, ""), "not a JSON object"},
		"member twice":       {file(`{"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"shape":[1]}}`, "1"), `"shape" is given twice`},
		"other case":         {file(`{"x":{"DType":"U8","shape":[1],"data_offsets":[0,1]}}`, "1"), `"DType" is not known`},
		"huge offset":        {file(one(`"U8"`, "[1]", "[9223372036854775806,9223372036854775807]"), "1"), "outside the data of 1"},
		"beyond int64":       {file(one(`"U8"`, "[1]", "[0,9223372036854775808]"), "1"), "not a list of integers"},
		"negative size":      {file(one(`"U8"`, "[-1,-1]", "[0,1]"), "1"), "negative"},
		"fraction":           {file(one(`"U8"`, "[1.5]", "[0,1]"), "1"), "1.5"},
		"overflow":           {file(one(`"F64"`, "[4294967296,4294967296]", "[0,0]"), ""), "too large"},
		"overflow to fit":    {file(one(`"U8"`, "[9223372036854775807,2]", "[0,0]"), ""), "too large"},
		"size of another":    {file(one(`"F32"`, "[2]", "[0,4]"), "1234"), "takes 8 bytes, not 4"},
		"past the end":       {file(one(`"U8"`, "[5]", "[0,5]"), "1234"), "safetensors: the file is cut off: bytes 0 to 5 are outside the data of 4"},
		"backwards":          {file(one(`"U8"`, "[0]", "[2,1]"), "12"), "outside"},
		"negative offset":    {file(one(`"U8"`, "[2]", "[-1,1]"), "12"), "outside"},
		"overlap":            {file(fmt.Sprintf(two, 1, 3), "123"), "begins at byte 1"},
		"same bytes":         {file(fmt.Sprintf(two, 0, 2), "12"), "begins at byte 0"},
		"hole":               {file(fmt.Sprintf(two, 3, 5), "12345"), "begins at byte 3"},
		"bytes left over":    {file(fmt.Sprintf(two, 2, 4), "12345"), "1 bytes do not belong to a tensor"},
		"metadata a number":  {file(`{"__metadata__":{"a":1}}`, ""), `"a" is not a string`},
		"metadata null":      {file(`{"__metadata__":{"a":null}}`, ""), `"a" is not a string`},
		"metadata not a map": {file(`{"__metadata__":"a"}`, ""), "not a JSON object"},
	} {
		if _, err := safetensors.Decode(c.data); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	x := tensor(t, "x", []int{1}, 1.0)
	for name, f := range map[string]*safetensors.File{
		"twice":         {Tensors: []safetensors.Tensor{x, x}},
		"reserved name": {Tensors: []safetensors.Tensor{{Name: "__metadata__", DType: "U8", Shape: []int{0}}}},
		"bad name":      {Tensors: []safetensors.Tensor{{Name: "\xff", DType: "U8", Shape: []int{0}}}},
		"wrong size":    {Tensors: []safetensors.Tensor{{Name: "y", DType: "F32", Shape: []int{2}, Data: make([]byte, 4)}}},
		"bad metadata":  {Metadata: map[string]string{"a": "\xff"}},
	} {
		var b bytes.Buffer
		if err := safetensors.Write(&b, f); err == nil || b.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, b.Len())
		}
	}
	if _, err := safetensors.New("x", []int{3}, []float64{1, 2}); err == nil {
		t.Error("New makes a tensor of 3 from 2 values")
	}
}

// short fails after some bytes.
type short int

var errShort = errors.New("full")

func (s *short) Write(p []byte) (int, error) {
	if len(p) > int(*s) {
		return int(*s), errShort
	}
	*s -= short(len(p))
	return len(p), nil
}

func TestWriteReportsTheWritersError(t *testing.T) {
	f := &safetensors.File{Tensors: []safetensors.Tensor{tensor(t, "x", []int{2}, 1.0, 2.0)}}
	whole, err := safetensors.Encode(f)
	if err != nil {
		t.Fatal(err)
	}
	for room := range len(whole) {
		w := short(room)
		if err := safetensors.Write(&w, f); !errors.Is(err, errShort) {
			t.Fatalf("with room for %d of %d bytes: %v", room, len(whole), err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(file(`{"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "12"))
	f.Add(file(`{"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"y":{"dtype":"I64","shape":[0],"data_offsets":[4,4]}}`, "1234"))
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		parsed, err := safetensors.Decode(data)
		if err != nil {
			return
		}
		written, err := safetensors.Encode(parsed)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := safetensors.Decode(written)
		if err != nil || len(back.Tensors) != len(parsed.Tensors) || len(back.Metadata) != len(parsed.Metadata) {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		for _, want := range parsed.Tensors {
			if got, ok := back.Tensor(want.Name); !ok || !reflect.DeepEqual(got, want) {
				t.Fatalf("tensor %+v is read back as %+v", want, got)
			}
		}
	})
}
