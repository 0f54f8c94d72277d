package serve

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
)

// whole is a whole number of a request, also in a form such as 2.0 or 1e2.
type whole struct {
	value  int64  // the nearest one that there is
	text   string // as the request has it
	beyond bool   // an int64 does not hold it
}

// maxExact is the largest number up to which a float64 holds every whole number.
const maxExact = 1 << 53

// UnmarshalJSON reads a number. It is an error if that is not whole.
func (w *whole) UnmarshalJSON(data []byte) error {
	f, ok := numberOf(data)
	if !ok {
		return notNumber[int64](data)
	}
	w.text = string(data)
	value, err := strconv.ParseInt(w.text, 10, 64)
	switch {
	case err == nil:
		w.value = value
	case f != math.Trunc(f):
		return &json.UnmarshalTypeError{Value: "number " + w.text, Type: reflect.TypeFor[int64]()}
	case math.Abs(f) <= maxExact:
		w.value = int64(f)
	default:
		w.value, w.beyond = math.MaxInt64, true
		if f < 0 {
			w.value = math.MinInt64
		}
	}
	return nil
}

// between returns the number, or an error for a field that must have one from 1 to a limit.
func (w whole) between(field string, limit int) (int, error) {
	if w.value < 1 || w.value > int64(limit) {
		return 0, invalid(field, "%s is %s: it must be 1 to %d", field, shortened(w.text), limit)
	}
	return int(w.value), nil
}

// decimal is a number of a request. One that is too large for a float64 is infinite.
type decimal float64

// UnmarshalJSON reads a number.
func (r *decimal) UnmarshalJSON(data []byte) error {
	f, ok := numberOf(data)
	if !ok {
		return notNumber[float64](data)
	}
	*r = decimal(f)
	return nil
}

// numberOf returns the number that a JSON value is, if it is one.
func numberOf(data []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(data), 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange) // infinite
}

// notNumber returns the error for another value than a number in a field of type T; null leaves the field as it is.
func notNumber[T any](data []byte) error {
	kinds := map[byte]string{'"': "string", '{': "object", '[': "array", 't': "bool", 'f': "bool"}
	if kind, other := kinds[data[0]]; other {
		return &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeFor[T]()}
	}
	return nil
}
