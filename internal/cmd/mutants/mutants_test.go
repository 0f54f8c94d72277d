package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const example = `package p

// limit is a comment with 7 < 8 in it.
const limit = 3

func (s *stack) push(x int) int {
	_ = x
	if x < limit && s.ok {
		s.n += x
		s.top()
	}
	for i := 0; s.n != 2; i++ {
		defer s.top()
	}
	return 0x10 - x
}
`

// Every kind of mutant, in the order of the tree. Declarations with :=, comments and assignments to _ have none.
func TestMutantsOfFile(t *testing.T) {
	list, err := ofFile("p/p.go", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range list {
		got = append(got, m.ID())
	}
	want := []string{
		"p/p.go limit constant 1: 3 -> 4",
		"p/p.go stack.push condition 1: x < limit && s.ok -> !(x < limit && s.ok)",
		"p/p.go stack.push operator 1: && -> ||",
		"p/p.go stack.push operator 2: < -> <=",
		"p/p.go stack.push operator 3: += -> -=",
		"p/p.go stack.push statement 1: s.n += x -> nothing",
		"p/p.go stack.push statement 2: s.top() -> nothing",
		"p/p.go stack.push constant 1: 0 -> 1",
		"p/p.go stack.push operator 4: != -> ==",
		"p/p.go stack.push constant 2: 2 -> 3",
		"p/p.go stack.push operator 5: ++ -> --",
		"p/p.go stack.push statement 3: i++ -> nothing",
		"p/p.go stack.push statement 4: defer s.top() -> nothing",
		"p/p.go stack.push operator 6: - -> +",
		"p/p.go stack.push constant 3: 0x10 -> 17",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What no value affects has no mutants: capacities of empty slices and of maps, and the node that is asked for the graph of all.
func TestWithoutEffect(t *testing.T) {
	for code, want := range map[string]int{
		"_ = make([]int, 0, 2*n+1)": 1, "_ = make([]int, 3, 2*n+1)": 5, "_ = make([]int, n+1)": 2, "_ = make(map[int]int, 2*n)": 0,
		"_ = make(chan int, 2)": 1, "_ = nodes[1].Graph()": 0, "_ = nodes[1].Shape()": 1, "_ = node(1).Graph()": 1,
	} {
		list, err := ofFile("p.go", []byte("package p\n\nfunc f(n int) {\n\t"+code+"\n}\n"))
		if err != nil {
			t.Fatal(err)
		}
		kept := slices.DeleteFunc(list, func(m mutant) bool { return m.Kind == statementKind })
		if len(kept) != want {
			t.Errorf("%s has %d mutants, want %d: %v", code, len(kept), want, kept)
		}
	}
}

// An asterisk explains a class of mutants. An explanation of a single one comes first.
func TestClasses(t *testing.T) {
	explained, err := parseExplanations("a/*.go * statement *: free(* -> nothing # the collector frees\n" +
		"a/f.go g operator 1: * -> / # by one\na/b.go f statement 1: free(x) -> nothing # this one\na/z.go * # stale\n")
	if err != nil {
		t.Fatal(err)
	}
	single, freed := "a/b.go f statement 1: free(x) -> nothing", "a/*.go * statement *: free(* -> nothing"
	for id, want := range map[string]string{
		single: single, "a/b.go f statement 2: free(y) -> nothing": freed, "a/c.go h.k statement 12: free(x...) -> nothing": freed,
		"a/f.go g operator 1: * -> /": "a/f.go g operator 1: * -> /", "a/b.go f statement 2: freed(y) -> nothing": "",
		"b/b.go f statement 2: free(y) -> nothing": "", "a/f.go g operator 12: * -> /": "",
	} {
		if got, isClass := explained.find(id); got != want || isClass != (want == freed) {
			t.Errorf("%s is explained by %q (%v), want %q", id, got, isClass, want)
		}
	}
	var tallied tally
	tallied.add(result{Outcome: survived}, true, true)
	tallied.add(result{Outcome: survived}, true, false)
	if tallied.explained != 2 || tallied.classes != 1 {
		t.Errorf("%+v", tallied)
	}
	all := []mutant{{File: "a/f.go", Function: "g", Kind: operatorKind, Ordinal: 1, was: "*", become: "/"}}
	for searched, want := range map[string][]string{"": {freed, single, "a/z.go *"}, "./a/": {freed, single, "a/z.go *"}, "b": nil} {
		if got := stale(all, strings.Fields(searched), explained); !slices.Equal(got, want) {
			t.Errorf("stale, searched %q: %q, want %q", searched, got, want)
		}
	}
}

// Every mutant changes its own place only and is still a Go file; the source is not modified.
func TestApply(t *testing.T) {
	source := []byte(example)
	list, err := ofFile("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		changed := m.Apply(source)
		if _, err := parser.ParseFile(token.NewFileSet(), "p.go", changed, 0); err != nil {
			t.Errorf("%s: %v", m.ID(), err)
		}
		if want := example[:m.start] + m.become + example[m.start+len(m.was):]; string(changed) != want || string(source) != example {
			t.Errorf("%s: %s", m.ID(), changed)
		}
	}
}

// tree writes a module of one package whose test notices some errors.
func tree(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range map[string]string{
		"go.mod":    "module p\n",
		"p.go":      "package p\n\nfunc double(x int) int { return x * 2 }\n\nfunc name() string { return \"a\" + \"b\" }\n\nfunc unused(x int) int { return x + 1 }\n\nfunc ends(n int) {\n\tfor n > 0 {\n\t\tn--\n\t}\n}\n",
		"p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestDouble(t *testing.T) {\n\tends(3)\n\tif double(3) != 6 {\n\t\tt.Error(double(3))\n\t}\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The four outcomes, each from a mutant made for it.
func TestOutcomes(t *testing.T) {
	dir := tree(t)
	source, err := os.ReadFile(filepath.Join(dir, "p.go"))
	if err != nil {
		t.Fatal(err)
	}
	list, err := ofFile("p.go", source)
	if err != nil {
		t.Fatal(err)
	}
	tester := &tester{root: dir, scratch: t.TempDir(), limits: newLimits()}
	tester.limits.of["."] = func() (time.Duration, error) { return 3 * time.Second, nil }
	got := map[string]string{}
	for _, m := range list {
		if m.Kind != operatorKind {
			continue
		}
		r, err := tester.Test(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		got[fmt.Sprint(m.Function, " ", m.become)] = fmt.Sprint(r.Outcome, " ", r.By)
	}
	want := map[string]string{
		"double /": "killed TestDouble", "name -": "does not compile ", "unused -": "survived ", "ends >=": "survived ", "ends ++": "timeout ",
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s: %q, want %q", name, got[name], outcome)
		}
	}
	if after, _ := os.ReadFile(filepath.Join(dir, "p.go")); !bytes.Equal(after, source) {
		t.Error("the source was modified")
	}
}

// A mutant that the package's own tests do not notice is tested with those of its users.
func TestUsers(t *testing.T) {
	dir := tree(t)
	for name, content := range map[string]string{
		"halting/h.go":        "package halting\n\nfunc Double(x int) int { return x * 2 }\n",
		"universal/u_test.go": "package universal\n\nimport (\n\t\"p/halting\"\n\t\"testing\"\n)\n\nfunc TestUse(t *testing.T) {\n\tif halting.Double(3) != 6 {\n\t\tt.Error()\n\t}\n}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := ofFile("halting/h.go", []byte("package halting\n\nfunc Double(x int) int { return x * 2 }\n"))
	if err != nil {
		t.Fatal(err)
	}
	limits := newLimits()
	for _, dir := range []string{"halting", "universal"} {
		limits.of[dir] = func() (time.Duration, error) { return time.Minute, nil }
	}
	r, err := (&tester{root: dir, scratch: t.TempDir(), limits: limits}).Test(t.Context(), list[0])
	if err != nil || r.Outcome != killed || r.By != "TestUse" || r.Package != "universal" {
		t.Errorf("%+v, %v", r, err)
	}
}

// A seed chooses the order, a count the mutants of it that compile.
func TestSample(t *testing.T) {
	var all []mutant
	for i := range 50 {
		all = append(all, mutant{File: "f", Ordinal: i})
	}
	a, b, c := shuffled(all, 1), shuffled(all, 1), shuffled(all, 2)
	if !slices.Equal(a, b) || slices.Equal(a, c) || slices.Equal(a, all) {
		t.Error("the order is not that of the seed")
	}
	results := map[string]result{a[0].ID(): {Outcome: notBuilt}, a[1].ID(): {Outcome: killed}, a[4].ID(): {Outcome: notBuilt}}
	for count, want := range map[int]int{0: 0, 1: 2, 3: 4, 4: 6, 100: 50} {
		if got := sampleSize(a, results, count); got != want {
			t.Errorf("%d mutants that compile are among the first %d, want %d", count, got, want)
		}
	}
}

// A report lists the survivors that nothing explains and counts the others.
func TestReport(t *testing.T) {
	outcomes := []outcome{killed, killed, overtime, survived, survived, notBuilt, notStarted}
	var sample []mutant
	results := map[string]result{}
	for i, o := range outcomes {
		m := mutant{File: "a/f.go", Function: "f", Kind: operatorKind, Ordinal: i, Line: 10 + i, was: "<", become: "<="}
		sample = append(sample, m)
		if o != notStarted {
			results[m.ID()] = result{ID: m.ID(), Outcome: o, Package: map[int]string{1: "user"}[i]}
		}
	}
	explained, err := parseExplanations("# comment\n\n" + sample[3].ID() + " # both are the same\n")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	report(&out, sample, results, explained)
	want := "survived: line 14 of a/f.go f operator 4: < -> <=\n" +
		"a                    5 mutants: 2 killed, 1 timeouts (1 of both by tests of users), 1 survived with an explanation (20.0 %, 0 of them in classes), 1 without (20.0 %); 1 do not compile\n" +
		"all                  5 mutants: 2 killed, 1 timeouts (1 of both by tests of users), 1 survived with an explanation (20.0 %, 0 of them in classes), 1 without (20.0 %); 1 do not compile\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

// Outcomes are read up to a line that a kill cut off, and a later outcome replaces an earlier one.
func TestResults(t *testing.T) {
	got, err := parseResults([]byte(`{"id":"a","outcome":"survived"}` + "\n" + `{"id":"b","outcome":"timeout"}` + "\n" + `{"id":"a","outcome":"killed","by":"T"}` + "\n" + `{"id":"c","out`))
	if err != nil || len(got) != 2 || got["a"].Outcome != killed || got["a"].By != "T" || got["b"].Outcome != overtime {
		t.Errorf("got %v, %v", got, err)
	}
	path := filepath.Join(t.TempDir(), "new", "out.jsonl")
	for _, line := range []string{"one\ntw", "three\n"} {
		f, err := appendTo(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(line); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	if content, _ := os.ReadFile(path); string(content) != "one\nthree\n" {
		t.Errorf("the file holds %q", content)
	}
	for text, want := range map[string]string{
		`{"id":"a","outcome":"won"}` + "\n": `line 1: unknown outcome "won"`, "{}\n": `line 1: unknown outcome ""`, "x\n": "line 1: invalid character",
	} {
		if _, err := parseResults([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The packages that are measured have mutants, all with different IDs, and every explanation can be read.
func TestPackages(t *testing.T) {
	exists := map[string]bool{}
	for _, dir := range packages {
		found, err := ofPackage("../../..", dir)
		if err != nil || len(found) == 0 {
			t.Errorf("%s: %d mutants, %v", dir, len(found), err)
		}
		for _, m := range found {
			if exists[m.ID()] {
				t.Errorf("two mutants have the ID %s", m.ID())
			}
			exists[m.ID()] = true
		}
	}
	text, err := os.ReadFile("explained.txt")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parseExplanations(string(text)); err != nil {
		t.Error(err)
	}
	if gone := stale([]mutant{{File: "f"}}, nil, explanations{of: map[string]string{"x": "", mutant{File: "f"}.ID(): ""}}); !slices.Equal(gone, []string{"x"}) {
		t.Errorf("the explanations without a mutant are %q", gone)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a b 1: < -> <= # same\n", `{"id":"a","outcome":"killed"}`+"\n")
	f.Fuzz(func(t *testing.T, explanations, results string) {
		explained, err := parseExplanations(explanations)
		for id, argument := range explained.of {
			if err == nil && (id == "" || argument == "") {
				t.Errorf("%q is explained with %q", id, argument)
			}
		}
		if list, err := parseResults([]byte(results)); err == nil {
			for id, r := range list {
				if id != r.ID || r.Outcome == notStarted {
					t.Errorf("%q: %+v", id, r)
				}
			}
		}
	})
}

// An output without a word of a test, such as a complaint of the go command, is no outcome.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		output string
		passed bool
		want   outcome
		by     string
	}{
		{"ok  \tp\t0.1s\n", true, survived, ""},
		{"--- FAIL: TestA (0.00s)\n    a_test.go:3: 1\nFAIL\nFAIL\tp\t0.1s\nFAIL\n", false, killed, "TestA"},
		{"panic: runtime error\n\ngoroutine 7 [running]:\nFAIL\tp\t0.1s\nFAIL\n", false, killed, ""},
		{"panic: test timed out after 3s\nFAIL\tp\t3.0s\nFAIL\n", false, overtime, ""},
		{"# p\n./a.go:3:1: declared and not used: x\nFAIL\tp [build failed]\nFAIL\n", false, notBuilt, ""},
		{"go: overlay contains a replacement for a.go. Files beneath GOMODCACHE () must not be replaced.\n", false, notStarted, ""},
	} {
		if got, by := judge([]byte(c.output), c.passed); got != c.want || by != c.by {
			t.Errorf("%q: %q by %q, want %q by %q", c.output, got, by, c.want, c.by)
		}
	}
}
