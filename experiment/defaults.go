package experiment

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"universal-transformer/internal/strictjson"
	"universal-transformer/task"
)

// Defaults returns the default configuration for pairs, without a task; [DefaultsFor] returns those for other tasks.
func Defaults() Run { return alike(task.Transduction) }

// DefaultsFor returns the default configuration for tasks of the type of d, whose fields are not read: that of the recipe own-pairs, own-labels,
// own-tags, own-text or own-translation. Its task names no files. Other tasks have the model and the training of the recipe with the same kind of
// answers, and no task.
//
// The defaults were chosen by the ten tasks of scripts/own_data.sh (docs/log.md). Recipes of tables do not depend on them: package recipes
// states all fields of their configurations.
func DefaultsFor(d task.Definition) Run {
	if !known(d) {
		return Defaults()
	}
	for _, r := range ownRuns() {
		if reflect.TypeOf(r.Task.Value) == reflect.TypeOf(d) {
			return r
		}
	}
	return alike(d.Kind())
}

// ownRuns lists the defaults of all types of own data.
func ownRuns() []Run { return []Run{ownPairs(), ownLabels(), ownTags(), ownText(), ownTranslation()} }

// alike returns the defaults for tasks without a recipe own-..., by their kind.
func alike(k task.Kind) Run {
	var r Run
	for _, r = range ownRuns() {
		if r.Task.Value.Kind() == k {
			break
		}
	}
	r.Task = Task{}
	r.Training.Batch.Boundaries = nil // those of own-text are for segments of one length
	return r
}

// known reports whether there is a task and its type is known.
func known(d task.Definition) bool {
	_, missing := d.(unresolved)
	return d != nil && !missing
}

// defaultsOf returns the defaults for the task of a run or, if its type is not known, for the kind of its model.
func defaultsOf(r Run) Run {
	if !known(r.Task.Value) && !r.Model.IsZero() {
		return alike(r.Model.Value.Kind())
	}
	return DefaultsFor(r.Task.Value)
}

// defaultFields returns the fields of a variant: those that the first defaults with this variant have, otherwise the variant's own.
func defaultFields(p variantPart, key string) any {
	for _, r := range ownRuns() {
		for _, chosen := range []variantPart{r.Task, r.Model} {
			if name, value := chosen.choice(); chosen.place() == p.place() && name == key {
				return value
			}
		}
	}
	return p.value(key)
}

// FromDefaults reads a configuration whose missing fields have the values of [DefaultsFor] its task. It does not validate.
//
// Naming another variant than that of the defaults replaces it; its missing fields have the variant's own defaults. Batches of a given number of
// tokens have no default number of rows, and tokens that are no subwords no default number of subwords.
//
// A configuration as [Run.JSON] writes it, such as that of a run directory, omits some fields that are zero. They stay zero. So does
// training.weigh_by_tokens, which version 0.2 did not have.
func FromDefaults(data []byte) (Run, error) {
	written, err := Decode(data)
	if err != nil {
		return Run{}, err
	}
	defaults := defaultsOf(written)
	tree := treeOf(defaults.JSON())
	own := treeOf(data)
	overlay(tree, own, "")
	removeTokenizerSize(tree, func(field string) bool {
		_, named := fieldsAt(own, "task")[field]
		return named
	})
	sizesIn(data).keepOne(tree)
	merged, err := json.Marshal(tree)
	if err != nil {
		return Run{}, err
	}
	run, err := Decode(merged)
	if err != nil {
		return run, err
	}
	complete := treeOf(written.JSON())
	delete(fieldsAt(complete, "training"), "weigh_by_tokens")
	if contains(treeOf(run.JSON()), complete) {
		return written, nil
	}
	return run, nil
}

// treeOf decodes a JSON object that is known to be valid.
func treeOf(data []byte) (tree map[string]any) {
	decoder := json.NewDecoder(bytes.NewReader(strictjson.WithoutMark(data)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		panic(fmt.Sprintf("experiment: %v", err))
	}
	return tree
}

// overlay replaces the values of a node, at a place without the keys that name variants, by those that another one has.
func overlay(node, by map[string]any, place string) {
	if !slices.ContainsFunc(parts, func(p variantPart) bool { return p.place() == place }) {
		overlayFields(node, by, place)
		return
	}
	for key := range node {
		if _, same := by[key]; !same {
			delete(node, key)
		}
	}
	for key, value := range by {
		fields, isObject := node[key].(map[string]any)
		if other, ok := value.(map[string]any); ok && isObject {
			overlayFields(fields, other, place)
		} else if value != nil || !isObject {
			node[key] = value
		}
	}
}

// overlayFields is overlay for a node that holds fields.
func overlayFields(node, by map[string]any, place string) {
	for key, value := range by {
		if before, ok := node[key].(map[string]any); ok {
			overlay(before, value.(map[string]any), strings.TrimPrefix(place+"."+key, "."))
		} else {
			node[key] = value
		}
	}
}

// fieldsAt returns the object at a place without the keys that name variants, nil if there is none.
func fieldsAt(tree map[string]any, place string) map[string]any {
	node, at := tree, ""
	for _, key := range strings.Split(place, ".") {
		node, _ = node[key].(map[string]any)
		at = strings.TrimPrefix(at+"."+key, ".")
		if !slices.ContainsFunc(parts, func(p variantPart) bool { return p.place() == at }) {
			continue
		}
		for _, fields := range node {
			node, _ = fields.(map[string]any)
		}
	}
	return node
}

// contains reports whether a tree has all values of another one.
func contains(tree, other any) bool {
	fields, ok := other.(map[string]any)
	if !ok {
		return reflect.DeepEqual(tree, other)
	}
	node, ok := tree.(map[string]any)
	for key, value := range fields {
		if have, there := node[key]; !there || !contains(have, value) {
			return false
		}
	}
	return ok
}
