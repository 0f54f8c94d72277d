// Package recipes is the catalogue of trainable configurations: those of the cells of the paper's tables, and starting points for your own
// data. Every recipe of a table is defined once, with all of its training fields, in the file of its table or family. None derives from
// [experiment.DefaultsFor], so that a change of the defaults changes no published number; those for your own data are the defaults.
//
// In a table, a recipe is its column's run changed by its row: a baseline inherits the schedule and the number of updates of its column,
// unless its row changes them.
//
// The name of a recipe is family[-variant]/column for the cells of tables, as in "algorithmic-lstm/copy", and otherwise lower-case words with
// hyphens, as in "own-pairs".
package recipes

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"universal-transformer/experiment"
	"universal-transformer/internal/strictjson"
)

// A Recipe is a trainable configuration with a name.
type Recipe struct {
	Name    string                // as in "algorithmic-lstm/copy"
	Group   string                // heading in lists: "start", "own data", "table 1", ...
	Summary string                // one line
	Expect  string                // published accuracy and processor time: "0.991 at length 400; 48 minutes of processor time"; empty if none was published
	From    string                // name of the recipe whose weights training starts from; empty for random weights
	Needs   []Need                // data that the user must get
	Run     func() experiment.Run // the complete run, with data paths at their defaults; its Name is the recipe's
}

// A Need is a file or folder of data that a recipe reads.
type Need struct {
	Name    string // short name, as in "prose"
	Field   string // field of the run that holds the path, as in "task.prose"
	File    string // the field holds the path of this file below the need's path; empty: the path itself
	Default string // default path; empty: none is needed
	Usage   string // what it is
}

// Family returns the common part of the names of a row's recipes: "algorithmic-lstm".
func (r Recipe) Family() string {
	family, _, _ := strings.Cut(r.Name, "/")
	return family
}

// All returns every recipe, grouped, in the order in which to list them.
func All() []Recipe { return slices.Clone(catalogue()) }

// catalogue makes the list once: commands look up many names.
var catalogue = sync.OnceValue(func() []Recipe {
	list := slices.Concat(start(), ownData(), table1(), table2(), table3(), table4(), table5(), table6(), table7())
	for i, r := range list {
		if list[i].Expect == "" {
			list[i].Expect = expected[r.Name]
		}
		list[i].Run = func() experiment.Run {
			run := r.Run()
			run.Name = r.Name
			if r.From != "" {
				run.Training.Pretrained = filepath.Join("runs", filepath.FromSlash(r.From))
			}
			return run
		}
	}
	return list
})

// groupTitles describes the tables.
var groupTitles = map[string]string{
	"table 1": "bAbI question answering (section 3.1)",
	"table 2": "subject-verb agreement (section 3.2)",
	"table 3": "LAMBADA, last words of passages (section 3.3)",
	"table 4": "copy, reverse and addition, trained to length 40, tested at 400 (section 3.4)",
	"table 5": "learning to execute: numbers of up to 55 digits (section 3.5)",
	"table 6": "learning to execute: programs (section 3.5)",
	"table 7": "translation, English to German (section 3.6)",
}

// GroupTitle returns the description of a group, or "" if its name suffices.
func GroupTitle(group string) string { return groupTitles[group] }

// FamilyExpect returns the published accuracy and processor time of a large family, on average, or "" if none was published.
func FamilyExpect(family string) string { return expected[family] }

// Named returns the recipe with a name. The error for an unknown name suggests the nearest one; the error for a name of an earlier version
// gives the present name.
func Named(name string) (Recipe, error) {
	for _, r := range catalogue() {
		if r.Name == name {
			return r, nil
		}
	}
	return Recipe{}, unknown(name)
}

// unknown returns the error for a name without a recipe.
func unknown(name string) error {
	var names []string
	for _, r := range catalogue() {
		names = append(names, r.Name)
	}
	if now, ok := renamed[name]; ok {
		return fmt.Errorf("recipe %s is now called %s", name, now)
	}
	if columns := familyColumns(name); columns != "" {
		return fmt.Errorf("recipe %q is incomplete: choose one of %s", name, columns)
	}
	family := Recipe{Name: name}.Family()
	if columns := familyColumns(family); columns != "" && strings.Contains(name, "/") {
		if near, ok := strictjson.Nearest(name, names); !ok || !strings.HasPrefix(near, family+"/") {
			return fmt.Errorf("recipe %q is not known: choose one of %s", name, columns)
		}
	}
	if near, ok := strictjson.Nearest(name, slices.Concat(names, slices.Sorted(maps.Keys(renamed)))); ok {
		if now, ok := renamed[near]; ok {
			near = now
		}
		return fmt.Errorf("recipe %q is not known: did you mean %q?", name, near)
	}
	return fmt.Errorf("recipe %q is not known: there are %d, such as %s and %s", name, len(names), names[0], names[len(names)-1])
}

// MustRun returns the run of the recipe with a name. It panics if there is none, as names in the program are constants.
func MustRun(name string) experiment.Run {
	r, err := Named(name)
	if err != nil {
		panic(fmt.Sprintf("recipes: %v", err))
	}
	return r.Run()
}

// familyColumns describes the recipes of a family, or returns "" if there is no such family.
func familyColumns(family string) string {
	var names []string
	for _, r := range catalogue() {
		if r.Family() == family {
			names = append(names, r.Name)
		}
	}
	if len(names) > 6 {
		return names[0] + " to " + names[len(names)-1]
	}
	return strings.Join(names, ", ")
}

// renamed maps names of version 0.2 to present ones. Names whose configuration no table uses are mapped to the recipe that replaced them:
// agreement, agreement-classes and the same with dynamic halting lacked the inserted phrases of table 2; copy-lstm and copy-transformer
// were not the baselines of table 4.
var renamed = map[string]string{
	"base": "own-pairs", "text": "own-text", "translation": "own-translation",
	"copy": "algorithmic/copy", "reverse": "algorithmic/reverse", "addition": "algorithmic/addition",
	"copy-paper": "algorithmic-paper/copy", "reverse-paper": "algorithmic-paper/reverse", "addition-paper": "algorithmic-paper/addition",
	"copy-paper-adaptive": "algorithmic-paper-adaptive/copy", "reverse-paper-adaptive": "algorithmic-paper-adaptive/reverse",
	"addition-paper-adaptive": "algorithmic-paper-adaptive/addition",
	"copy-transformer":        "algorithmic-transformer/copy", "copy-lstm": "algorithmic-lstm/copy", "copy-neural-gpu": "algorithmic-neural-gpu/copy",
	"babi":         "babi-10k-single/task01",
	"execute-copy": "memory/copy", "execute-copy-adaptive": "memory-adaptive/copy",
	"execute-double": "memory/double", "execute-double-adaptive": "memory-adaptive/double",
	"execute-reverse": "memory/reverse", "execute-reverse-adaptive": "memory-adaptive/reverse",
	"execute-program": "programs/program", "execute-program-wide": "programs-wide/program", "execute-program-large": "programs-large/program",
	"execute-program-adaptive": "programs-adaptive/program",
	"execute-control":          "programs/control", "execute-control-wide": "programs-wide/control", "execute-control-little-end": "programs-little-end/control",
	"execute-control-adaptive": "programs-adaptive/control",
	"execute-addition":         "programs/addition", "execute-addition-adaptive": "programs-adaptive/addition",
	"agreement": "agreement/natural-text", "agreement-adaptive": "agreement-adaptive/natural-text",
	"agreement-classes": "agreement/natural-classes", "agreement-classes-adaptive": "agreement-adaptive/natural-classes",
	"lambada": "lambada/language", "lambada-adaptive": "lambada-adaptive/language",
	"lambada-reading": "lambada/reading", "lambada-reading-adaptive": "lambada-adaptive/reading", "lambada-reading-annotated": "lambada/annotated",
	"lambada-paper": "lambada-paper/language", "lambada-reading-paper": "lambada-paper/reading",
	"multi30k": "translation/multi30k", "multi30k-adaptive": "translation-adaptive/multi30k", "multi30k-tiny": "translation-tiny/multi30k",
	"multi30k-raw": "translation/multi30k-raw", "translate-news": "translation/news", "translate-tatoeba": "translation/tatoeba",
	"translate_wmt14": "translation-paper/wmt14",
}
