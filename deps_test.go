package repository_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "universal-transformer"

// A rule lists what the files of a package may import besides the standard library: packages of this module by
// folder, packages of others by path. An entry ending in /... covers everything below it.
type rule struct{ own, others string }

const (
	gomlx   = "github.com/gomlx/gomlx/... github.com/gomlx/compute/..."
	cobra   = "github.com/spf13/cobra github.com/spf13/pflag"
	model   = "universal halting"
	support = "internal/seed internal/strictjson internal/safetensors internal/progress"
)

// rules is the layer table of CONTRIBUTING.md: arrows point one way, and no package knows two trades. What is
// listed may be imported; nothing has to be. Rules for packages that do not exist do no harm.
var rules = map[string]rule{
	// Without tensors.
	"vocab":     {},
	"task":      {own: "vocab"},
	"task/*":    {own: "task task/... vocab internal/seed internal/strictjson"},
	"task/babi": {own: "task vocab internal/seed", others: "github.com/ulikunitz/xz"},
	"batch":     {own: "task vocab internal/seed"},
	"score":     {},
	"runlog":    {own: "internal/safetensors internal/strictjson internal/atomicfile"},
	"report":    {own: "internal/strictjson internal/atomicfile"},
	"viewer":    {},

	// The model.
	"halting":   {others: gomlx},
	"universal": {own: "halting internal/seed", others: gomlx},
	"baseline":  {own: "universal", others: gomlx},
	"objective": {own: "universal", others: gomlx},

	// What runs it.
	"parallel":   {others: gomlx + " github.com/gomlx/go-xla/... cogentcore.org/lab/base/mpi"},
	"training":   {own: model + " baseline batch objective parallel runlog internal/feed internal/capacity " + support, others: gomlx},
	"decoding":   {own: model + " vocab internal/feed " + support, others: gomlx},
	"evaluation": {own: model + " baseline decoding score batch task vocab runlog objective internal/feed internal/capacity " + support, others: gomlx},
	"experiment": {own: "training evaluation decoding objective batch score task task/... vocab runlog viewer report baseline internal/... " + model, others: gomlx},

	// The engine knows tensors, not transformers.
	"cpu": {others: "github.com/gomlx/compute/... github.com/pkg/errors"},

	// Tools.
	"internal/seed":        {},
	"internal/strictjson":  {},
	"internal/safetensors": {},
	"internal/atomicfile":  {},
	"internal/progress":    {others: "github.com/schollz/progressbar/v3 golang.org/x/term"},
	"internal/feed":        {own: "batch universal", others: gomlx},
	"internal/capacity":    {own: model + " batch", others: gomlx},
	"engine":               {own: "cpu", others: "github.com/gomlx/compute/... github.com/gomlx/go-xla/..."},
	"engine/*":             {own: "engine", others: "github.com/gomlx/compute"},
	"internal/golden":      {own: model + " objective internal/safetensors", others: gomlx},
	"internal/gradcheck":   {others: gomlx},
	"internal/bench":       {own: model + " decoding objective vocab internal/capacity", others: gomlx},
	"internal/cmd/golden":  {own: "engine internal/golden", others: gomlx},
	"internal/cmd/budget":  {},
	"internal/cmd/bench":   {},
	"cmd/ut":               {own: "...", others: gomlx + " " + cobra + " golang.org/x/term"},
}

// withoutTensors never see a tensor, not even through a package between: their tests run in milliseconds.
var withoutTensors = []string{"vocab", "task", "task/*", "batch", "score", "runlog", "report", "viewer"}

func TestImports(t *testing.T) {
	for _, file := range sources(t) {
		for _, problem := range problems(file.folder(), file.imports) {
			t.Errorf("%s: %s", file.path, problem)
		}
	}
}

// problems says which imports of a package break its rule.
func problems(folder string, imports []string) []string {
	r, ok := ruleOf(folder)
	if !ok {
		return []string{fmt.Sprintf("package %s has no rule in deps_test.go and no row in CONTRIBUTING.md", folder)}
	}
	var found []string
	for _, name := range imports {
		allowed := true
		if own, ok := strings.CutPrefix(name, module+"/"); ok {
			allowed = covered(own, r.own)
		} else if strings.Contains(strings.Split(name, "/")[0], ".") { // the standard library has no dot there
			allowed = covered(name, r.others)
		}
		if !allowed {
			found = append(found, fmt.Sprintf("%s may not import %s", folder, name))
		}
	}
	return found
}

// ruleOf finds the rule of a folder: its own, or that of all folders below the parent.
func ruleOf(folder string) (rule, bool) {
	r, ok := rules[folder]
	if !ok {
		r, ok = rules[path.Dir(folder)+"/*"]
	}
	return r, ok
}

// covered reports whether a list of paths, some ending in /..., covers name.
func covered(name, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(entry string) bool {
		below, tree := strings.CutSuffix(entry, "...")
		return name == strings.TrimSuffix(below, "/") || tree && strings.HasPrefix(name, below)
	})
}

// A rule that allowed a tensor-free package to import one with tensors would pass TestImports; so the closure of
// what is really imported is looked at too.
func TestWithoutTensors(t *testing.T) {
	imports := map[string][]string{}
	for _, file := range sources(t) {
		imports[file.folder()] = append(imports[file.folder()], file.imports...)
	}
	for folder := range imports {
		if !slices.Contains(withoutTensors, folder) && !slices.Contains(withoutTensors, path.Dir(folder)+"/*") {
			continue
		}
		if way := wayToTensors(imports, folder, map[string]bool{}); way != nil {
			t.Errorf("%s sees tensors: %s", folder, strings.Join(way, " -> "))
		}
	}
}

// wayToTensors is a chain of imports from a folder to GoMLX, nil if there is none.
func wayToTensors(imports map[string][]string, folder string, seen map[string]bool) []string {
	if seen[folder] {
		return nil
	}
	seen[folder] = true
	for _, name := range imports[folder] {
		if strings.HasPrefix(name, "github.com/gomlx/") {
			return []string{folder, name}
		}
		if own, ok := strings.CutPrefix(name, module+"/"); ok {
			if way := wayToTensors(imports, own, seen); way != nil {
				return append([]string{folder}, way...)
			}
		}
	}
	return nil
}

// The rules themselves, on imports that must be refused and that must pass.
func TestRulesBite(t *testing.T) {
	for _, test := range []struct {
		folder, imported string
		allowed          bool
	}{
		{"vocab", "fmt", true}, {"vocab", module + "/task", false}, {"vocab", "github.com/gomlx/gomlx/core/graph", false},
		{"task/algorithmic", module + "/vocab", true}, {"task/algorithmic", module + "/universal", false},
		{"batch", module + "/universal", false}, {"universal", module + "/task", false}, {"universal", module + "/training", false},
		{"universal", module + "/halting", true}, {"halting", module + "/universal", false},
		{"halting", "github.com/gomlx/gomlx/core/graph", true}, {"cpu", "github.com/gomlx/gomlx/core/graph", false},
		{"cpu", "github.com/gomlx/compute", true}, {"cpu", "github.com/gomlx/computer", false}, {"cpu", module + "/universal", false},
		{"viewer", module + "/runlog", false}, {"decoding", module + "/task", false}, {"cmd/ut", module + "/viewer", true},
		{"nowhere", "fmt", false}, {"training", module + "/task/table", false},
	} {
		if got := len(problems(test.folder, []string{test.imported})) == 0; got != test.allowed {
			t.Errorf("%s imports %s: allowed %v, want %v", test.folder, test.imported, got, test.allowed)
		}
	}
}

// The layer table people read and the one the test holds name the same packages.
func TestContributingNamesEveryPackage(t *testing.T) {
	text := read(t, "CONTRIBUTING.md")
	seen := map[string]bool{}
	for _, file := range sources(t) {
		folder := file.folder()
		if seen[folder] {
			continue
		}
		seen[folder] = true
		if !strings.Contains(text, "`"+folder+"`") {
			t.Errorf("CONTRIBUTING.md has no row for `%s`", folder)
		}
	}
}
