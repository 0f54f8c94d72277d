package experiment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
)

// An Explanation is a field of a configuration with its value and what it means.
type Explanation struct {
	Field string // its path in the JSON: "task.table.held_out"
	Value string // JSON
	Text  string // the comment at its declaration: meaning, unit, the meaning of 0
}

// Explain returns all fields of the run.
func (r Run) Explain() []Explanation { return explain("", reflect.ValueOf(r)) }

// HasField reports whether the run has a field at a path, or a part with fields. The path may leave out the keys of variants.
func (r Run) HasField(path string) bool {
	return slices.ContainsFunc(r.Explain(), func(e Explanation) bool {
		within := func(field string) bool { return field == path || strings.HasPrefix(field, path+".") }
		return within(e.Field) || within(withoutVariants(e.Field))
	})
}

// ExplainPart returns the fields at a path, such as "task.labels", "model.halting" or "training.stop", with their defaults. A part that
// comes in variants has the fields of all of them.
func ExplainPart(path string) ([]Explanation, error) {
	all := Defaults().Explain()
	var names []string
	for _, p := range parts {
		for _, key := range p.keys() {
			at := p.place() + "." + key
			names = append(names, at)
			all = slices.DeleteFunc(all, func(e Explanation) bool { return strings.HasPrefix(e.Field, at+".") })
			fields := explain(at+".", reflect.ValueOf(defaultFields(p, key)))
			if len(fields) == 0 && path == at {
				return []Explanation{{at, "{}", "has no fields"}}, nil
			}
			all = append(all, fields...)
		}
	}
	var found []Explanation
	for _, e := range all {
		place := withoutVariants(e.Field)
		if within := func(s string) bool { return s == path || strings.HasPrefix(s, path+".") }; (within(e.Field) || within(place)) && !slices.Contains(found, e) {
			found = append(found, e)
		}
		names = append(names, place, e.Field)
	}
	if len(found) > 0 {
		return found, nil
	}
	if part, ok := withoutKind(path, names); ok {
		return ExplainPart(part)
	}
	near, ok := Defaults().Suggest(path)
	if !ok {
		near, ok = strictjson.Nearest(path, names)
	}
	if ok {
		return nil, fmt.Errorf("field %q is not known: did you mean %q?", path, near)
	}
	return nil, fmt.Errorf("field %q is not known", path)
}

// withoutKind returns the path of a part of a model without the kind of the model, model.halting.frozen for model.classifier.halting.frozen, whose
// fields are the same for all kinds that have the part.
func withoutKind(path string, names []string) (string, bool) {
	rest, ok := strings.CutPrefix(path, "model.")
	kind, rest, _ := strings.Cut(rest, ".")
	part, _, below := strings.Cut(rest, ".")
	has := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "model."+kind+"."+part+".") })
	return "model." + rest, ok && below && has
}

// explain returns the fields of a struct, whose path is prefix.
func explain(prefix string, v reflect.Value) (list []Explanation) {
	for _, field := range reflect.VisibleFields(v.Type()) {
		tag := field.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		if !field.IsExported() || field.Anonymous && name == "" || tag == "-" {
			continue
		}
		value, owner := v.FieldByIndex(field.Index), v.Type()
		if n := len(field.Index) - 1; n > 0 {
			owner = v.FieldByIndex(field.Index[:n]).Type()
		}
		list = append(list, explainField(prefix+name, value, fieldTexts[owner.String()+"."+field.Name])...)
	}
	return list
}

// explainField returns a field with the fields below it.
func explainField(path string, v reflect.Value, text string) []Explanation {
	if part, ok := v.Interface().(variantPart); ok {
		key, value := part.choice()
		list := []Explanation{{path, fmt.Sprintf("{%q: {...}}", key), strings.TrimPrefix(text+"; one of "+strings.Join(part.keys(), ", "), "; ")}}
		if key == "" {
			list[0].Value = "{}"
			return list
		}
		return append(list, explain(path+"."+key+".", reflect.ValueOf(value))...)
	}
	if _, own := v.Interface().(json.Marshaler); v.Kind() == reflect.Struct && !own {
		return explain(path+".", v)
	}
	data, err := json.Marshal(v.Interface())
	if err != nil {
		panic(fmt.Sprintf("experiment: %v", err)) // plain numbers and strings marshal
	}
	list := []Explanation{{path, string(data), text}}
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct {
		list = append(list, explain(path+"[].", reflect.Zero(v.Type().Elem()))...)
	}
	return list
}
