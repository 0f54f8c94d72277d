// Package recipes is the catalogue of trainable configurations: those of the cells of the paper's tables, and starting points for your own
// data. Every recipe is defined once, with all of its training fields, in the file of its table or family.
//
// The name of a recipe is family[-variant]/column for the cells of tables, as in "algorithmic-lstm/copy", and otherwise plain lower-case words
// with hyphens, as in "own-pairs".
package recipes

import (
	"fmt"

	"universal-transformer/experiment"
	"universal-transformer/internal/strictjson"
)

// A Recipe is a trainable configuration with a name.
type Recipe struct {
	Name    string                // as in "algorithmic-lstm/copy"
	Group   string                // what it belongs to: "start", "own data", "table 1", ...
	Summary string                // one line
	Expect  string                // published accuracy and time: "0.991 at length 400, 48 minutes"; empty if none was published
	From    string                // name of the recipe whose weights training starts from; empty for random weights
	Needs   []Need                // data that the user must get
	Run     func() experiment.Run // the complete run, with data paths at their defaults; its Name is the recipe's
}

// A Need is a file or folder of data that a recipe reads.
type Need struct {
	Name    string // short name, as in "prose"
	Field   string // field of the run that holds the path, as in "task.prose"
	File    string // file below the path that must exist; empty: the path itself
	Default string // default path
	Usage   string // what it is, and where it comes from
}

// All returns every recipe, grouped, in the order in which to list them.
func All() []Recipe { return nil }

// Named returns the recipe of a name. The error for an unknown name offers the nearest one.
func Named(name string) (Recipe, error) {
	var names []string
	for _, r := range All() {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	if near, ok := strictjson.Nearest(name, names); ok {
		return Recipe{}, fmt.Errorf("recipe %q is not known: did you mean %q?", name, near)
	}
	return Recipe{}, fmt.Errorf("recipe %q is not known", name)
}
