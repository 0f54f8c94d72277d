package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
		s := setter{path: path, value: jsonOrText(text)}
		if err := s.assign(tree, "", strings.Split(path, ".")); err != nil {
			return r, err
		}
		if _, err := r.decode(tree); err != nil {
			return r, s.explain(assignment, err)
		}
	}
	changed, err := r.decode(tree)
	if err != nil {
		return r, err
	}
	return changed, changed.Validate()
}

// decode is Decode of a tree of JSON values, where "version" means nothing. The types of r that other modules define are known.
func (r Run) decode(tree map[string]any) (Run, error) {
	data, err := json.Marshal(tree)
	if err != nil {
		return Run{}, err
	}
	var run Run
	if err := strictjson.Decode(data, &run); err != nil {
		return Run{}, err
	}
	return run.Extend(r.Extensions())
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

// setter is one assignment.
type setter struct {
	path  string
	value any

	missing  []string // the keys of the path from the first that was not there: a field that JSON leaves out while it is zero, or none at all
	variants []string // what could have stood there besides fields
}

// assign puts the value at the keys below node, which stands at place: the path without the keys that name variants.
func (s *setter) assign(node map[string]any, place string, keys []string) error {
	for _, p := range parts {
		if p.place() == place {
			return s.assignVariant(node, p, keys)
		}
	}
	return s.assignField(node, place, keys, nil)
}

// assignVariant is assign where node names a variant: its key may be left out, and another one replaces it.
func (s *setter) assignVariant(node map[string]any, p variantPart, keys []string) error {
	variants := p.keys()
	if _, chosen := node[keys[0]]; chosen || slices.Contains(variants, keys[0]) {
		if len(keys) == 1 {
			clear(node)
			node[keys[0]] = s.value
			return nil
		}
		if _, same := node[keys[0]]; !same {
			clear(node)
			node[keys[0]] = p.fields(keys[0])
		}
		keys, variants = keys[1:], nil
	}
	for _, chosen := range node {
		if fields, ok := chosen.(map[string]any); ok {
			return s.assignField(fields, p.place(), keys, variants)
		}
	}
	return fmt.Errorf("key %q is not known: %s names nothing yet; it is one of %s", s.path, p.place(), list(p.keys()))
}

// assignField is assign where node holds fields, or is a variant that could be another of variants.
func (s *setter) assignField(node map[string]any, place string, keys, variants []string) error {
	next, there := node[keys[0]]
	if !there && s.missing == nil {
		s.missing, s.variants = keys, variants
	}
	if len(keys) == 1 {
		node[keys[0]] = s.value
		return nil
	}
	if !there {
		next = map[string]any{}
		node[keys[0]] = next
	}
	fields, isObject := next.(map[string]any)
	if !isObject {
		return fmt.Errorf("%s: %q has no fields", printable(s.path), keys[0])
	}
	return s.assign(fields, strings.TrimPrefix(place+"."+keys[0], "."), keys[1:])
}

// explain says what is wrong with the assignment, given what is wrong with the tree it leads to.
func (s *setter) explain(assignment string, err error) error {
	var key *strictjson.UnknownKeyError
	if !errors.As(err, &key) || len(s.missing) == 0 || key.Key != s.missing[0] {
		return fmt.Errorf("%s: %s", printable(assignment), position.ReplaceAllString(err.Error(), ""))
	}
	before := strings.TrimSuffix(s.path, strings.Join(s.missing, "."))
	if near, ok := strictjson.Nearest(key.Key, slices.Concat(key.Valid, s.variants)); ok {
		return fmt.Errorf("key %q is not known: did you mean %q?", s.path, before+strings.Join(append([]string{near}, s.missing[1:]...), "."))
	}
	place := strings.TrimSuffix(before, ".")
	if place == "" {
		return fmt.Errorf("key %q is not known; there are %s", s.path, list(key.Valid))
	}
	has := "no fields"
	if len(key.Valid) > 0 {
		has = list(key.Valid)
	}
	if len(s.variants) > 0 {
		has += "; or it is another of " + list(s.variants)
	}
	return fmt.Errorf("key %q is not known: %s has %s", s.path, place, has)
}

// printable is a text in one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}

// position is where in a tree that was written out for decoding something is wrong: nobody has seen that text.
var position = regexp.MustCompile(`^JSON: line \d+, column \d+: `)
