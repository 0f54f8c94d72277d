package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Forms from a dictionary.
func TestWordForms(t *testing.T) {
	for got, want := range map[string]string{
		spell(0): "zero", spell(13): "thirteen", spell(40): "forty", spell(85): "eighty five", spell(100): "one hundred",
		spell(215): "two hundred fifteen", spell(1000): "one thousand", spell(9_099): "nine thousand ninety nine",
		plural("cry"): "cries", plural("play"): "plays", plural("box"): "boxes", plural("watch"): "watches", plural("dish"): "dishes",
		joined("stop", "ed"): "stopped", joined("bake", "ing"): "baking", joined("cry", "ed"): "cried", joined("cry", "ing"): "crying",
		joined("play", "ed"): "played", joined("fix", "ing"): "fixing", joined("agree", "ing"): "agreeing", joined("agree", "ed"): "agreed",
		joined("look", "er"): "looker", joined("big", "est"): "biggest", joined("happy", "er"): "happier", joined("new", "er"): "newer",
		adverb("gentle"): "gently", adverb("happy"): "happily", adverb("slow"): "slowly", beforeConsonant("lazy") + "ness": "laziness",
		englishPlural("woman"): "women", englishPlural("child"): "children", englishPlural("bottle"): "bottles",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Every task writes the same bytes twice; the test examples are no training examples.
func TestDataAreReproducible(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second} {
		if err := write(t.Output(), dir, suite(), true); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(first)
	if err != nil || len(files) < 25 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, f := range files {
		if text(t, first, f.Name()) != text(t, second, f.Name()) {
			t.Errorf("%s differs", f.Name())
		}
	}
	for _, d := range suite() {
		if !strings.HasSuffix(d.test, ".tsv") {
			continue
		}
		training := map[string]bool{}
		for line := range strings.Lines(text(t, first, d.name+".tsv")) {
			source, target, ok := strings.Cut(line, "\t")
			if !ok || source == "" || strings.TrimSpace(target) == "" || training[source] {
				t.Errorf("%s: %q", d.name, line)
			}
			training[source] = true
		}
		for line := range strings.Lines(text(t, first, d.test)) {
			if source, _, _ := strings.Cut(line, "\t"); training[source] {
				t.Errorf("%s: %q is in both parts", d.name, source)
			}
		}
	}
}

// The label of an opinion follows from a list of good words and of negations, written down here again.
func TestOpinions(t *testing.T) {
	dir := t.TempDir()
	tasks, err := chosen("opinions")
	if err != nil {
		t.Fatal(err)
	}
	if err := write(t.Output(), dir, tasks, false); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text(t, dir, "opinions.csv"))).ReadAll()
	if err != nil || len(rows) != 2401 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows[1:] {
		clauses := strings.SplitN(strings.NewReplacer(" and ", "|", " but ", "|", " while ", "|", "; ", "|").Replace(row[0]), "|", 2)
		good := 0
		for _, c := range clauses {
			is := false
			for _, w := range strings.Fields("good great lovely superb decent funny touching bright clever") {
				is = is || strings.Contains(c, " "+w)
			}
			if strings.Contains(c, "not") || strings.Contains(c, "never") || strings.Contains(c, "hardly") {
				is = !is
			}
			if is {
				good++
			}
		}
		if want := []string{"bad", "mixed", "good"}[good]; row[1] != want || len(clauses) != 2 {
			t.Errorf("%q: %s, want %s", row[0], row[1], want)
		}
	}
}

// Two seeds of .5 and .9 have the mean .7 and the standard deviation .4/sqrt(2) = .283.
func TestTable(t *testing.T) {
	dir := t.TempDir()
	for seed, r := range []string{
		`{"recipe": "base", "seed": 1, "step": 300, "best_step": 200, "seconds": 9, "trained_by": {"cpu_seconds": 10}, "measured": {"metrics": [{"name": "token accuracy", "value": 1}, {"name": "sequence accuracy", "value": 0.5}]}}`,
		`{"recipe": "base", "seed": 2, "step": 500, "best_step": 500, "seconds": 9, "trained_by": {"cpu_seconds": 20}, "measured": {"metrics": [{"name": "sequence accuracy", "value": 0.9}]}}`,
	} {
		run := filepath.Join(dir, "dates", "base-seed"+string(rune('1'+seed)))
		for path, content := range map[string]string{
			filepath.Join(dir, "dates", "results", filepath.Base(run)+".json"): r,
			filepath.Join(run, "metrics.jsonl"): `{"step": 200, "split": "training", "encoder_ponder": 9, "decoder_ponder": 9}
{"step": 200, "split": "validation", "encoder_ponder": 2, "decoder_ponder": 3}
{"step": 500, "split": "validation", "encoder_ponder": 3, "decoder_ponder": 4}
`,
		} {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	var out strings.Builder
	if err := printTable(&out, dir, suite()); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := "dates base 2 accuracy 0.700 ± 0.283 15 400 350 2.50 3.50"; len(lines) != 2 || strings.Join(strings.Fields(lines[1]), " ") != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	if err := printTable(&out, t.TempDir(), suite()); err == nil {
		t.Error("an empty folder has a table")
	}
}

func text(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}
