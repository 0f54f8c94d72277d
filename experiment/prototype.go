package experiment

import (
	"encoding"
	"encoding/json"
	"reflect"

	"universal-transformer/internal/strictjson"
)

// decodeLike reads JSON as a new value of the prototype's type. Fields that JSON does not name are as in the prototype. Memory that JSON
// may change is not shared with the prototype; unexported fields and those that JSON ignores are copied as in an assignment.
//
// JSON adds to the members of a map and to the fields of the elements of a slice. So slices and maps are read twice, into nil and into
// empty ones: those that JSON names are nil both times or not at all.
func decodeLike(prototype any, data []byte) (any, error) {
	from := reflect.ValueOf(prototype)
	var read [2]reflect.Value
	for i := range read {
		target := reflect.New(from.Type())
		target.Elem().Set(from)
		detach(target.Elem(), i == 1)
		if err := strictjson.Decode(data, target.Interface()); err != nil {
			return nil, err
		}
		read[i] = target.Elem()
	}
	restore(read[0], read[1], from)
	return read[0].Interface(), nil
}

// detach replaces what refers to memory in a value: pointers by pointers to copies, and what is read twice by nil or by empty values.
func detach(v reflect.Value, empty bool) {
	switch {
	case readTwice(v):
		v.SetZero()
		if empty {
			v.Set(emptyOf(v.Type()))
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		target := reflect.New(v.Type().Elem())
		target.Elem().Set(v.Elem())
		detach(target.Elem(), empty)
		v.Set(target)
	case v.Kind() == reflect.Interface && !v.IsNil():
		held := reflect.New(v.Elem().Type()).Elem()
		held.Set(v.Elem())
		if held.Kind() == reflect.Pointer {
			detach(held, empty)
		}
		v.Set(held)
	case v.Kind() == reflect.Array:
		for i := range v.Len() {
			detach(v.Index(i), empty)
		}
	case v.Kind() == reflect.Struct:
		for _, i := range decoded(v) {
			detach(v.Field(i), empty)
		}
	}
}

// restore sets what JSON did not name as in the prototype: what is nil in the value, but not when it was read again.
func restore(value, again, from reflect.Value) {
	switch kind := value.Kind(); {
	case readTwice(value):
		if value.IsNil() != again.IsNil() {
			value.Set(from)
		}
	case kind == reflect.Pointer || kind == reflect.Interface:
		if !value.IsNil() && !from.IsNil() && value.Elem().Type() == from.Elem().Type() && (kind == reflect.Pointer || value.Elem().Kind() == reflect.Pointer) {
			restore(value.Elem(), again.Elem(), from.Elem())
		}
	case kind == reflect.Array:
		for i := range value.Len() {
			restore(value.Index(i), again.Index(i), from.Index(i))
		}
	case kind == reflect.Struct:
		for _, i := range decoded(value) {
			restore(value.Field(i), again.Field(i), from.Field(i))
		}
	}
}

// readTwice reports whether a value is a slice, a map, or a pointer to a value that reads its JSON itself, into memory of its own as a big.Int does.
func readTwice(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Pointer:
		return v.Type().Implements(reflect.TypeFor[json.Unmarshaler]()) || v.Type().Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
	return false
}

// emptyOf returns an empty value that is not nil.
func emptyOf(t reflect.Type) reflect.Value {
	switch t.Kind() {
	case reflect.Slice:
		return reflect.MakeSlice(t, 0, 0)
	case reflect.Map:
		return reflect.MakeMap(t)
	}
	return reflect.New(t.Elem())
}

// decoded lists the fields of a struct that JSON may change.
func decoded(v reflect.Value) (fields []int) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if (field.IsExported() || field.Anonymous && field.Type.Kind() == reflect.Struct) && field.Tag.Get("json") != "-" {
			fields = append(fields, i)
		}
	}
	return fields
}
