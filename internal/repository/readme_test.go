package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goProgram = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// The programs of README and of the pages in docs compile, as they stand there. A block without a main function is a part of one.
func TestProgramsOfDocumentsCompile(t *testing.T) {
	for name, want := range map[string]int{"README.md": 1, "docs/embedding.md": 3, "docs/bleu.md": 1, "docs/subword.md": 1} {
		programs := 0
		for _, block := range goProgram.FindAllStringSubmatch(read(t, name), -1) {
			if !strings.Contains(block[1], "func main()") {
				continue
			}
			programs++
			source := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(source, []byte(block[1]), 0o644); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command("go", "vet", source).CombinedOutput(); err != nil {
				t.Errorf("program %d of %s: %v\n%s", programs, name, err, out)
			}
		}
		if programs != want {
			t.Errorf("%s has %d programs, want %d", name, programs, want)
		}
	}
}

var programWithOutput = regexp.MustCompile("(?ms)^```go\n(package main\n.*?)^```\n\n```text\n(.*?)^```")

// The programs of pages that show their output write it.
func TestProgramsOfDocumentsPrint(t *testing.T) {
	for _, name := range []string{"docs/bleu.md", "docs/subword.md"} {
		found := programWithOutput.FindStringSubmatch(read(t, name))
		if found == nil {
			t.Errorf("%s has no program with its output", name)
			continue
		}
		source := filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(source, []byte(found[1]), 0o644); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("go", "run", source).CombinedOutput(); err != nil || string(out) != found[2] {
			t.Errorf("%s: the program prints %q (%v), the page says %q", name, out, err, found[2])
		}
	}
}

// Set returns a changed run and leaves the one that it is asked of as it is, so documents show it with its results.
func TestDocumentsUseWhatSetReturns(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%v, %v", pages, err)
	}
	bare := regexp.MustCompile("(?m)(^|`)\\s*\\w+\\.Set\\(")
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if found := bare.Find(text); found != nil {
			t.Errorf("%s: %q without its results", page, found)
		}
	}
}
