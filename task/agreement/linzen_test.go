package agreement

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/task"
)

// The published files, in the folder that LINZEN names: numpred.* and subj_agr_filtered.*, in folders below it or in it. Their counts
// are those of a count by other means; the shares of "always plural" are those of the table of the tag column.
func TestPublishedFiles(t *testing.T) {
	root := os.Getenv("LINZEN")
	if root == "" {
		t.Skip("LINZEN names no folder with numpred.val and subj_agr_filtered.text")
	}
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		found[filepath.Base(path)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("numpred", func(t *testing.T) { publishedNumpred(t, filepath.Dir(found["numpred.val"])) })
	t.Run("pairs", func(t *testing.T) { publishedPairs(t, found["subj_agr_filtered.text"]) })
}

func publishedNumpred(t *testing.T, dir string) {
	for name, want := range map[string]struct {
		rows, tokens int
		plural       string
	}{
		"val": {15772, 117928, "0.318"}, "test.1": {52599, 471087, "0.582"}, "test.2": {9380, 107097, "0.766"},
		"test.3": {2051, 28897, "0.851"}, "test.4": {561, 9308, "0.932"}, "test.5": {159, 3029, "0.918"},
	} {
		rows, err := readNumpred(filepath.Join(dir, "numpred."+name))
		if err != nil {
			t.Fatal(err)
		}
		tokens, plurals := 0, 0
		for _, r := range rows {
			if tokens += r.verb; r.plural {
				plurals++
			}
		}
		if share := fmt.Sprintf("%.3f", float64(plurals)/float64(len(rows))); len(rows) != want.rows || tokens != want.tokens || share != want.plural {
			t.Errorf("%s: %d rows, %d tokens, %s plural; want %v", name, len(rows), tokens, share, want)
		}
		if name == "val" && len(rows)-len(preambles(rows)) != 1860 {
			t.Errorf("%d rows repeat a preamble, want 1860", len(rows)-len(preambles(rows)))
		}
	}
	for _, regime := range []Regime{Natural, Enriched} {
		c := Classes{Path: dir, Regime: regime}
		tk := opened(t, c)
		t.Log(tk.Name(), "\n", strings.Join(tk.Notes(), "\n "))
		if notes := strings.Join(tk.Notes(), "\n"); !strings.Contains(notes, "skipped 498 test rows") || !strings.Contains(notes, "9380 with 2, 2051 with 3, 561 with 4, 159 with 5") {
			t.Errorf("%s: %s", c, notes)
		}
		if all := len(tk.training) + len(tk.validation) + len(tk.test); all != 15772+52599-498+9380+2051+561+159 {
			t.Errorf("%s: %d rows in all", c, all)
		}
		for _, d := range []task.Definition{c, Number(c)} {
			by, _ := measured(t, d, &known{classes: func([]string) string { return plural }, logProb: likes(plural)})
			for group, want := range map[string]string{"2 attractors": "0.766", "3 attractors": "0.851", "4 attractors": "0.932", "5 attractors": "0.918", "4 balanced": "0.500", "4 always plural": "0.932"} {
				if got := fmt.Sprintf("%.3f", by[group].Value); got != want {
					t.Errorf("%s: always plural has %s of %s, want %s", d, got, group, want)
				}
			}
			if _, ok := by["homogeneous"]; ok {
				t.Errorf("%s: rows of the test were not known again", d)
			}
			t.Log(d, by["1 last word"], by["2 last word"], by["3 last word"], by["4 last word"], by["5 last word"])
		}
	}
}

func publishedPairs(t *testing.T, path string) {
	rows, leftOut, err := readPairs(path)
	if err != nil {
		t.Fatal(err)
	}
	with := map[int]int{}
	for _, r := range rows {
		with[r.attractors]++
	}
	if len(rows) != 7485 || !strings.HasPrefix(leftOut, "4 of 7489 pairs") || with[0] != 1970 || with[1] != 1957 || with[2] != 1943 || with[3] != 1285 || with[4] != 330 {
		t.Errorf("%d pairs, %q, by attractors %v", len(rows), leftOut, with)
	}
}
