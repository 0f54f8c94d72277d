package repository_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"testing"
)

// No name that the module's Go files declare, tests included, is that of a builtin. Fields and methods shadow nothing.
// Caught when planted: a variable, a parameter, a result, a constant, a function, a type, a type parameter and a variable of a loop.
func TestNothingShadowsABuiltin(t *testing.T) {
	for _, f := range goFiles(t, true) {
		for _, name := range declared(f.syntax) {
			if types.Universe.Lookup(name) != nil {
				t.Errorf("%s: %s shadows a builtin", f.path, name)
			}
		}
	}
}

// declared lists the names that a file declares, but for fields, methods and imports.
func declared(file *ast.File) (names []string) {
	add := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
	}
	parameters := func(lists ...*ast.FieldList) {
		for _, list := range lists {
			for i := 0; list != nil && i < len(list.List); i++ {
				for _, id := range list.List[i].Names {
					add(id)
				}
			}
		}
	}
	for node := range ast.Preorder(file) {
		switch n := node.(type) {
		case *ast.FuncDecl:
			if parameters(n.Recv); n.Recv == nil {
				add(n.Name)
			}
		case *ast.FuncType:
			parameters(n.TypeParams, n.Params, n.Results)
		case *ast.TypeSpec:
			parameters(n.TypeParams)
			add(n.Name)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				add(id)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				add(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key, n.Value)
			}
		}
	}
	return names
}
