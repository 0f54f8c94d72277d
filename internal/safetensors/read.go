package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"universal-transformer/internal/strictjson"
)

const (
	metadataKey = "__metadata__"
	lengthBytes = 8
	maxHeader   = 100_000_000 // as in the format's reference implementation
)

// Read reads r to its end and decodes it.
func Read(r io.Reader) (*File, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// Decode decodes a file with the given bytes. The tensors' Data are slices of data.
func Decode(data []byte) (*File, error) {
	header, body, err := split(data)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, ends, err := parseHeader(header, body)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	if ends != len(body) {
		return nil, fmt.Errorf("safetensors: %d bytes do not belong to a tensor", len(body)-ends)
	}
	return f, nil
}

// split separates the header and the tensors' bytes.
func split(data []byte) (header, body []byte, err error) {
	if len(data) < lengthBytes {
		return nil, nil, fmt.Errorf("the file is cut off: %d bytes are too few", len(data))
	}
	length := binary.LittleEndian.Uint64(data)
	rest := data[lengthBytes:]
	switch {
	case length > maxHeader:
		return nil, nil, fmt.Errorf("the header claims %d bytes, more than the %d allowed", length, maxHeader)
	case length > uint64(len(rest)):
		return nil, nil, fmt.Errorf("the file is cut off: the header claims %d bytes, the file has %d left", length, len(rest))
	}
	header, body = rest[:length], rest[length:]
	switch {
	case !bytes.HasPrefix(header, []byte("{")):
		return nil, nil, errors.New("the header does not begin with {")
	case !utf8.Valid(header):
		return nil, nil, errors.New("the header is not valid UTF-8")
	}
	return header, body, nil
}

// parseHeader returns the tensors in the order of their bytes, and the end of the last one.
func parseHeader(header, body []byte) (*File, int, error) {
	entries, names, err := splitObject(header)
	if err != nil {
		return nil, 0, fmt.Errorf("header: %w", err)
	}
	f := &File{}
	begins := map[string]int{}
	for _, name := range names {
		if name == metadataKey {
			if f.Metadata, err = metadata(entries[name]); err != nil {
				return nil, 0, err
			}
			continue
		}
		t, begin, err := parseTensor(name, entries[name], body)
		if cut := new(cutError); errors.As(err, &cut) { // whichever tensor happens to be the first
			return nil, 0, err
		}
		if err != nil {
			return nil, 0, fmt.Errorf("tensor %q: %w", name, err)
		}
		begins[name] = begin
		f.Tensors = append(f.Tensors, t)
	}
	slices.SortStableFunc(f.Tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(begins[a.Name], begins[b.Name]), cmp.Compare(len(a.Data), len(b.Data)))
	})
	end := 0
	for _, t := range f.Tensors {
		if begin := begins[t.Name]; begin != end {
			return nil, 0, fmt.Errorf("tensor %q begins at byte %d, the one before it ends at %d", t.Name, begin, end)
		}
		end += len(t.Data)
	}
	return f, end, nil
}

// A cutError is the error for a tensor that ends behind the end of the file.
type cutError struct{ begin, end, size int }

func (e *cutError) Error() string {
	return fmt.Sprintf("the file is cut off: bytes %d to %d are outside the data of %d bytes", e.begin, e.end, e.size)
}

// maxDimensions is far above the number of dimensions of any tensor.
const maxDimensions = 32

func parseTensor(name string, raw json.RawMessage, body []byte) (Tensor, int, error) {
	fields, names, err := splitObject(raw)
	if err != nil {
		return Tensor{}, 0, err
	}
	for _, key := range names {
		if !slices.Contains([]string{"dtype", "shape", "data_offsets"}, key) {
			return Tensor{}, 0, fmt.Errorf("key %q is not known", key)
		}
	}
	if len(names) != 3 {
		return Tensor{}, 0, errors.New("it must have dtype, shape and two data_offsets")
	}
	var dtype *string
	if err := json.Unmarshal(fields["dtype"], &dtype); err != nil || dtype == nil {
		return Tensor{}, 0, errors.New("dtype is not a string")
	}
	shape, err := integers(fields["shape"])
	if err != nil {
		return Tensor{}, 0, fmt.Errorf("shape %w", err)
	}
	if len(shape) > maxDimensions {
		return Tensor{}, 0, fmt.Errorf("shape has %d dimensions: there may be %d", len(shape), maxDimensions)
	}
	offsets, err := integers(fields["data_offsets"]) // begin and end, relative to the end of the header
	if err != nil {
		return Tensor{}, 0, fmt.Errorf("data_offsets %w", err)
	}
	if len(offsets) != 2 {
		return Tensor{}, 0, fmt.Errorf("it must have two data_offsets, not %d", len(offsets))
	}
	begin, end := offsets[0], offsets[1]
	if begin >= 0 && end > begin && end > len(body) {
		return Tensor{}, 0, &cutError{begin, end, len(body)}
	}
	if begin < 0 || end < begin || end > len(body) {
		return Tensor{}, 0, fmt.Errorf("bytes %d to %d are outside the data of %d bytes", begin, end, len(body))
	}
	size, err := byteSize(*dtype, shape)
	if err != nil {
		return Tensor{}, 0, err
	}
	if size != end-begin {
		return Tensor{}, 0, fmt.Errorf("%s of shape %v takes %d bytes, not %d", *dtype, shape, size, end-begin)
	}
	return Tensor{Name: name, DType: *dtype, Shape: shape, Data: body[begin:end:end]}, begin, nil
}

// integers decodes a list of integers; null is an error, also within the list.
func integers(raw json.RawMessage) ([]int, error) {
	var list *[]*int
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("is not a list of integers: %.40s", raw)
	}
	if list == nil {
		return nil, errors.New("is null")
	}
	numbers := make([]int, len(*list))
	for i, n := range *list {
		if n == nil {
			return nil, errors.New("holds null")
		}
		numbers[i] = *n
	}
	return numbers, nil
}

// metadata decodes a JSON object of strings.
func metadata(raw json.RawMessage) (map[string]string, error) {
	entries, names, err := splitObject(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", metadataKey, err)
	}
	m := make(map[string]string, len(names))
	for _, name := range names {
		var value *string
		if err := json.Unmarshal(entries[name], &value); err != nil || value == nil {
			return nil, fmt.Errorf("%s: %q is not a string", metadataKey, name)
		}
		m[name] = *value
	}
	return m, nil
}

// splitObject splits a JSON object into its members and keys. Duplicate keys, and anything but spaces after the object, are errors.
func splitObject(data []byte) (map[string]json.RawMessage, []string, error) {
	members, end, err := strictjson.Members(data)
	if err != nil {
		return nil, nil, err
	}
	if rest := bytes.Trim(data[end:], " \t\r\n"); len(rest) > 0 {
		return nil, nil, fmt.Errorf("%d bytes follow the closing brace", len(rest))
	}
	entries, names := map[string]json.RawMessage{}, []string{}
	for _, m := range members {
		if _, twice := entries[m.Name]; twice {
			return nil, nil, fmt.Errorf("key %q is given twice", m.Name)
		}
		entries[m.Name], names = m.Value, append(names, m.Name)
	}
	return entries, names, nil
}
