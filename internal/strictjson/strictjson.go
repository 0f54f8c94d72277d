// Package strictjson reads JSON that people write, such as configurations. It is stricter than encoding/json. A key that does not
// exist, or is spelled in another case, is an error that suggests the nearest one. Duplicate keys, null for values that are not
// pointers, lists of another length than an array, halves of surrogate pairs, and data after the value are errors too. All errors are one
// line that names the place.
package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// An UnknownKeyError reports a key that the value does not have.
type UnknownKeyError struct {
	Key     string
	Path    string // of the object that contains the key; "" at the top
	Nearest string // the valid key that was probably meant; "" if none is near
	Valid   []string
}

func (e *UnknownKeyError) Error() string {
	s := fmt.Sprintf("unknown key %q", e.Key)
	if e.Path != "" {
		s += " in " + e.Path
	}
	switch {
	case e.Nearest != "":
		s += fmt.Sprintf(": did you mean %q?", e.Nearest)
	case len(e.Valid) > 0:
		s += ": valid keys are " + List(e.Valid)
	}
	return s
}

// A PlaceError is a problem at a line and a column.
type PlaceError struct {
	Place   string // "line 3, column 14"
	Problem error
}

func (e *PlaceError) Error() string { return "JSON: " + e.Place + ": " + e.Problem.Error() }

// Unwrap returns the problem.
func (e *PlaceError) Unwrap() error { return e.Problem }

// placed returns a [PlaceError] with a formatted problem.
func placed(place, format string, args ...any) error {
	return &PlaceError{place, fmt.Errorf(format, args...)}
}

// WithoutPlace returns the problem of a [PlaceError], and other errors unchanged. It is for JSON that the user has not seen.
func WithoutPlace(err error) error {
	if at, ok := err.(*PlaceError); ok {
		return at.Problem
	}
	return err
}

// WithoutMark returns data without a byte order mark.
func WithoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// Decode decodes the JSON value in data into v, a pointer. Fields that are missing in data keep their values in v, so defaults must
// be set before. After an error v may be partly set. Types with their own UnmarshalJSON or UnmarshalText check their own parts.
func Decode(data []byte, v any) error {
	target := reflect.ValueOf(v)
	if target.Kind() != reflect.Pointer || target.IsNil() {
		return fmt.Errorf("strictjson: Decode into %T, which is not a pointer to a value", v)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return errors.New("JSON: it is UTF-16: convert it to UTF-8 with: iconv -f UTF-16 -t UTF-8 FILE > FILE.utf8")
	}
	data = WithoutMark(data)
	if !utf8.Valid(data) {
		return errors.New("JSON: not valid UTF-8")
	}
	if err := syntax(data); err != nil {
		return err
	}
	if err := surrogates(data); err != nil {
		return err
	}
	w := walker{decoder: json.NewDecoder(bytes.NewReader(data)), data: data}
	w.decoder.UseNumber() // json.Unmarshal checks numbers
	if err := w.value(target.Type().Elem(), nil); err != nil {
		return err
	}
	return withPlace(data, json.Unmarshal(data, v))
}

// Valid reports whether data is one JSON value in UTF-8.
func Valid(data []byte) bool { return utf8.Valid(data) && syntax(data) == nil }

// syntax returns an error if data is not JSON, or if anything follows the first value.
func syntax(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var raw json.RawMessage
	if err := decoder.Decode(&raw); err != nil {
		return withPlace(data, err)
	}
	end := decoder.InputOffset()
	if rest := bytes.TrimLeft(data[end:], " \t\r\n"); len(rest) > 0 {
		return placed(place(data, int64(len(data)-len(rest))), "data follows the value")
	}
	return nil
}

// withPlace adds line and column to the errors of encoding/json.
func withPlace(data []byte, err error) error {
	var syntaxError *json.SyntaxError
	var typeError *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF):
		return errors.New("JSON: there is no value")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return placed(place(data, int64(len(data))), "ends before the value does")
	case errors.As(err, &syntaxError):
		return &PlaceError{place(data, syntaxError.Offset-1), err}
	case errors.As(err, &typeError):
		what := fmt.Sprintf("cannot be %s: it must be %s", describeValue(typeError.Value), describeValid(typeError))
		if field := keysOnly(typeError.Field); field != "" {
			what = field + " " + what
		}
		return placed(place(data, typeError.Offset-1), "%s", what)
	}
	return err
}

// describeValid describes the value that is valid instead: the bound of a number that is too large, otherwise the type.
func describeValid(err *json.UnmarshalTypeError) string {
	number, isNumber := strings.CutPrefix(err.Value, "number ")
	if !isNumber {
		return describeType(err.Type)
	}
	kind := err.Type.Kind()
	_, whole := new(big.Int).SetString(number, 10)
	switch {
	case kind == reflect.Float64:
		return "a number of at most 1.7e308"
	case whole && kind >= reflect.Int && kind <= reflect.Int64 && number[0] == '-':
		return fmt.Sprintf("a whole number of at least %d", int64(math.MinInt64>>(64-err.Type.Bits())))
	case whole && kind >= reflect.Int && kind <= reflect.Int64:
		return fmt.Sprintf("a whole number of at most %d", int64(math.MaxInt64>>(64-err.Type.Bits())))
	case whole && kind >= reflect.Uint && kind <= reflect.Uint64 && number[0] != '-':
		return fmt.Sprintf("a whole number of at most %d", uint64(math.MaxUint64>>(64-err.Type.Bits())))
	}
	return describeType(err.Type)
}

// describeValue describes a value in words; encoding/json says "number 1.5", "string", "array".
func describeValue(value string) string {
	if number, ok := strings.CutPrefix(value, "number "); ok {
		return number
	}
	if words := map[string]string{"string": "text", "array": "a list", "object": "an object", "bool": "true or false"}[value]; words != "" {
		return words
	}
	return "a " + value
}

// describeType describes a type in words.
func describeType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return describeType(t.Elem())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number, not negative"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	}
	if t.Kind() != reflect.Struct || decodesItself(t) {
		return "an object"
	}
	_, names := keys(t)
	return "an object with " + List(names)
}

// keysOnly returns the path of a field without the names of embedded structs, which encoding/json includes.
func keysOnly(path string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(path, "."), func(part string) bool { return part != "" && part[0] >= 'A' && part[0] <= 'Z' }), ".")
}

// place returns "line 3, column 7" for a byte offset, both counted from 1, the column in characters.
func place(data []byte, offset int64) string {
	before := data[:max(0, min(offset, int64(len(data))))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", line, column)
}
