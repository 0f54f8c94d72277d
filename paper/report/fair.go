package report

import (
	"slices"
	"strings"

	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
)

// excepted reports whether a row differs from another one, in a column, in fields of its exceptions to the rule: in the recipe of the cell, or in
// that of the run it starts from. It is false if either has no such cell.
func excepted(own, r paper.Row, column string) bool {
	for _, u := range r.Unequal {
		if slices.ContainsFunc(u.Fields, func(field string) bool { return differ(own.Family+"/"+column, r.Family+"/"+column, field) }) {
			return true
		}
	}
	return false
}

// value returns a field of a run. The name of a field of a model leaves its kind out: "model.pool".
func value(fields map[string]any, name string) any {
	rest, ok := strings.CutPrefix(name, "model.")
	if !ok {
		return fields[name]
	}
	for field, v := range fields {
		if parts := strings.SplitN(field, ".", 3); len(parts) == 3 && parts[0] == "model" && parts[2] == rest {
			return v
		}
	}
	return nil
}

// differ reports whether two recipes, or those that they start from, differ in a field.
func differ(own, other, field string) bool {
	x, errX := recipes.Named(own)
	y, errY := recipes.Named(other)
	if errX != nil || errY != nil {
		return false
	}
	if value(x.Run().Fields(), field) != value(y.Run().Fields(), field) {
		return true
	}
	return x.From != "" && y.From != "" && differ(x.From, y.From, field)
}
