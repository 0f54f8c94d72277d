package repository_test

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// CONTRIBUTING.md lists the exported interfaces, apart from those of packages below internal and of the cpu backend, and no others.
// Caught when planted: an interface without an entry, an entry without an interface.
func TestInterfaces(t *testing.T) {
	var have []string
	for _, f := range sources(t) {
		if folder := f.folder() + "/"; strings.HasPrefix(folder, "cpu/") || strings.Contains("/"+folder, "/internal/") {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.InterfaceType); ok {
					have = append(have, f.syntax.Name.Name+"."+spec.Name.Name)
				}
			}
			return true
		})
	}
	_, list, found := strings.Cut(read(t, "CONTRIBUTING.md"), "\nThe exported interfaces")
	list, _, ended := strings.Cut(list, "A new one needs a reason")
	if !found || !ended {
		t.Fatal("CONTRIBUTING.md has no list of the exported interfaces")
	}
	listed := map[string]bool{}
	for _, entry := range regexp.MustCompile("`([a-z]+\\.[A-Z][A-Za-z]*)`").FindAllStringSubmatch(list, -1) {
		if listed[entry[1]] = true; !slices.Contains(have, entry[1]) {
			t.Errorf("CONTRIBUTING.md lists %s, which is no exported interface", entry[1])
		}
	}
	for _, name := range have {
		if !listed[name] {
			t.Errorf("CONTRIBUTING.md does not list %s", name)
		}
	}
}
