package experiment

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Set changes one field of the run: "model.width=128", "task.reverse.max_length=20", or a whole part,
// `model.halting={"fixed": {"steps": 6}}`. The path is that of the JSON; one that is not there is an error that offers the
// nearest. A value that is not JSON is taken as text.
func (r Run) Set(assignment string) (Run, error) {
	path, text, ok := strings.Cut(assignment, "=")
	if !ok {
		return r, fmt.Errorf("%q does not set anything: write path=value, as in model.width=128", assignment)
	}
	var tree map[string]any
	if err := json.Unmarshal(r.JSON(), &tree); err != nil {
		return r, err
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		value = text
	}
	if err := assign(tree, strings.Split(path, "."), path, value); err != nil {
		return r, err
	}
	data, err := json.Marshal(tree)
	if err != nil {
		return r, err
	}
	changed, err := Parse(data)
	if err != nil {
		return r, fmt.Errorf("%s: %w", assignment, err)
	}
	return changed, nil
}

// assign puts value at the keys below node.
func assign(node map[string]any, keys []string, path string, value any) error {
	next, ok := node[keys[0]]
	if !ok {
		return unknown("key", path, prefixed(path, keys, slices.Sorted(maps.Keys(node))))
	}
	if len(keys) == 1 {
		node[keys[0]] = value
		return nil
	}
	below, ok := next.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %q has no fields", path, keys[0])
	}
	return assign(below, keys[1:], path, value)
}

// prefixed spells the names that could stand in place of keys[0], as whole paths.
func prefixed(path string, keys, names []string) []string {
	before := strings.TrimSuffix(path, strings.Join(keys, "."))
	after := strings.TrimPrefix(strings.Join(keys, "."), keys[0])
	for i, name := range names {
		names[i] = before + name + after
	}
	return names
}
