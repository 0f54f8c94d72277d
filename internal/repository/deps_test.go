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
type rule struct {
	own, others []string
	row         int // in the table, from the top
}

// external is what the last column of the table means.
var external = map[string]string{
	"GoMLX":              "github.com/gomlx/gomlx/... github.com/gomlx/compute/...",
	"compute":            "github.com/gomlx/compute/...",
	"compute-onnx":       "github.com/gomlx/compute-onnx github.com/gomlx/compute-onnx/...",
	"go-xla":             "github.com/gomlx/go-xla/...",
	"klog":               "k8s.io/klog/v2",
	"cobra":              "github.com/spf13/cobra github.com/spf13/pflag",
	"x/sys":              "golang.org/x/sys/cpu",
	"x/term":             "golang.org/x/term",
	"x/tools":            "golang.org/x/tools/go/packages",
	"x/text":             "golang.org/x/text/...",
	"testscript":         "github.com/rogpeppe/go-internal/testscript",
	"pkg/errors":         "github.com/pkg/errors",
	"xz":                 "github.com/ulikunitz/xz",
	"progressbar":        "github.com/schollz/progressbar/v3",
	"chromedp":           "github.com/chromedp/chromedp github.com/chromedp/cdproto/...",
	"metrics":            "github.com/VictoriaMetrics/metrics",
	"cogentcore.org/lab": "cogentcore.org/lab/base/mpi",
}

// layers reads the table of CONTRIBUTING.md: package | purpose | may import | third party.
func layers(t testing.TB) map[string]rule {
	t.Helper()
	_, text, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\n## Layers\n")
	if !found {
		t.Fatal("CONTRIBUTING.md has no section Layers")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	table := map[string]rule{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || !strings.HasPrefix(strings.TrimSpace(cells[0]), "`") {
			continue
		}
		r := rule{row: len(table)}
		for _, name := range entries(cells[2]) {
			if name == "everything" {
				name = "..."
			}
			r.own = append(r.own, name)
		}
		for _, name := range entries(cells[3]) {
			paths, known := external[name]
			if !known {
				t.Errorf("CONTRIBUTING.md: %q is not a known third-party package", name)
			}
			r.others = append(r.others, strings.Fields(paths)...)
		}
		table[strings.Trim(strings.TrimSpace(cells[0]), "`")] = r
	}
	return table
}

// entries are the names in a cell.
func entries(cell string) (names []string) {
	for _, name := range strings.Split(cell, ",") {
		if name = strings.Trim(strings.TrimSpace(name), "`"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Every row may import rows below it only: arrows point down.
func TestArrowsPointDown(t *testing.T) {
	table := layers(t)
	if len(table) < 30 {
		t.Fatalf("%d rows: the table was not found", len(table))
	}
	for folder, r := range table {
		for _, name := range r.own {
			if name == "..." {
				continue
			}
			below, ok := ruleOf(table, name)
			if !ok || below.row <= r.row && name != folder {
				t.Errorf("%s may import %s, which has no row below it", folder, name)
			}
		}
	}
}

// withoutTensors never see a tensor, not even through a package between: their tests run in milliseconds.
var withoutTensors = []string{"internal/vocab", "task", "task/*", "internal/batch", "internal/score", "bleu", "subword", "runlog", "viewer", "internal/parallel"}

func TestImports(t *testing.T) {
	table := layers(t)
	for _, file := range sources(t) {
		for _, problem := range problems(table, file.folder(), file.imports) {
			t.Errorf("%s: %s", file.path, problem)
		}
	}
}

// What a row lists is imported somewhere: a table of what might be would say little.
func TestNothingIsListedInVain(t *testing.T) {
	imported := map[string]map[string]bool{}
	for _, file := range sources(t) {
		for _, key := range []string{file.folder(), path.Dir(file.folder()) + "/*"} {
			if imported[key] == nil {
				imported[key] = map[string]bool{}
			}
			for _, name := range file.imports {
				own := ownPath(name)
				imported[key][own], imported[key][path.Dir(own)+"/*"] = true, true
			}
		}
	}
	for folder, r := range layers(t) {
		for _, name := range r.own {
			if name != "..." && !imported[folder][name] {
				t.Errorf("CONTRIBUTING.md: %s lists %s, but does not import it", folder, name)
			}
		}
	}
}

// problems says which imports of a package break its rule.
func problems(table map[string]rule, folder string, imports []string) []string {
	r, ok := ruleOf(table, folder)
	if !ok {
		return []string{fmt.Sprintf("package %s has no row in the layers of CONTRIBUTING.md", folder)}
	}
	var found []string
	for _, name := range imports {
		allowed := true
		if own := ownPath(name); own != name {
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

// ownPath returns the folder of a package of this module, as rows name it, and the import path of any other package.
func ownPath(name string) string {
	if name == module {
		return "."
	}
	return strings.TrimPrefix(name, module+"/")
}

// ruleOf finds the rule of a folder: its own, or that of all folders below the parent.
func ruleOf(table map[string]rule, folder string) (rule, bool) {
	r, ok := table[folder]
	if !ok {
		r, ok = table[path.Dir(folder)+"/*"]
	}
	return r, ok
}

// covered reports whether a list of paths, some ending in /... or /*, covers name.
func covered(name string, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		below, tree := strings.CutSuffix(entry, "...")
		return name == strings.TrimSuffix(below, "/") || tree && strings.HasPrefix(name, below) || entry == path.Dir(name)+"/*"
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
	table := layers(t)
	for _, test := range []struct {
		folder, imported string
		allowed          bool
	}{
		{"internal/vocab", "fmt", true}, {"internal/vocab", module + "/task", false}, {"internal/vocab", "github.com/gomlx/gomlx/core/graph", false},
		{"task/algorithmic", module + "/internal/vocab", true}, {"task/algorithmic", module + "/universal", false},
		{"internal/batch", module + "/universal", false}, {"universal", module + "/task", false}, {"universal", module + "/training", false},
		{"universal", module + "/halting", true}, {"halting", module + "/universal", false},
		{"halting", "github.com/gomlx/gomlx/core/graph", true}, {"cpu", "github.com/gomlx/gomlx/core/graph", false},
		{"cpu", "github.com/gomlx/compute", true}, {"cpu", "github.com/gomlx/computer", false}, {"cpu", module + "/universal", false},
		{"viewer", module + "/runlog", false}, {"decoding", module + "/task", false}, {"cmd/ut", module + "/viewer", true},
		{"nowhere", "fmt", false}, {"training", module + "/task/table", false},
	} {
		if got := len(problems(table, test.folder, []string{test.imported})) == 0; got != test.allowed {
			t.Errorf("%s imports %s: allowed %v, want %v", test.folder, test.imported, got, test.allowed)
		}
	}
}
