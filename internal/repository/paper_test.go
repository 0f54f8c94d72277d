package repository_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const equations = 8 // the paper numbers (1) to (8)

// inPaper is every part of the paper that PAPER.md must place.
func inPaper() []string {
	parts := []string{"section 2.1", "section 2.2", "section 4", "appendix A", "appendix B", "appendix C", "appendix D"}
	for _, group := range []struct {
		name     string
		from, to int
	}{{"equation (%d)", 1, equations}, {"section 3.%d", 1, 6}, {"table %d", 1, 7}, {"figure %d", 1, 8}} {
		for n := group.from; n <= group.to; n++ {
			parts = append(parts, fmt.Sprintf(group.name, n))
		}
	}
	return parts
}

// A row is one line of a table of PAPER.md: | part of the paper | what | where | command |.
type row struct {
	line        int
	part, where string
	command     string
}

var tableRule = regexp.MustCompile(`^[\s|:-]+$`)

func paperRows(t *testing.T) []row {
	t.Helper()
	var rows []row
	lines := strings.Split(read(t, "PAPER.md"), "\n")
	for i, line := range lines {
		if !strings.HasPrefix(line, "|") || tableRule.MatchString(line) || i+1 < len(lines) && tableRule.MatchString(lines[i+1]) {
			continue // not a row: text, rule or heading
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 {
			t.Errorf("PAPER.md:%d: %d cells, want 4: part | what it is | where | command", i+1, len(cells))
			continue
		}
		rows = append(rows, row{i + 1, strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2]), strings.TrimSpace(cells[3])})
	}
	return rows
}

func TestPaperPlacesEveryPart(t *testing.T) {
	placed := map[string]int{}
	for _, r := range paperRows(t) {
		placed[r.part]++
	}
	for _, part := range inPaper() {
		if placed[part] != 1 {
			t.Errorf("PAPER.md has %d rows for %q, want 1", placed[part], part)
		}
	}
}

// named finds `folder/file.go` and `folder/file.go:Token`.
var named = regexp.MustCompile("`([\\w./-]+\\.go)(?::([\\w.]+))?`")

// problem says what is wrong with where a row places its part; "" if nothing is.
func problem(where string, files []sourceFile) string {
	places := named.FindAllStringSubmatch(where, -1)
	switch pending := strings.Contains(where, "not yet"); {
	case pending && len(places) > 0:
		return "says not yet, but names " + places[0][1]
	case !pending && len(places) == 0:
		return "names no file and does not say not yet"
	}
	for _, place := range places {
		at := slices.IndexFunc(files, func(f sourceFile) bool { return f.path == place[1] })
		if at < 0 {
			return "no file " + place[1]
		}
		if place[2] != "" && !files[at].declares(place[2]) {
			return place[1] + " declares no " + place[2]
		}
	}
	return ""
}

func TestPaperRowsResolve(t *testing.T) {
	files := sources(t)
	for _, r := range paperRows(t) {
		if p := problem(r.where, files); p != "" {
			t.Errorf("PAPER.md:%d: %s: %s", r.line, r.part, p)
		}
		if r.command == "" {
			t.Errorf("PAPER.md:%d: %s: no command; write `ut ...`, none, or not yet", r.line, r.part)
		}
	}
}

// Somebody who knows the paper finds an equation by its tag, and finds one place: the line that computes it.
func TestEquationsHaveOneHome(t *testing.T) {
	files, rows := sources(t), paperRows(t)
	for n := 1; n <= equations; n++ {
		homes := equationHomes(files, n)
		if len(homes) != 1 {
			t.Errorf("the tag of equation %d stands at %v, want one line", n, homes)
			continue
		}
		file, _, _ := strings.Cut(homes[0], ":")
		at := slices.IndexFunc(rows, func(r row) bool { return r.part == fmt.Sprintf("equation (%d)", n) })
		if at < 0 || !strings.Contains(rows[at].where, "`"+file) {
			t.Errorf("equation %d is computed in %s, but PAPER.md does not say so", n, homes[0])
		}
	}
}

// equationHomes lists file:line of every tag; one that stands in a comment without code says so.
func equationHomes(files []sourceFile, n int) []string {
	var homes []string
	tag := fmt.Sprintf("(eq. %d)", n)
	for _, f := range files {
		for i, line := range f.lines {
			if !strings.Contains(line, tag) {
				continue
			}
			home := fmt.Sprintf("%s:%d", f.path, i+1)
			if code, _, _ := strings.Cut(line, "//"); strings.TrimSpace(code) == "" {
				home += " (a comment, not the line that computes it)"
				homes = append(homes, home) // counted twice: never right
			}
			homes = append(homes, home)
		}
	}
	return homes
}

// The checks above, on rows and lines that must be refused.
func TestPaperChecksBite(t *testing.T) {
	files := []sourceFile{parse(t, "internal/repository/tree_test.go")}
	for where, want := range map[string]string{
		"`internal/repository/tree_test.go`":                             "",
		"`internal/repository/tree_test.go:parse`":                       "",
		"`internal/repository/tree_test.go:sourceFile.declares`":         "",
		"`internal/repository/tree_test.go:declares`":                    "internal/repository/tree_test.go declares no declares",
		"`internal/repository/tree_test.go:sourceFile`, `gone.go:parse`": "no file gone.go",
		"not yet": "",
		"not yet: `internal/repository/tree_test.go`": "says not yet, but names internal/repository/tree_test.go",
		"somewhere": "names no file and does not say not yet",
	} {
		if got := problem(where, files); got != want {
			t.Errorf("%s: %q, want %q", where, got, want)
		}
	}
	tagged := []sourceFile{{path: "a.go", lines: []string{"x := y // (eq" + ". 4)", "// about (eq" + ". 5)", "z() // (eq" + ". 6)", "w() // (eq" + ". 6)"}}}
	for n, want := range map[int]int{4: 1, 5: 2, 6: 2, 7: 0} {
		if got := len(equationHomes(tagged, n)); got != want {
			t.Errorf("equation %d: %d homes, want %d", n, got, want)
		}
	}
}
