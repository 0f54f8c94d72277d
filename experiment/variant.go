package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
)

// A Variant is a part of a configuration for which there are several types. In JSON it is an object with one key, which names the type and
// holds its fields. Missing fields have the defaults of that type:
//
//	"halting": {"frozen": {"max_steps": 6}}
//
// To add a variant, write its type and add a row to the part's table in choices.go.
type Variant[T checked, C choices[T]] struct{ Value T }

// checked is implemented by every variant. Validate returns an error that names the first invalid field, its value, and valid values.
type checked interface{ Validate() error }

// choices is the table of variants of a part.
type choices[T checked] interface {
	part() part
	rows() []row[T]
}

// part describes a part that comes in variants.
type part struct {
	path string // in the JSON of a run: "model.halting"
	hint string // what to do if it is missing
}

// row is one variant: its key in JSON, and a value of its type with all defaults.
type row[T checked] struct {
	key      string
	defaults T
}

// IsZero reports whether no variant was chosen.
func (v Variant[T, C]) IsZero() bool { return any(v.Value) == nil }

// table returns the part and its table.
func (Variant[T, C]) table() (part, []row[T]) {
	var c C
	return c.part(), c.rows()
}

// keys returns the keys of all variants.
func (v Variant[T, C]) keys() (names []string) {
	_, rows := v.table()
	for _, r := range rows {
		names = append(names, r.key)
	}
	return names
}

// row returns the index of the row that was chosen, or -1 if the value's type has none.
func (v Variant[T, C]) row() int {
	_, rows := v.table()
	return slices.IndexFunc(rows, func(r row[T]) bool { return reflect.TypeOf(r.defaults) == reflect.TypeOf(v.Value) })
}

// key returns the key of the chosen variant, "" if none was chosen. A type that has no row is named by [Extensions].
func (v Variant[T, C]) key() string {
	_, rows := v.table()
	if i := v.row(); i >= 0 {
		return rows[i].key
	}
	var c C
	if _, ok := any(c).(extensible[T]); ok && !v.IsZero() {
		return extensionKey(v.Value)
	}
	return ""
}

// MarshalJSON writes {"key": {fields}}, or {} if no variant was chosen.
func (v Variant[T, C]) MarshalJSON() ([]byte, error) {
	if v.IsZero() {
		return []byte("{}"), nil
	}
	key := v.key()
	if key == "" {
		return nil, v.unrecordable()
	}
	return json.Marshal(map[string]T{key: v.Value})
}

// unrecordable returns the error for a value whose type has no key.
func (v Variant[T, C]) unrecordable() error {
	p, _ := v.table()
	var c C
	if named, ok := any(v.Value).(interface{ ExtensionName() string }); ok && named.ExtensionName() == "" {
		if err := v.Value.Validate(); err != nil {
			return fmt.Errorf("%s: %w", p.path, err)
		}
		return fmt.Errorf("%s: the ExtensionName of %T is empty: return a name", p.path, v.Value)
	}
	if _, ok := any(c).(extensible[T]); !ok {
		return fmt.Errorf("%s takes only types of this module, and not %T", p.path, v.Value)
	}
	return fmt.Errorf("%s: a value of type %T cannot be recorded: its type must be a named struct, or one of this module's own", p.path, v.Value)
}

// UnmarshalJSON reads what MarshalJSON writes. Missing fields have the defaults of the variant, whatever the previous value.
func (v *Variant[T, C]) UnmarshalJSON(data []byte) error {
	p, rows := v.table()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil || bytes.Equal(data, []byte("null")) {
		return fmt.Errorf("%s must be an object that names one of %s, as in %s", p.path, list(v.keys()), v.sample())
	}
	var none T
	v.Value = none
	names := slices.Sorted(maps.Keys(members)) // so that the error does not depend on the order of a map
	for _, key := range names {
		if v.decodeExtension(key, members) {
			return nil
		}
		if v.value(key) == nil {
			return v.notKnown(key)
		}
	}
	if len(names) > 1 {
		return fmt.Errorf("%s names %s: choose one", p.path, strings.Join(names, " and "))
	}
	if len(names) == 0 {
		return nil
	}
	key := names[0]
	at := slices.IndexFunc(rows, func(r row[T]) bool { return r.key == key })
	value, err := rows[at].decode(members[key])
	if err != nil {
		return below(p.path+"."+key, err)
	}
	v.Value = value
	return nil
}

// notKnown returns the error for a key that names no variant.
func (v *Variant[T, C]) notKnown(key string) error {
	problem, also := unknown(v.place(), key, v.keys()), "; write"
	if strings.HasSuffix(problem.Error(), "?") {
		also = " Write"
	}
	return fmt.Errorf("%w%s it as in %s", problem, also, v.sample())
}

// decodeExtension keeps the JSON of a type that another module defines until [Run.Extend], and reports whether it did.
func (v *Variant[T, C]) decodeExtension(key string, members map[string]json.RawMessage) bool {
	var c C
	table, ok := any(c).(extensible[T])
	name, prefixed := strings.CutPrefix(key, extensionPrefix)
	if !ok || !prefixed || name == "" || len(members) != 1 {
		return false
	}
	v.Value = table.unresolved(missing{error: MissingTypeError{Path: c.part().path, Type: name}, fields: members[key]})
	return true
}

// place returns the path of the part in the JSON of a run, without the keys that name variants.
func (v Variant[T, C]) place() string {
	p, _ := v.table()
	return p.path
}

// choice returns the key and the value of the chosen variant.
func (v Variant[T, C]) choice() (string, any) { return v.key(), v.Value }

// variantPart is the part of Variant that Set and Complete use.
type variantPart interface {
	place() string
	choice() (key string, value any) // "" and nil if none was chosen
	keys() []string
	value(key string) any
}

// value returns a variant with its defaults.
func (v Variant[T, C]) value(key string) any {
	_, rows := v.table()
	for _, r := range rows {
		if r.key == key {
			return r.defaults
		}
	}
	return nil
}

// sample shows how a variant is written.
func (v Variant[T, C]) sample() string {
	p, rows := v.table()
	return fmt.Sprintf(`%s={%q: {...}}`, p.path, rows[0].key)
}

// decode reads the fields of a variant; missing ones have its defaults.
func (r row[T]) decode(data []byte) (value T, err error) {
	decoded, err := decodeLike(r.defaults, data)
	if err != nil {
		return value, err
	}
	return decoded.(T), nil
}

// below adds the path of a part to an error about its fields, and removes the line and column within the part, which the user does not
// see.
func below(path string, err error) error {
	var key *strictjson.UnknownKeyError
	if errors.As(err, &key) && key == err {
		if complete(key.Path) {
			return key
		}
		at := *key
		at.Path = strings.TrimSuffix(path+"."+key.Path, ".")
		return &at
	}
	text := strictjson.WithoutPlace(err).Error()
	if complete(text) {
		return errors.New(text)
	}
	if strings.HasPrefix(text, "cannot ") { // the part itself
		return fmt.Errorf("%s %s", path, text)
	}
	return fmt.Errorf("%s: %s", path, text)
}

// complete reports whether a message begins with a complete path already, as that of a part within a part does.
func complete(text string) bool {
	for _, root := range []string{"task.", "model.", "training."} {
		if strings.HasPrefix(text, root) {
			return true
		}
	}
	return false
}

// validate validates the chosen variant. The error begins with the path of the field.
func (v Variant[T, C]) validate() error {
	p, _ := v.table()
	if v.IsZero() {
		hint := p.hint
		if hint == "" {
			hint = "name one of " + list(v.keys())
		}
		return fmt.Errorf("%s is missing: %s", p.path, hint)
	}
	if v.key() == "" { // also a nil pointer, whose Validate may panic
		return v.unrecordable()
	}
	err := v.Value.Validate()
	var missing *MissingTypeError // which names the part
	if err == nil {
		return recordable(p.path+"."+v.key(), v.Value)
	}
	if complete(err.Error()) || errors.As(err, &missing) {
		return err
	}
	return fmt.Errorf("%s.%s.%w", p.path, v.key(), err)
}

// unknown returns the error for a name that is not valid, which offers the nearest valid one.
func unknown(what, name string, valid []string) error {
	if near, ok := strictjson.Nearest(name, valid); ok {
		return fmt.Errorf("%s %q is not known: did you mean %q?", what, name, near)
	}
	return fmt.Errorf("%s %q is not known; there are %s", what, name, list(valid))
}

func list(names []string) string { return strictjson.List(names) }
