package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
)

// Set changes fields of the run, one an assignment: "model.width=128", "task.max_length=20", or a whole part,
// `model.halting={"fixed": {"steps": 6}}`. The path is that of the JSON; the key that names a variant may be left out, and naming
// another variant replaces the one there was. A path that is not there is an error that offers the nearest. A value that is not
// JSON is taken as text. Only all assignments together have to make sense.
func (r Run) Set(assignments ...string) (Run, error) {
	if len(assignments) == 0 {
		return r, nil
	}
	var tree map[string]any
	if err := json.Unmarshal(r.JSON(), &tree); err != nil {
		return r, err
	}
	for _, assignment := range assignments {
		path, text, ok := strings.Cut(assignment, "=")
		if !ok {
			return r, fmt.Errorf("%q does not set anything: write path=value, as in model.width=128", assignment)
		}
		unknown := setter{path: path, value: jsonOrText(text)}.assign(tree, "", strings.Split(path, "."))
		if _, tried := unknown.(absent); unknown != nil && !tried {
			return r, unknown
		}
		if _, err := decode(tree); err != nil {
			if unknown != nil {
				return r, unknown
			}
			return r, fmt.Errorf("%s: %s", assignment, position.ReplaceAllString(err.Error(), ""))
		}
	}
	changed, err := decode(tree)
	if err != nil {
		return r, err
	}
	return changed, changed.Validate()
}

// decode is Decode of a tree of JSON values.
func decode(tree map[string]any) (Run, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return Run{}, err
	}
	return Decode(data)
}

// jsonOrText is JSON where text is, and otherwise text.
func jsonOrText(text string) (v any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return text
	}
	return v
}

// absent is the error of a field that is not there and was set all the same: it may be one that JSON leaves out while it is zero.
type absent struct{ error }

// setter is one assignment.
type setter struct {
	path  string
	value any
}

// assign puts the value at the keys below node, which stands at place: the path without the keys that name variants.
func (s setter) assign(node map[string]any, place string, keys []string) error {
	for _, p := range parts {
		if p.place() == place {
			return s.assignVariant(node, p, keys)
		}
	}
	return s.assignField(node, place, keys)
}

// assignVariant is assign where node names a variant: its key may be left out, and another one replaces it.
func (s setter) assignVariant(node map[string]any, p variantPart, keys []string) error {
	if slices.Contains(p.keys(), keys[0]) {
		if len(keys) == 1 {
			clear(node)
			node[keys[0]] = s.value
			return nil
		}
		if _, same := node[keys[0]]; !same {
			clear(node)
			node[keys[0]] = p.fields(keys[0])
		}
		keys = keys[1:]
	}
	for _, chosen := range node {
		if fields, ok := chosen.(map[string]any); ok {
			return s.assignField(fields, p.place(), keys)
		}
	}
	return fmt.Errorf("key %q is not known: %s names nothing yet; it is one of %s", s.path, p.place(), list(p.keys()))
}

// assignField is assign where node holds fields.
func (s setter) assignField(node map[string]any, place string, keys []string) error {
	next, ok := node[keys[0]]
	if len(keys) == 1 {
		problem := s.missing(keys, node)
		if node[keys[0]] = s.value; !ok {
			return absent{problem}
		}
		return nil
	}
	below := strings.TrimPrefix(place+"."+keys[0], ".")
	if !ok && slices.ContainsFunc(parts, func(p variantPart) bool { return p.place() == below }) { // JSON leaves it out while nothing is chosen
		next, ok = map[string]any{}, true
		node[keys[0]] = next
	}
	if !ok {
		return s.missing(keys, node)
	}
	fields, isObject := next.(map[string]any)
	if !isObject {
		return fmt.Errorf("%s: %q has no fields", s.path, keys[0])
	}
	return s.assign(fields, below, keys[1:])
}

// missing says that keys[0] is not among the keys of node, and offers the nearest.
func (s setter) missing(keys []string, node map[string]any) error {
	names := slices.Sorted(maps.Keys(node))
	before := strings.TrimSuffix(s.path, strings.Join(keys, "."))
	if near, ok := strictjson.Nearest(keys[0], names); ok {
		return fmt.Errorf("key %q is not known: did you mean %q?", s.path, before+strings.Join(append([]string{near}, keys[1:]...), "."))
	}
	place := strings.TrimSuffix(before, ".")
	if place == "" {
		return fmt.Errorf("key %q is not known; there are %s", s.path, list(names))
	}
	return fmt.Errorf("key %q is not known: %s has %s", s.path, place, list(names))
}

// position is where in a tree that was written out for decoding something is wrong: nobody has seen that text.
var position = regexp.MustCompile(`^JSON: line \d+, column \d+: `)
