package strictjson

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Complete returns an error that names the first field of v's type that data lacks, or that is null there. Fields with the option omitempty or
// omitzero may be missing; pointers, slices, maps and interfaces may be null. data must be valid for v, as after [Decode].
func Complete(data []byte, v any) error { return complete(data, reflect.TypeOf(v), nil) }

func complete(data []byte, t reflect.Type, at *location) error {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	null := strings.TrimSpace(string(data)) == "null"
	switch {
	case t == nil || null || decodesItself(t):
		return nil
	case t.Kind() == reflect.Struct:
		return completeObject(data, t, at)
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		var list []json.RawMessage
		if err := json.Unmarshal(data, &list); err != nil {
			return err
		}
		for i, element := range list {
			if err := complete(element, t.Elem(), &location{parent: at, index: i}); err != nil {
				return err
			}
		}
	case t.Kind() == reflect.Map:
		var entries map[string]json.RawMessage
		if err := json.Unmarshal(data, &entries); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(entries)) { // so that the first error does not depend on the order of a map
			if err := complete(entries[key], t.Elem(), &location{parent: at, key: key, index: -1}); err != nil {
				return err
			}
		}
	}
	return nil
}

func completeObject(data []byte, t reflect.Type, at *location) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil {
		return err
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Anonymous && name == "" && indirect(field.Type).Kind() == reflect.Struct
		if embedded || !field.IsExported() || field.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		value, there := object[name]
		place := &location{parent: at, key: name, index: -1}
		optional := slices.ContainsFunc(strings.Split(options, ","), func(o string) bool { return o == "omitempty" || o == "omitzero" })
		nullable := slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface}, field.Type.Kind())
		switch {
		case !there && optional:
		case !there:
			return fmt.Errorf("%s is missing", place)
		case string(value) == "null" && !nullable:
			return fmt.Errorf("%s is null", place)
		default:
			if err := complete(value, field.Type, place); err != nil {
				return err
			}
		}
	}
	return nil
}
