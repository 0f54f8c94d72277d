package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goroot returns the folder of the Go installation, whose standard library has real sentences and a book.
func goroot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("%w: a Go installation", errMissing)
	}
	return strings.TrimSpace(string(out)), nil
}

// saveText writes the first 250,000 bytes of Newton's Opticks (1704, the public domain), which the Go installation has as a test file.
func saveText(d dataset, dir string) error {
	root, err := goroot()
	if err != nil {
		return err
	}
	book, err := os.ReadFile(filepath.Join(root, "src", "testdata", "Isaac.Newton-Opticks.txt"))
	if err != nil || len(book) < 250_000 {
		return fmt.Errorf("%w: src/testdata/Isaac.Newton-Opticks.txt of the Go installation", errMissing)
	}
	return save(dir, "text.txt", strings.ToValidUTF8(string(book[:250_000]), ""))
}

// topics are folders of Go's standard library; the class of a sentence is the folder that it documents.
var topics = []string{"crypto", "go", "net", "encoding", "runtime", "math"}

// perTopic is the number of sentences of a class.
const perTopic = 500

// saveDocs writes the first sentences of the documentation of exported names, without the name, and their topic.
func saveDocs(d dataset, dir string) error {
	root, err := goroot()
	if err != nil {
		return err
	}
	rng := d.rng()
	var rows [][]string
	for _, topic := range topics {
		sentences, err := documented(filepath.Join(root, "src", topic))
		if err != nil || len(sentences) < perTopic {
			return fmt.Errorf("%w: the comments of src/%s of the Go installation (%d sentences)", errMissing, topic, len(sentences))
		}
		shuffle(rng, sentences)
		for _, s := range sentences[:perTopic] {
			rows = append(rows, []string{s, topic})
		}
	}
	shuffle(rng, rows)
	return saveLabeled(d, dir, rows, 600)
}

func shuffle[T any](rng *rand.Rand, list []T) {
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// documented returns the different sentences of a folder and those below it, sorted.
func documented(dir string) ([]string, error) {
	var list []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Doc != nil {
				list = append(list, sentence(f.Name.Name, f.Doc.Text())...)
			}
		}
		return nil
	})
	slices.Sort(list)
	return slices.Compact(list), err
}

// sentence returns the first sentence of a comment without the name that it begins with, if 4 to 30 words are left.
func sentence(name, comment string) []string {
	s := strings.Join(strings.Fields(new(doc.Package).Synopsis(comment)), " ")
	s, ok := strings.CutPrefix(s, name+" ")
	if n := len(strings.Fields(s)); !ok || n < 4 || n > 30 {
		return nil
	}
	return []string{s}
}
