package repository_test

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"universal-transformer/experiment/recipes"
	"universal-transformer/paper"
)

// A cell is a recipe of a table, trained or not.
type cell struct {
	name, table string // "algorithmic/copy", "table 4"
	trained     bool   // whether it has a result
}

// cells returns the cells of the paper's tables, and what the catalogue has for a table besides, such as the paper's sizes.
func cells(t *testing.T) (list []cell) {
	t.Helper()
	add := func(name, table string) {
		if slices.ContainsFunc(list, func(c cell) bool { return c.name == name }) {
			return
		}
		family, column, _ := strings.Cut(name, "/")
		results, err := filepath.Glob(filepath.Join(root, "results", family, column+"-seed*.json"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, cell{name, table, len(results) > 0})
	}
	for _, table := range paper.All() {
		of, err := table.Cells(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range of {
			add(c.Recipe(), fmt.Sprintf("table %d", table.Number))
		}
	}
	for _, r := range recipes.All() {
		if strings.HasPrefix(r.Group, "table ") {
			add(r.Name, r.Group)
		}
	}
	return list
}

var (
	untrainedEntry = regexp.MustCompile(`^- (table \d),`)
	pattern        = regexp.MustCompile("`([^`]+/[^`]+)`")
)

// untrainedProblems says how a section differs from the cells without a result. Its entries begin with the table, "- table 4,", and name
// recipes or patterns of recipes.
func untrainedProblems(section string, list []cell) (found []string) {
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		entry := untrainedEntry.FindStringSubmatch(line)
		if entry == nil {
			continue
		}
		for _, p := range pattern.FindAllStringSubmatch(line, -1) {
			matched := false
			for _, c := range list {
				if ok, err := path.Match(p[1], c.name); err != nil || !ok {
					continue
				}
				matched = true
				switch {
				case c.trained:
					found = append(found, c.name+" has a result")
				case c.table != entry[1]:
					found = append(found, c.name+" is of "+c.table)
				case named[c.name]:
					found = append(found, c.name+" is named twice")
				}
				named[c.name] = true
			}
			if !matched {
				found = append(found, p[1]+" is no recipe of a table")
			}
		}
	}
	for _, c := range list {
		if !c.trained && !named[c.name] {
			found = append(found, c.name+" has no result, but is not named")
		}
	}
	return found
}

// section returns the text below a heading of a document.
func section(t *testing.T, document, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(read(t, document), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no section %q", document, heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// PAPER.md names exactly the cells that are implemented and have no result, and README has a word on every table with such cells.
func TestPaperNamesWhatIsNotTrained(t *testing.T) {
	list := cells(t)
	trained, tables := 0, map[string]bool{}
	for _, c := range list {
		if c.trained {
			trained++
		} else {
			tables[c.table] = true
		}
	}
	if trained < 100 {
		t.Fatalf("%d of %d cells have results: they were not found", trained, len(list))
	}
	for _, p := range untrainedProblems(section(t, "PAPER.md", "Not trained yet"), list) {
		t.Errorf("PAPER.md, Not trained yet: %s", p)
	}
	complete := section(t, "README.md", `What "complete" covers`)
	for n := 1; n <= len(paper.All()); n++ {
		if table := fmt.Sprintf("table %d", n); strings.Contains(complete, table+",") != tables[table] {
			t.Errorf("README.md, What is complete: %q is named %v, but has recipes without a result %v", table, !tables[table], tables[table])
		}
	}
}

// The check above, on sections that must be refused.
func TestUntrainedProblemsBite(t *testing.T) {
	list := []cell{{"a/copy", "table 4", true}, {"a/reverse", "table 4", false}, {"a-longer/copy", "table 4", false}, {"b/copy", "table 5", false}}
	for section, want := range map[string]string{
		"- table 4, some: `a/reverse`, `a-longer/*`\n- table 5, one: `b/copy`\n": "",
		"- table 4, some: `a*/copy`, `a/reverse`\n- table 5, one: `b/copy`\n":    "a/copy has a result",
		"- table 4, some: `a/reverse`\n- table 5, one: `b/copy`\n":               "a-longer/copy has no result, but is not named",
		"- table 4, some: `a/reverse`, `a-longer/*`, `b/copy`\n":                 "b/copy is of table 5",
		"- table 4, some: `a/r*`, `a-longer/*`, `a/reverse`\n- table 5, `b/*`\n": "a/reverse is named twice",
		"- table 4, `a/r*`, `a-longer/*`, `c/copy`\n- table 5, `b/*`\n":          "c/copy is no recipe of a table",
		"table 4, `a/r*`, `a-longer/*`\n- table 5, `b/*`\n":                      "a/reverse has no result, but is not named; a-longer/copy has no result, but is not named",
	} {
		if got := strings.Join(untrainedProblems(section, list), "; "); got != want {
			t.Errorf("%q: %q, want %q", section, got, want)
		}
	}
}
