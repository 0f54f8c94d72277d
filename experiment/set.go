package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
	"universal-transformer/runlog"
)

// Set changes fields of the run, one an assignment: "model.width=128", "task.reverse.max_length=20", or a whole part,
// `model.halting={"fixed": {"steps": 6}}`. The path is that of the JSON; one that is not there is an error that offers the
// nearest. A value that is not JSON is taken as text. Only all assignments together have to make sense.
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
		unknown := assign(tree, strings.Split(path, "."), path, value(text))
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

// decode is Parse without Validate, of a tree of JSON values.
func decode(tree map[string]any) (Run, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return Run{}, err
	}
	changed := Base()
	return changed, runlog.DecodeConfig(data, &changed)
}

// value is JSON where text is, and otherwise text.
func value(text string) (v any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil || decoder.More() {
		return text
	}
	return v
}

// absent is the error of a field that is not there and was set all the same: it may be one that JSON leaves out while it is zero.
type absent struct{ error }

// assign puts value at the keys below node. In a part that is empty, as is the task of Base, the first key names the variant.
func assign(node map[string]any, keys []string, path string, value any) error {
	if len(node) == 0 && len(keys) > 1 {
		node[keys[0]] = map[string]any{}
	}
	next, ok := node[keys[0]]
	names := slices.Sorted(maps.Keys(node))
	if len(keys) == 1 {
		node[keys[0]] = value
		if !ok && len(names) > 0 {
			return absent{missing(path, keys, names)}
		}
		return nil
	}
	if !ok && len(names) > 0 {
		return missing(path, keys, names)
	}
	below, ok := next.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q has no fields", path, keys[0])
	}
	return assign(below, keys[1:], path, value)
}

// missing says that keys[0], which path leads to, is not among the names there are, and offers the nearest.
func missing(path string, keys, names []string) error {
	before := strings.TrimSuffix(path, strings.Join(keys, "."))
	if near, ok := strictjson.Nearest(keys[0], names); ok {
		return fmt.Errorf("key %q is not known: did you mean %q?", path, before+strings.Join(append([]string{near}, keys[1:]...), "."))
	}
	place := strings.TrimSuffix(before, ".")
	switch {
	case place == "":
		return fmt.Errorf("key %q is not known; there are %s", path, list(names))
	case len(names) == 1 && len(keys) > 1:
		return fmt.Errorf("key %q is not known: %s has %s; another variant is set whole, as in %[2]s={%[4]q: {...}}", path, place, names[0], keys[0])
	}
	return fmt.Errorf("key %q is not known: %s has %s", path, place, list(names))
}

// position is where in a tree that was written out for decoding something is wrong: nobody has seen that text.
var position = regexp.MustCompile(`^JSON: line \d+, column \d+: `)
