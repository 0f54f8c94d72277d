package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The JSON of an evaluation notes each remark on the data that is on the standard error; as text, the remark is there only.
// Caught when planted: JSON without the remarks; text that repeats them.
func TestEvalNotesRemarks(t *testing.T) {
	path := write(t, "other.tsv", "12\t21\nno tab\n34\t43\n")
	want := []string{path + ": 3 lines, 2 usable, 1 malformed", "  " + path + ":2: no tab between source and target"}
	dir := trained(t)
	r := ut(t, "eval", dir, "--data", path, "--json")
	var found struct{ Notes []string }
	if err := json.Unmarshal([]byte(r.stdout), &found); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(r.stderr, "\n")
	for _, line := range want {
		count := func(list []string) (n int) {
			for _, other := range list {
				if other == line {
					n++
				}
			}
			return n
		}
		if count(found.Notes) != 1 || count(lines) != 1 {
			t.Errorf("%q is noted %d times in %q, and %d times on the standard error", line, count(found.Notes), found.Notes, count(lines))
		}
	}
	r = ut(t, "eval", dir, "--data", path)
	if strings.Contains(r.stdout, filepath.Base(path)+": 3 lines") || !slices.Contains(strings.Split(r.stderr, "\n"), want[0]) {
		t.Errorf("as text:\n%s\non the standard error:\n%s", r.stdout, r.stderr)
	}
}
