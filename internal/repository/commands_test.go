package repository_test

import (
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documents returns what people copy commands from. The log is left out: its commands are those of earlier versions.
func documents(t *testing.T) (names []string) {
	for _, pattern := range []string{"*.md", "docs/*.md", "models/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			if name = filepath.ToSlash(name); name != "docs/log.md" {
				names = append(names, name)
			}
		}
	}
	if !slices.Contains(names, "README.md") || !slices.Contains(names, "docs/depth.md") {
		t.Fatalf("found only %v", names)
	}
	return names
}

var (
	fenced      = regexp.MustCompile("(?ms)^```.*?^```")
	inline      = regexp.MustCompile("`[^`\n]+`")
	makeCommand = regexp.MustCompile(`(?m)(?:^|[\s;&|$(` + "`" + `])make((?:[ \t]+[A-Za-z][\w-]*=?\S*)+)`)
	utCommand   = regexp.MustCompile(`(?m)(?:^|[\s;&|$(/` + "`" + `])ut[ \t]+([a-z][\w-]*)`)
	goPackage   = regexp.MustCompile(`(?m)(?:^|[\s"'=])\./([a-z][\w/-]*)`)
	makeTarget  = regexp.MustCompile(`(?m)^([a-z][\w-]*):(?:[^=]|$)`)
)

// code is the parts of a Markdown text that are code: fenced blocks and inline spans.
func code(markdown string) string {
	blocks := fenced.FindAllString(markdown, -1)
	spans := inline.FindAllString(fenced.ReplaceAllString(markdown, ""), -1)
	return strings.Join(append(blocks, spans...), "\n")
}

// targets is what make can build.
func targets(makefile string) map[string]bool {
	found := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(makefile, -1) {
		found[m[1]] = true
	}
	return found
}

// unknownTargets are the targets a document asks make for that the Makefile does not have.
func unknownTargets(markdown string, have map[string]bool) []string {
	var unknown []string
	for _, m := range makeCommand.FindAllStringSubmatch(code(markdown), -1) {
		for _, word := range strings.Fields(m[1]) {
			if name := strings.Trim(word, "`.,;)"); !strings.Contains(name, "=") && !have[name] {
				unknown = append(unknown, name)
			}
		}
	}
	return unknown
}

// subcommands is what cmd/ut offers: the first word of every Use. help and completion come with cobra.
func subcommands(t *testing.T) map[string]bool {
	found := map[string]bool{"help": true, "completion": true}
	for _, file := range sources(t) {
		if file.folder() != "cmd/ut" {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			key, isName := pair.Key.(*ast.Ident)
			value, isLiteral := pair.Value.(*ast.BasicLit)
			if isName && isLiteral && key.Name == "Use" {
				if use, err := strconv.Unquote(value.Value); err == nil && use != "" {
					found[strings.Fields(use)[0]] = true
				}
			}
			return true
		})
	}
	return found
}

func TestDocumentedCommandsExist(t *testing.T) {
	have, offered := targets(read(t, "Makefile")), subcommands(t)
	for _, name := range documents(t) {
		text := read(t, name)
		for _, target := range unknownTargets(text, have) {
			t.Errorf("%s: the Makefile has no target %s", name, target)
		}
		for _, m := range utCommand.FindAllStringSubmatch(code(text), -1) {
			if !offered[m[1]] {
				t.Errorf("%s: ut has no subcommand %s", name, m[1])
			}
		}
	}
}

// Packages that scripts build, test or run exist. Caught when planted: the former name of a package.
func TestPackagesOfScriptsExist(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(scripts, filepath.Join(root, "Makefile"), filepath.Join(root, ".ci", "run")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range goPackage.FindAllSubmatch(text, -1) {
			name := strings.TrimSuffix(string(m[1]), "/")
			if strings.HasPrefix(name, "bin/") { // built by make
				continue
			}
			found++
			if sources, err := filepath.Glob(filepath.Join(root, name, "*")); err != nil || len(sources) == 0 {
				t.Errorf("%s: there is no package ./%s", file, name)
			}
		}
	}
	if found < 20 {
		t.Errorf("found %d packages in scripts, want at least 20", found)
	}
}

// testPattern is the pattern of a go test command and its package.
var testPattern = regexp.MustCompile(`(?m)-(?:run|skip) '\^(?:Test)?\(?([A-Za-z|]+)\)?\$[^']*'.* (\.(?:/[\w/]+)?)( #.*)?$`)

// Tests that scripts choose by name exist in the package they name. Caught when planted: a test that was renamed; a test of another package.
func TestTestsOfScriptsExist(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join(root, "scripts", "*.sh"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range scripts {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testPattern.FindAllStringSubmatch(string(text), -1) {
			have := testsOf(t, m[2])
			for name := range strings.SplitSeq(m[1], "|") {
				found++
				if name = "Test" + strings.TrimPrefix(name, "Test"); !slices.Contains(have, name) {
					t.Errorf("%s: %s has no %s", file, m[2], name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("found %d names of tests in scripts, want at least 40", found)
	}
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// testsOf are the names of the tests in a folder.
func testsOf(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func TestMakefileTargets(t *testing.T) {
	have := targets(read(t, "Makefile"))
	for _, name := range strings.Fields("help build demo test check golden bench") {
		if !have[name] {
			t.Errorf("the Makefile has no target %s", name)
		}
	}
}

// The checks above, on texts with commands that do and do not exist.
func TestCommandChecksBite(t *testing.T) {
	have := targets("GO := go\nbuild: ## x\n\tgo build\ntest: build\n")
	if len(have) != 2 || !have["build"] || !have["test"] {
		t.Fatalf("targets %v", have)
	}
	for text, want := range map[string]string{
		"```\nmake build\n```":           "",
		"```sh\n$ make demo && ls\n```":  "demo",
		"run `make test`, make haste":    "",
		"run `make golden GOLDEN=/tmp`":  "golden",
		"`make build test check` at end": "check",
		"we make words":                  "",
	} {
		if got := strings.Join(unknownTargets(text, have), " "); got != want {
			t.Errorf("%q: unknown %q, want %q", text, got, want)
		}
	}
	if m := utCommand.FindStringSubmatch(code("```\n./bin/ut train x\n```")); m == nil || m[1] != "train" {
		t.Errorf("./bin/ut train: found %v", m)
	}
	if m := utCommand.FindStringSubmatch(code("`input train`")); m != nil {
		t.Errorf("`input train`: found %v", m)
	}
}
