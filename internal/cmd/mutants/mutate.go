package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"path"
	"strings"
)

// The kinds of mutants.
const (
	operatorKind  = "operator"  // another operator: + for -, <= for <
	conditionKind = "condition" // an inverted condition of if or for
	constantKind  = "constant"  // a number increased by one
	statementKind = "statement" // a removed statement
)

// A mutant is one small change of one source file.
type mutant struct {
	File     string // slash-separated, below the root
	Function string // "Type.Method", "Function", or the name of a variable or constant
	Kind     string
	Ordinal  int // of the mutants of this kind in the function, from 1
	Line     int

	start, end  int    // bytes of the file
	was, become string // their content
}

// ID names the mutant. It contains the changed text instead of a line number, so that it stays valid while other code changes.
func (m mutant) ID() string {
	become := m.become
	if become == "" {
		become = "nothing"
	}
	return fmt.Sprintf("%s %s %s %d: %s -> %s", m.File, m.Function, m.Kind, m.Ordinal, oneLine(m.was), oneLine(become))
}

// Apply returns the file's content with the change.
func (m mutant) Apply(source []byte) []byte {
	changed := append([]byte(nil), source[:m.start]...)
	changed = append(changed, m.become...)
	return append(changed, source[m.end:]...)
}

// oneLine shortens code to a piece of one line.
func oneLine(code string) string {
	const longest = 70
	code = strings.Join(strings.Fields(code), " ")
	if runes := []rune(code); len(runes) > longest {
		code = string(runes[:longest]) + "..."
	}
	return code
}

// ofPackage lists the mutants of the non-test files of a package that are built on this system.
func ofPackage(root, dir string) ([]mutant, error) {
	p, err := build.Default.ImportDir(path.Join(root, dir), 0)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range p.GoFiles {
		file := path.Join(dir, name)
		source, err := os.ReadFile(path.Join(root, file))
		if err != nil {
			return nil, err
		}
		list, err := ofFile(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// ofFile lists the mutants of a file in the order of its syntax tree.
func ofFile(name string, source []byte) ([]mutant, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, name, source, 0)
	if err != nil {
		return nil, err
	}
	c := &collector{name: name, source: source, files: files, counts: map[string]int{}, skipped: map[ast.Node]bool{}}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			c.function = functionName(d)
			ast.Inspect(d, c.visit)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					c.function = v.Names[0].Name
					ast.Inspect(v, c.visit)
				}
			}
		}
	}
	return c.found, nil
}

// functionName returns "Type.Method" or "Function".
func functionName(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.Ident:
			return of.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// A collector gathers the mutants of one file.
type collector struct {
	name     string
	source   []byte
	files    *token.FileSet
	function string
	counts   map[string]int // mutants of a function and kind
	skipped  map[ast.Node]bool
	found    []mutant
}

// visit adds the mutants of a node, unless no value of the node affects what the program computes.
func (c *collector) visit(n ast.Node) bool {
	if c.skipped[n] {
		return false
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		if at := withoutEffect(n); at != nil {
			c.skipped[at] = true
		}
	case *ast.BinaryExpr:
		c.operator(n.OpPos, n.Op)
	case *ast.IncDecStmt:
		c.operator(n.TokPos, n.Tok)
		c.drop(n)
	case *ast.AssignStmt:
		c.operator(n.TokPos, n.Tok)
		if n.Tok != token.DEFINE && !discards(n) {
			c.drop(n)
		}
	case *ast.IfStmt:
		c.invert(n.Cond)
	case *ast.ForStmt:
		c.invert(n.Cond)
	case *ast.BasicLit:
		c.shift(n)
	case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt, *ast.SendStmt:
		c.drop(n)
	case *ast.ImportSpec, *ast.Field: // types and struct tags
		return false
	}
	return true
}

// withoutEffect returns the part of a call whose mutants are equivalent, or at most panic: the capacity of an empty slice or of a map,
// make([]T, 0, n) and make(map[K]V, n), and the index in list[i].Graph(), because all nodes of a list belong to one graph.
func withoutEffect(call *ast.CallExpr) ast.Node {
	if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "make" {
		switch last := call.Args[len(call.Args)-1]; call.Args[0].(type) {
		case *ast.ArrayType:
			if length, ok := call.Args[1].(*ast.BasicLit); ok && length.Value == "0" && len(call.Args) == 3 {
				return last
			}
		case *ast.MapType:
			if len(call.Args) == 2 {
				return last
			}
		}
	}
	if method, ok := call.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Graph" {
		if list, ok := method.X.(*ast.IndexExpr); ok {
			return list.Index
		}
	}
	return nil
}

// discards reports whether an assignment only marks a value as unused.
func discards(s *ast.AssignStmt) bool {
	for _, to := range s.Lhs {
		if name, ok := to.(*ast.Ident); !ok || name.Name != "_" {
			return false
		}
	}
	_, call := s.Rhs[0].(*ast.CallExpr)
	return !call
}

// operators maps an operator to its replacement.
var operators = map[token.Token]token.Token{
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ, token.NEQ: token.EQL,
	token.LAND: token.LOR, token.LOR: token.LAND, token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND,
	token.SHL: token.SHR, token.SHR: token.SHL, token.INC: token.DEC, token.DEC: token.INC,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN, token.QUO_ASSIGN: token.MUL_ASSIGN,
	token.OR_ASSIGN: token.AND_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.XOR_ASSIGN: token.AND_ASSIGN,
}

func (c *collector) operator(at token.Pos, op token.Token) {
	if other, ok := operators[op]; ok {
		c.add(operatorKind, at, at+token.Pos(len(op.String())), other.String())
	}
}

// invert negates a condition, unless changing its operator does the same.
func (c *collector) invert(cond ast.Expr) {
	if b, ok := cond.(*ast.BinaryExpr); cond == nil || ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	c.add(conditionKind, cond.Pos(), cond.End(), "!("+c.text(cond.Pos(), cond.End())+")")
}

// shift adds 1 to a number.
func (c *collector) shift(n *ast.BasicLit) {
	switch n.Kind {
	case token.INT:
		if i, ok := new(big.Int).SetString(n.Value, 0); ok {
			c.add(constantKind, n.Pos(), n.End(), i.Add(i, big.NewInt(1)).String())
		}
	case token.FLOAT:
		c.add(constantKind, n.Pos(), n.End(), "(1 + "+n.Value+")")
	}
}

// drop removes a statement.
func (c *collector) drop(n ast.Node) { c.add(statementKind, n.Pos(), n.End(), "") }

func (c *collector) add(kind string, start, end token.Pos, become string) {
	key := c.function + " " + kind
	c.counts[key]++
	from, to := c.files.Position(start), c.files.Position(end)
	c.found = append(c.found, mutant{
		File: c.name, Function: c.function, Kind: kind, Ordinal: c.counts[key], Line: from.Line,
		start: from.Offset, end: to.Offset, was: c.text(start, end), become: become,
	})
}

func (c *collector) text(start, end token.Pos) string {
	return string(c.source[c.files.Position(start).Offset:c.files.Position(end).Offset])
}
