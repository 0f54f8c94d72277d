package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Write writes f so that equal files have equal bytes: metadata sorted by key; tensors with the widest elements first, which keeps
// all aligned, then by name. The order in f does not matter.
func Write(w io.Writer, f *File) error {
	tensors, err := ordered(f)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	header, err := encodeHeader(f.Metadata, tensors)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))); err != nil {
		return err
	}
	if _, err := w.Write(header); err != nil {
		return err
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return err
		}
	}
	return nil
}

// Encode returns the bytes that Write writes.
func Encode(f *File) ([]byte, error) {
	size := 0
	for _, t := range f.Tensors {
		size += len(t.Data) + 256
	}
	buffer := bytes.NewBuffer(make([]byte, 0, size))
	if err := Write(buffer, f); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func ordered(f *File) ([]Tensor, error) {
	tensors := slices.Clone(f.Tensors)
	slices.SortFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(sizes[b.DType], sizes[a.DType]), strings.Compare(a.Name, b.Name))
	})
	seen := map[string]bool{metadataKey: true}
	for _, t := range tensors {
		if seen[t.Name] {
			return nil, fmt.Errorf("tensor %q: another tensor has the same name", t.Name)
		}
		if seen[t.Name] = true; !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("tensor %q: the name is not valid UTF-8", t.Name)
		}
		if err := t.Validate(); err != nil {
			return nil, err
		}
	}
	return tensors, nil
}

// encodeHeader returns one line of JSON, padded with spaces to a multiple of eight bytes.
func encodeHeader(metadata map[string]string, tensors []Tensor) ([]byte, error) {
	var members []string
	if len(metadata) > 0 {
		m, err := encodeMetadata(metadata)
		if err != nil {
			return nil, err
		}
		members = append(members, text(metadataKey)+":"+m)
	}
	begin := 0
	for _, t := range tensors {
		shape := strings.Join(strings.Fields(fmt.Sprint(t.Shape)), ",") // [2 3] -> [2,3]
		end := begin + len(t.Data)
		members = append(members, fmt.Sprintf(`%s:{"dtype":%s,"shape":%s,"data_offsets":[%d,%d]}`,
			text(t.Name), text(t.DType), shape, begin, end))
		begin = end
	}
	header := "{" + strings.Join(members, ",") + "}"
	header += strings.Repeat(" ", (8-len(header)%8)%8)
	if len(header) > maxHeader {
		return nil, fmt.Errorf("the header would have %d bytes, more than the %d allowed", len(header), maxHeader)
	}
	return []byte(header), nil
}

func encodeMetadata(metadata map[string]string) (string, error) {
	var members []string
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		if !utf8.ValidString(key) || !utf8.ValidString(metadata[key]) {
			return "", fmt.Errorf("metadata: %q is not valid UTF-8", key)
		}
		members = append(members, text(key)+":"+text(metadata[key]))
	}
	return "{" + strings.Join(members, ",") + "}", nil
}

// text returns a JSON string.
func text(s string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(s); err != nil {
		panic(err) // cannot happen: every string can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
