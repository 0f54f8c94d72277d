package experiment

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// recordable returns an error that names the first field in a value that JSON cannot record: NaN, infinity, a function, a channel. path is
// that of the value, "" for a run.
func recordable(path string, value any) error {
	_, err := json.Marshal(value)
	if err == nil {
		return nil
	}
	return locate(path, reflect.ValueOf(value), err, maxDepth)
}

// maxDepth is the depth to which locate looks, so that values that contain themselves have an end.
const maxDepth = 20

// locate returns the error for the first part of a value that JSON cannot record; problem is that of the whole value.
func locate(path string, v reflect.Value, problem error, depth int) error {
	path = strings.TrimPrefix(path, ".")
	if place, inner, err := unrecordedPart(v); err != nil && depth > 0 {
		return locate(path+place, inner, err, depth-1)
	}
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) && !v.IsNil() && depth > 0 {
		v, depth = v.Elem(), depth-1
	}
	switch {
	case !v.IsValid():
	case v.CanFloat() && (math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)):
		return fmt.Errorf("%s is %v: it must be a finite number, as the configuration is recorded as JSON", path, v.Float())
	case v.Kind() == reflect.Func || v.Kind() == reflect.Chan || v.Kind() == reflect.UnsafePointer || v.CanComplex():
		return fmt.Errorf("%s is of type %v, which JSON cannot record: leave the field out of it with the tag `json:\"-\"`", path, v.Type())
	}
	for m := (*json.MarshalerError)(nil); errors.As(problem, &m); {
		problem = m.Err // without the name of the type, which the path says
	}
	return fmt.Errorf("%s cannot be recorded as JSON: %w", path, problem)
}

// unrecordedPart returns the first field or element of a value that JSON cannot record, how its path continues that of the value, and the
// error.
func unrecordedPart(v reflect.Value) (place string, part reflect.Value, err error) {
	if !v.IsValid() {
		return "", v, nil
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if !v.IsNil() {
			return unrecordedPart(v.Elem())
		}
		return "", v, nil
	}
	if encodesItself(v) {
		return "", v, nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name, recorded := recordedName(v.Type().Field(i))
			if !recorded {
				continue
			}
			if _, err := json.Marshal(v.Field(i).Interface()); err != nil {
				return name, v.Field(i), err
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if _, err := json.Marshal(v.Index(i).Interface()); err != nil {
				return fmt.Sprintf("[%d]", i), v.Index(i), err
			}
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if _, err := json.Marshal(v.MapIndex(key).Interface()); err != nil {
				return fmt.Sprintf("[%v]", key), v.MapIndex(key), err
			}
		}
	}
	return "", v, nil
}

// recordedName returns how the path of a field continues that of its struct, and whether JSON records the field.
func recordedName(f reflect.StructField) (string, bool) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case !f.IsExported() || f.Tag.Get("json") == "-":
		return "", false
	case name == "" && f.Anonymous:
		return "", true
	case name == "":
		name = f.Name
	}
	return "." + name, true
}

// encodesItself reports whether a value has a method that JSON calls.
func encodesItself(v reflect.Value) bool {
	switch v.Interface().(type) {
	case json.Marshaler, encoding.TextMarshaler:
		return true
	}
	return false
}
