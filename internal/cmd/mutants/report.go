package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// readResults reads a file of outcomes, the later of two with the same ID. A last line that a kill cut off is ignored, as is a missing file.
func readResults(path string) (map[string]result, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	results, err := parseResults(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return results, nil
}

func parseResults(data []byte) (map[string]result, error) {
	results := map[string]result{}
	for number := 1; len(data) > 0; number++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			break
		}
		var r result
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		switch r.Outcome {
		case killed, survived, notBuilt, overtime:
		default:
			return nil, fmt.Errorf("line %d: unknown outcome %q", number, r.Outcome)
		}
		results[r.ID], data = r, rest
	}
	return results, nil
}

// separator stands between a mutant's ID and the argument in a file of explanations.
const separator = " # "

// explanations are the arguments why mutants survive.
type explanations struct {
	of      map[string]string // by ID, or by pattern of IDs
	classes []class
}

// A class is a pattern of IDs: an asterisk stands for any text.
type class struct {
	pattern string
	ids     *regexp.Regexp
}

// find returns the ID or the pattern that explains a mutant, and whether it is a pattern of several. It returns "" for a mutant without an
// explanation.
func (e explanations) find(id string) (name string, isClass bool) {
	if _, ok := e.of[id]; ok {
		return id, false
	}
	for _, c := range e.classes {
		if c.ids.MatchString(id) {
			return c.pattern, true
		}
	}
	return "", false
}

// parseExplanations reads one explanation per line, "ID # argument". Empty lines and lines that begin with # are ignored.
func parseExplanations(text string) (explanations, error) {
	e := explanations{of: map[string]string{}}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := strings.LastIndex(line, separator)
		if at < 0 {
			return e, fmt.Errorf("line %d: %q has no %q before its argument", number, line, strings.TrimSpace(separator))
		}
		id, argument := strings.TrimSpace(line[:at]), strings.TrimSpace(line[at+len(separator):])
		switch _, twice := e.of[id]; {
		case id == "" || argument == "":
			return e, fmt.Errorf("line %d: the mutant or the argument is empty", number)
		case twice:
			return e, fmt.Errorf("line %d: %s is explained twice", number, id)
		}
		e.of[id] = argument
		if strings.Contains(id, "*") {
			ids := regexp.MustCompile("^(?s:" + strings.ReplaceAll(regexp.QuoteMeta(id), `\*`, ".*") + ")$")
			e.classes = append(e.classes, class{id, ids})
		}
	}
	return e, nil
}

// stale lists the explanations whose mutants no longer exist because the code has changed. If only some packages are searched, it lists only
// explanations of these, not of classes in several packages.
func stale(all []mutant, searched []string, explained explanations) (ids []string) {
	used := map[string]bool{}
	for _, m := range all {
		name, _ := explained.find(m.ID())
		used[name] = true
	}
	for _, id := range slices.Sorted(maps.Keys(explained.of)) {
		file, _, _ := strings.Cut(id, " ")
		in := func(dir string) bool { return path.Clean(filepath.ToSlash(dir)) == path.Dir(file) }
		if !used[id] && (len(searched) == 0 || slices.ContainsFunc(searched, in)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// A tally counts outcomes.
type tally struct {
	killed, overtime, explained, unexplained, notBuilt int
	elsewhere                                          int // of killed and overtime: by the tests of another package
	classes                                            int // of explained: by a pattern
}

// tested returns the number of mutants that compile.
func (t tally) tested() int { return t.killed + t.overtime + t.explained + t.unexplained }

func (t *tally) add(r result, explained, byClass bool) {
	if r.Package != "" {
		t.elsewhere++
	}
	switch o := r.Outcome; {
	case o == killed:
		t.killed++
	case o == overtime:
		t.overtime++
	case o == notBuilt:
		t.notBuilt++
	case explained:
		t.explained++
		if byClass {
			t.classes++
		}
	case o == survived:
		t.unexplained++
	}
}

// report prints the survivors without an explanation, then the figures of each package and of all.
func report(w io.Writer, sample []mutant, results map[string]result, explained explanations) {
	var all tally
	var order []string
	packages := map[string]*tally{}
	for _, m := range sample {
		r, ok := results[m.ID()]
		if !ok {
			continue
		}
		dir := m.File[:max(0, strings.LastIndex(m.File, "/"))]
		if packages[dir] == nil {
			packages[dir] = &tally{}
			order = append(order, dir)
		}
		name, byClass := explained.find(r.ID)
		packages[dir].add(r, name != "", byClass)
		all.add(r, name != "", byClass)
		if r.Outcome == survived && name == "" {
			fmt.Fprintf(w, "survived: line %d of %s\n", m.Line, r.ID)
		}
	}
	for _, dir := range order {
		fmt.Fprintf(w, "%-20s %s\n", dir, packages[dir])
	}
	fmt.Fprintf(w, "%-20s %s\n", "all", &all)
}

func (t *tally) String() string {
	share := func(n int) float64 { return 100 * float64(n) / max(1, float64(t.tested())) }
	return fmt.Sprintf("%d mutants: %d killed, %d timeouts (%d of both by tests of users), %d survived with an explanation (%.1f %%, %d of them in classes), %d without (%.1f %%); %d do not compile",
		t.tested(), t.killed, t.overtime, t.elsewhere, t.explained, share(t.explained), t.classes, t.unexplained, share(t.unexplained), t.notBuilt)
}
