package strictjson

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A walker compares the keys of valid JSON with those of the type that it is decoded into.
type walker struct {
	decoder *json.Decoder
	data    []byte
}

// A location is the place of a value in the data, nil for the whole. Only errors need its text: together, the texts of all values of nested
// data can be far longer than the data.
type location struct {
	parent *location // of the object or array; nil for the whole
	key    string    // of a value in an object
	index  int       // of an element of an array, -1 in an object
}

// String returns a path as in "a.b[2]", which is empty for the whole.
func (l *location) String() string {
	var places []*location
	for ; l != nil; l = l.parent {
		places = append(places, l)
	}
	var path strings.Builder
	for _, p := range slices.Backward(places) {
		switch {
		case p.index >= 0:
			fmt.Fprintf(&path, "[%d]", p.index)
		case path.Len() > 0:
			path.WriteString("." + p.key)
		default:
			path.WriteString(p.key)
		}
	}
	return path.String()
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// value checks the next value against t. If t is nil, anything is valid and only duplicate keys are errors.
func (w *walker) value(t reflect.Type, at *location) error {
	nullable := t == nil
	for t != nil && t.Kind() == reflect.Pointer {
		t, nullable = t.Elem(), true
	}
	if t != nil && (t.Kind() == reflect.Interface || decodesItself(t)) {
		t, nullable = nil, true
	}
	token, err := w.decoder.Token()
	if err != nil {
		return withPlace(w.data, err)
	}
	switch token {
	case json.Delim('{'):
		return w.object(t, at)
	case json.Delim('['):
		return w.array(t, at)
	case nil:
		if !nullable && t.Kind() != reflect.Map && t.Kind() != reflect.Slice {
			return placed(w.here(), "%s cannot be null: leave the key out to get the default", named(at.String()))
		}
	}
	return nil // json.Unmarshal reports values of a wrong kind
}

// decodesItself reports whether a type, or a pointer to it, has its own JSON decoding.
func decodesItself(t reflect.Type) bool {
	for _, u := range []reflect.Type{jsonUnmarshaler, textUnmarshaler} {
		if t.Implements(u) || reflect.PointerTo(t).Implements(u) {
			return true
		}
	}
	return false
}

func (w *walker) object(t reflect.Type, at *location) error {
	var fields map[string]reflect.Type
	var names []string
	if t != nil && t.Kind() == reflect.Struct {
		fields, names = keys(t)
	}
	seen := map[string]bool{}
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return withPlace(w.data, err)
		}
		key := token.(string) // keys of valid JSON are strings
		if seen[key] {
			return placed(w.here(), "key %q is given twice%s", key, in(at.String()))
		}
		seen[key] = true
		var valueType reflect.Type
		if fields != nil {
			known := false
			if valueType, known = fields[key]; !known {
				nearest, _ := Nearest(key, names)
				return &UnknownKeyError{Key: key, Path: at.String(), Nearest: nearest, Valid: names}
			}
		} else if t != nil && t.Kind() == reflect.Map {
			valueType = t.Elem()
		}
		if err := w.value(valueType, &location{parent: at, key: key, index: -1}); err != nil {
			return err
		}
	}
	_, err := w.decoder.Token() // the closing brace
	return withPlace(w.data, err)
}

func (w *walker) array(t reflect.Type, at *location) error {
	var element reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		element = t.Elem()
	}
	n := 0
	for ; w.decoder.More(); n++ {
		if err := w.value(element, &location{parent: at, index: n}); err != nil {
			return err
		}
	}
	if t != nil && t.Kind() == reflect.Array && n != t.Len() { // encoding/json drops elements or leaves zeros
		return placed(w.here(), "%s must be a list of %d elements: it has %d", named(at.String()), t.Len(), n)
	}
	_, err := w.decoder.Token() // the closing bracket
	return withPlace(w.data, err)
}

// keys returns the JSON keys of a struct type with the types of their values, and the keys in the order of the fields.
func keys(t reflect.Type) (map[string]reflect.Type, []string) {
	types, names := map[string]reflect.Type{}, []string{}
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		embedded := field.Anonymous && name == "" && indirect(field.Type).Kind() == reflect.Struct
		if embedded || !field.IsExported() || field.Tag.Get("json") == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		if _, twice := types[name]; !twice {
			names = append(names, name)
		}
		types[name] = field.Type
	}
	return types, names
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func (w *walker) here() string { return place(w.data, w.decoder.InputOffset()-1) }

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}

func named(path string) string {
	if path == "" {
		return "the value"
	}
	return path
}
