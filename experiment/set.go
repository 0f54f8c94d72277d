package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"universal-transformer/internal/strictjson"
	"universal-transformer/internal/vocab"
)

// Set returns the run with changed fields. An assignment changes one field, as in "model.width=128" or "task.max_length=20", or a whole
// part, as in `model.halting={"fixed": {"steps": 6}}`. Fields that a whole part leaves out have their defaults. The path is that of the JSON. The
// key that names a variant may be omitted; another variant's key replaces the variant. The error for an unknown path offers the nearest one. A
// value that is not JSON is text, and so is a number where text is needed. If the tokenizer changes, a size that only suits the earlier one is
// removed, and a number of tokens per batch replaces one of rows. Set validates the run after all assignments.
func (r Run) Set(assignments ...string) (Run, error) {
	if len(assignments) == 0 {
		return r, nil
	}
	tree, err := r.tree()
	if err != nil {
		return r, err
	}
	before := kinds(tree)
	for _, assignment := range assignments {
		s, err := assigned(tree, assignment)
		if err != nil {
			return r, err
		}
		if _, err := r.decode(tree); err != nil && !r.assignText(tree, assignment, s.value) {
			return r, s.explain(r, assignment, err)
		}
	}
	if err := dropReplaced(tree, assignments); err != nil {
		return r, err
	}
	changed, err := r.decode(tree)
	if err != nil {
		return r, err
	}
	return changed, replaced(changed.Validate(), before, kinds(tree))
}

// FieldsWith returns the fields of the run after assignments, as [Run.Set] makes them, for a comparison with those of another run after the same
// assignments. Values are not checked: together, they may be refused by Set.
func (r Run) FieldsWith(assignments ...string) (map[string]any, error) {
	tree, err := r.tree()
	if err != nil {
		return nil, err
	}
	for _, assignment := range assignments {
		if _, err := assigned(tree, assignment); err != nil {
			return nil, err
		}
	}
	if err := dropReplaced(tree, assignments); err != nil {
		return nil, err
	}
	fields := map[string]any{}
	collectFields(fields, "", tree)
	return fields, nil
}

// tree returns the JSON values of the run, or an error for values that cannot be recorded: NaN, infinity, types that have no name, and fields
// that a run does not have.
func (r Run) tree() (map[string]any, error) {
	if err := r.unread(); err != nil {
		return nil, err
	}
	data, err := json.Marshal(r)
	if err == nil {
		return treeOf(data), nil
	}
	if invalid := r.Validate(); invalid != nil {
		err = invalid // which names the field
	}
	if m := (*json.MarshalerError)(nil); errors.As(err, &m) {
		err = m.Err
	}
	return nil, err
}

// assigned makes an assignment in a tree of JSON values, without a check of the result.
func assigned(tree map[string]any, assignment string) (*setter, error) {
	path, text, ok := strings.Cut(assignment, "=")
	if !ok {
		return nil, fmt.Errorf("%q is not an assignment: write path=value, as in model.width=128", assignment)
	}
	s := &setter{path: path, value: jsonOrText(text)}
	return s, s.assign(tree, "", strings.Split(path, "."))
}

// dropReplaced removes the fields that have no meaning beside assigned ones: the size of another tokenizer and the other measure of a batch.
func dropReplaced(tree map[string]any, assignments []string) error {
	removeTokenizerSize(tree, func(field string) bool {
		return slices.ContainsFunc(assignments, func(a string) bool {
			path, _, _ := strings.Cut(a, "=")
			return strings.HasPrefix(path, "task.") && strings.HasSuffix(path, "."+field)
		})
	})
	size := assignedSizes(assignments)
	if err := size.check(); err != nil {
		return err
	}
	size.keepOne(tree)
	return nil
}

// removeTokenizerSize removes the number of learned subwords if the task was assigned a tokenizer that learns none, unless the number was
// assigned, too.
func removeTokenizerSize(tree map[string]any, assigned func(field string) bool) {
	fields := fieldsAt(tree, "task")
	file, _ := fields["tokenizer_file"].(string)
	other := assigned("tokenizer") && fields["tokenizer"] != vocab.Subwords.String() || assigned("tokenizer_file") && file != ""
	if other && !assigned("tokenizer_size") {
		delete(fields, "tokenizer_size")
	}
}

// assignText reports whether a number or truth value is valid as text, such as the name of a file, and assigns it.
func (r Run) assignText(tree map[string]any, assignment string, value any) bool {
	switch value.(type) {
	case json.Number, bool:
	default:
		return false
	}
	path, text, _ := strings.Cut(assignment, "=")
	s := setter{path: path, value: text}
	if s.assign(tree, "", strings.Split(path, ".")) != nil {
		return false
	}
	_, err := r.decode(tree)
	return err == nil
}

// decode decodes a tree of JSON values. The types of r that other modules define are known.
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

// jsonOrText decodes a text that is JSON, and returns any other text as it is.
func jsonOrText(text string) (v any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return text
	}
	if _, err := decoder.Token(); err != io.EOF {
		return text // more follows
	}
	return v
}

// setter is one assignment.
type setter struct {
	path  string
	value any

	missing  []string // keys of the path from the first that the tree does not have: an omitted zero field, or an unknown one
	variants []string // other valid keys at that place: variants
}

// assign sets the value at the keys below a node. place is the path of the node without the keys that name variants.
func (s *setter) assign(node map[string]any, place string, keys []string) error {
	for _, p := range parts {
		if p.place() == place {
			return s.assignVariant(node, p, keys)
		}
	}
	return s.assignField(node, place, keys, nil)
}

// assignVariant is assign for a node that names a variant: its key may be omitted, and another key replaces it.
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
			node[keys[0]] = defaultTree(p, keys[0])
		}
		keys, variants = keys[1:], nil
	}
	for _, chosen := range node {
		if fields, ok := chosen.(map[string]any); ok {
			return s.assignField(fields, p.place(), keys, variants)
		}
	}
	return fmt.Errorf("key %q is not known: %s has no variant yet; choose one of %s", s.path, p.place(), list(p.keys()))
}

// defaultTree returns the JSON of a variant with its defaults.
func defaultTree(p variantPart, key string) map[string]any {
	data, err := json.Marshal(defaultFields(p, key))
	if err != nil {
		panic(fmt.Sprintf("experiment: %v", err)) // defaults are plain numbers and strings
	}
	return treeOf(data)
}

// assignField is assign for a node that holds fields; variants are other keys that would be valid instead of the first one.
func (s *setter) assignField(node map[string]any, place string, keys, variants []string) error {
	next, exists := node[keys[0]]
	if !exists && s.missing == nil {
		s.missing, s.variants = keys, variants
	}
	if len(keys) == 1 {
		if err := s.namesFields(next, strings.TrimPrefix(place+"."+keys[0], ".")); err != nil {
			return err
		}
		node[keys[0]] = s.value
		return nil
	}
	if !exists {
		next = map[string]any{}
		node[keys[0]] = next
	}
	fields, isObject := next.(map[string]any)
	if !isObject {
		at := strings.TrimSuffix(s.path, "."+strings.Join(keys[1:], "."))
		return fmt.Errorf("%s: %q has no fields: it is a value, as in %s=%v", printable(s.path), keys[0], printable(at), next)
	}
	return s.assign(fields, strings.TrimPrefix(place+"."+keys[0], "."), keys[1:])
}

// namesFields returns an error if the value is {} in place of fields, which would have their defaults and not be 0. Variants may have no fields.
func (s *setter) namesFields(before any, place string) error {
	value, ok := s.value.(map[string]any)
	fields, _ := before.(map[string]any)
	if !ok || len(value) > 0 || len(fields) == 0 || slices.ContainsFunc(parts, func(p variantPart) bool { return p.place() == place }) {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(fields)))
	return fmt.Errorf("%s={} sets no field, and fields that are left out have their defaults: set each field, as in %[1]s.%s=%v", printable(s.path), first, fields[first])
}

// explain turns the error of the resulting tree into an error of the assignment.
func (s *setter) explain(r Run, assignment string, err error) error {
	var key *strictjson.UnknownKeyError
	if !errors.As(err, &key) || len(s.missing) == 0 || key.Key != s.missing[0] {
		return fmt.Errorf("%s: %s", printable(assignment), strictjson.WithoutPlace(err))
	}
	before := strings.TrimSuffix(s.path, strings.Join(s.missing, "."))
	if near, ok := strictjson.Nearest(key.Key, slices.Concat(key.Valid, s.variants)); ok {
		return fmt.Errorf("key %q is not known: did you mean %q?", s.path, before+strings.Join(append([]string{near}, s.missing[1:]...), "."))
	}
	if field, ok := r.Suggest(s.path); ok && len(s.missing) == 1 { // else it is the variant that is unknown
		return fmt.Errorf("key %q is not known: did you mean %q?", s.path, field)
	}
	place := strings.TrimSuffix(before, ".")
	if place == "" {
		return fmt.Errorf("key %q is not known; there are %s", s.path, list(key.Valid))
	}
	fields := "no fields"
	if len(key.Valid) > 0 {
		fields = list(key.Valid)
	}
	if len(s.variants) > 0 {
		fields += "; other variants are " + list(s.variants)
	}
	return fmt.Errorf("key %q is not known: %s has %s", s.path, place, fields)
}

// printable replaces control characters, so that a text fits one line.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
}
