// Package repository_test checks that the repository is as its documents say: who may import whom (deps_test.go), where
// the paper's equations, tables and figures are (paper_test.go), and that every command the documents name exists
// (commands_test.go). Everything is read from source, so that a broken rule names its place.
package repository_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module. Tests name files by their paths in it.
const root = "../.."

// A sourceFile is one Go file of the tree, parsed. Files of every build tag and platform are there.
type sourceFile struct {
	path    string // "universal/step.go"
	lines   []string
	imports []string
	syntax  *ast.File
}

// folder is the file's package as the rules name it; "." for the root.
func (f sourceFile) folder() string { return path.Dir(f.path) }

// sources reads all Go files but tests and testdata.
func sources(t *testing.T) []sourceFile {
	t.Helper()
	return goFiles(t, false)
}

// goFiles reads all Go files but testdata, with or without tests.
func goFiles(t *testing.T, tests bool) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains([]string{"testdata", "bin", "runs"}, entry.Name()) || isModule(name)) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) == ".go" && (tests || !strings.HasSuffix(name, "_test.go")) {
			files = append(files, parse(t, name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no Go files: the test does not run in the repository")
	}
	return files
}

// isModule reports whether a folder is a module of its own, as the examples are.
func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(root, folder, "go.mod"))
	return err == nil
}

func parse(t *testing.T, name string) sourceFile {
	t.Helper()
	text := read(t, name)
	syntax, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	file := sourceFile{path: filepath.ToSlash(name), lines: strings.Split(text, "\n"), syntax: syntax}
	for _, spec := range syntax.Imports {
		file.imports = append(file.imports, strings.Trim(spec.Path.Value, `"`))
	}
	return file
}

func read(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// declares reports whether the file declares the name: "Config", "newStack", or a method as "Config.Validate".
func (f sourceFile) declares(name string) bool {
	for _, declaration := range f.syntax.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if qualified(d) == name {
				return true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.Name == name {
						return true
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name }) {
						return true
					}
				}
			}
		}
	}
	return false
}

// qualified is a function's name, with its receiver's type in front if it has one.
func qualified(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	receiver := d.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if generic, ok := receiver.(*ast.IndexExpr); ok {
		receiver = generic.X
	}
	if id, ok := receiver.(*ast.Ident); ok {
		return id.Name + "." + d.Name.Name
	}
	return d.Name.Name
}
