package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
)

// ErrNotObject is the error of [Members] for another value than an object.
var ErrNotObject = errors.New("not a JSON object")

// A Member is a name and a value of a JSON object.
type Member struct {
	Name       string
	Value      json.RawMessage
	Begin, End int // offsets of the first byte of the name and of the byte after the value
}

// Members returns the members of the JSON object that data begins with, in order, and the offset of the byte after the object. Members that are
// given twice are returned twice.
func Members(data []byte) (list []Member, end int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, 0, ErrNotObject
	}
	for decoder.More() {
		before := int(decoder.InputOffset())
		name, err := decoder.Token()
		if err != nil {
			return nil, 0, err
		}
		m := Member{Name: name.(string)} // names are strings
		if err := decoder.Decode(&m.Value); err != nil {
			return nil, 0, err
		}
		m.Begin, m.End = before+bytes.IndexByte(data[before:], '"'), int(decoder.InputOffset())
		list = append(list, m)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, 0, err
	}
	return list, int(decoder.InputOffset()), nil
}
