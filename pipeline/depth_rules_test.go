package pipeline_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/pipeline"
)

// endingTypes returns the names of the types of package halting with a method Ends, which its exit rules have.
func endingTypes(t *testing.T) (names []string) {
	t.Helper()
	paths, err := filepath.Glob("../halting/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, d := range file.Decls {
			if method, ok := d.(*ast.FuncDecl); ok && method.Recv != nil && method.Name.Name == "Ends" {
				names = append(names, method.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	return names
}

// Every exit rule of package halting is in the table that flags, requests and evaluation at many depths are made from, under its own name,
// and all texts are there. Caught when planted: a rule without a row; a row with another rule's name; a row without a text.
func TestDepthRulesHaveEveryExitRule(t *testing.T) {
	var listed []string
	for _, r := range pipeline.DepthRules {
		if r.Legend == "" || r.Effect == "" || r.Measure == "" || r.Whole != strings.Contains(r.Effect+r.Measure, "steps") {
			t.Errorf("%s: the row is %+v", r.Name, r)
		}
		if e := r.Exit(1); e.Rule != nil {
			listed = append(listed, reflect.TypeOf(e.Rule).Name())
			if e.Rule.Name() != r.Name {
				t.Errorf("the row of rule %s is named %s", e.Rule.Name(), r.Name)
			}
		}
	}
	types := endingTypes(t)
	if slices.Sort(types); len(types) < 3 {
		t.Fatalf("package halting has only the exit rules %q", types)
	}
	if slices.Sort(listed); !slices.Equal(listed, types) {
		t.Errorf("DepthRules has the exit rules %q, package halting %q", listed, types)
	}
}
