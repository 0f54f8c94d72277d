// Command budget measures the lengths of the files and functions of a tree. Long ones are reported; very long ones are errors. Tests,
// generated files and testdata are not counted, as a table of cases may be long.
//
// Usage: budget [dir]
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A limit is a number of lines: a finding above aim is reported, one above maximum is an error.
type limit struct{ aim, maximum int }

var (
	fileLimit     = limit{aim: 300, maximum: 700}
	functionLimit = limit{aim: 40, maximum: 120}
)

// A finding is one file or function above its aim.
type finding struct {
	place string // path:line
	name  string
	lines int
	limit limit
}

func (f finding) fails() bool { return f.lines > f.limit.maximum }

func main() {
	dir := "."
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	findings, err := measure(os.DirFS(dir))
	if err != nil {
		fmt.Fprintln(os.Stderr, "budget:", err)
		os.Exit(2)
	}
	if !report(os.Stdout, findings) {
		os.Exit(1)
	}
}

// measure walks the tree, skipping hidden folders, testdata and build output.
func measure(tree fs.FS) ([]finding, error) {
	var findings []finding
	err := fs.WalkDir(tree, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			name := entry.Name()
			if path != "." && (strings.HasPrefix(name, ".") || name == "testdata" || name == "vendor" || name == "bin" || name == "runs") {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		found, err := measureFile(path, text)
		findings = append(findings, found...)
		return err
	})
	slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(b.lines, a.lines) })
	return findings, err
}

// measureFile measures one file and its functions; a method counts under its own name.
func measureFile(path string, text []byte) ([]finding, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var findings []finding
	note := func(line int, name string, lines int, limit limit) {
		if lines > limit.aim {
			findings = append(findings, finding{fmt.Sprintf("%s:%d", path, line), name, lines, limit})
		}
	}
	note(1, "file", set.File(file.Pos()).LineCount(), fileLimit)
	for _, declaration := range file.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok {
			first, last := set.Position(function.Pos()).Line, set.Position(function.End()).Line
			note(first, function.Name.Name, last-first+1, functionLimit)
		}
	}
	return findings, nil
}

// report writes the findings, and returns whether all are within their limits.
func report(w io.Writer, findings []finding) bool {
	ok := true
	for _, f := range findings {
		verdict := "long"
		if f.fails() {
			verdict, ok = "too long", false
		}
		fmt.Fprintf(w, "%-8s %4d lines (aim %d, at most %d)  %s %s\n", verdict, f.lines, f.limit.aim, f.limit.maximum, f.place, f.name)
	}
	fmt.Fprintf(w, "budget: %d above the aim of %d lines per file and %d per function\n", len(findings), fileLimit.aim, functionLimit.aim)
	return ok
}
