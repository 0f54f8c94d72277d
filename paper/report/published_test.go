package report

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"universal-transformer/experiment/recipes"
	"universal-transformer/internal/score"
	"universal-transformer/paper"
	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

var root = filepath.Join("..", "..", "results")

// published are the published results and their pages, read and rendered once. Tests must not change them.
func published(t *testing.T) ([]sweep.Result, Pages) {
	t.Helper()
	in, err := publishedInput()
	if err != nil || len(in.Results) == 0 {
		t.Fatalf("%d results, %v", len(in.Results), err)
	}
	pages, err := publishedPages()
	if err != nil {
		t.Fatal(err)
	}
	return in.Results, pages
}

var publishedInput = sync.OnceValues(func() (Input, error) { return ReadInput(root) })

var publishedPages = sync.OnceValues(func() (Pages, error) {
	in, err := publishedInput()
	if err != nil {
		return Pages{}, err
	}
	return Render(in, "results", func(file string) bool {
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
		return err == nil
	})
})

// Every published result can be read, and RESULTS.md, the pages of the tables and their figures are what make report writes.
func TestPublishedPages(t *testing.T) {
	_, pages := published(t)
	for file, want := range pages.Files {
		if have, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file))); err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what make report writes (%v)", file, err)
		}
	}
	for _, table := range paper.All() {
		if pages.Files[table.Name()+".md"] == nil {
			t.Errorf("%s has no page", table.Name())
		}
	}
	have, err := os.ReadFile(filepath.Join("..", "..", "RESULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, pages.Results) {
		t.Error("RESULTS.md is not what make report writes")
	}
	if lines := bytes.Count(have, []byte("\n")); lines > 400 {
		t.Errorf("RESULTS.md has %d lines, more than 400", lines)
	}
	head, _, _ := strings.Cut(string(have), "\n## ")
	if lines := strings.Count(head, "\n"); lines > 45 {
		t.Errorf("the verdicts of RESULTS.md have %d lines, more than a screen", lines)
	}
	verdicts := string(pages.Files[verdictsPage])
	rows, _, _ := strings.Cut(verdicts, "| Further comparisons |")
	// the last row of the claims is not the paper's
	listed, all := strings.Count(head, "\n| ")-3, strings.Count(rows, "\n| ")-2
	for _, want := range []string{fmt.Sprintf(": of %d rows on ", all), fmt.Sprintf(" lists the other %d rows, too.", all-listed)} {
		if !strings.Contains(head, want) {
			t.Errorf("RESULTS.md lists %d rows and the page of verdicts %d, and %q is missing", listed, all, want)
		}
	}
	for line := range strings.Lines(head) {
		if n := utf8.RuneCountInString(line); n > 250 && strings.HasPrefix(line, "|") {
			t.Errorf("a verdict of RESULTS.md has %d characters: %s", n, line)
		}
	}
}

// The peak rate of every model of a block whose rates were chosen is the one with the lowest sum of validation cross entropies over the row's
// published searches of rates. Caught when planted: a search that is missing; [ReadSearches] refuses another rate in a recipe and another figure.
func TestChosenRates(t *testing.T) {
	searches, err := ReadSearches(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range paper.All() {
		for _, row := range table.Rows {
			if slices.Contains(table.Chosen, row.Block) && !row.EqualTime && len(row.Unequal) == 0 {
				checkChosenRate(t, searches, table, row)
			}
		}
	}
}

func checkChosenRate(t *testing.T, searches []Search, table paper.Table, row paper.Row) {
	t.Helper()
	sums, trials, searched := map[float64]float64{}, map[float64]int{}, 0
	for _, s := range searches {
		if s.cell.Row.Family != cmp.Or(row.RatesOf, row.Family) || !strings.HasPrefix(s.file.Name, "rates-") {
			continue
		}
		searched++
		for _, trial := range s.Trials {
			assigned, _ := s.assignments(trial.Recipe)
			peak := peakOf(t, s.cell.Recipe(), slices.Concat(s.file.Set, assigned)...)
			if !slices.Contains(paper.PeakRates, peak) {
				t.Errorf("%s: %s has the peak %v", s.file.Name, trial.Recipe, peak)
			}
			sums[peak] += trial.Validation
			trials[peak]++
		}
	}
	maps.DeleteFunc(sums, func(peak, _ float64) bool { return trials[peak] < searched })
	if searched < 2 || len(sums) < 3 {
		t.Errorf("%s has %d searches with %d rates in common", row.Family, searched, len(sums))
	}
	tried := slices.Sorted(maps.Keys(sums))
	for _, column := range table.Columns {
		recipe := row.Family + "/" + column.Name
		own := peakOf(t, recipe)
		if own == tried[0] || own == tried[len(tried)-1] {
			t.Errorf("%s has the peak %v, the last of those tried: %v", recipe, own, tried)
		}
		if _, ok := sums[own]; !ok {
			t.Errorf("%s has the peak %v, which not all of its searches have", recipe, own)
		}
		for peak, sum := range sums {
			if sum < sums[own] {
				t.Errorf("%s has the peak %v with a sum of %v: %v has %v", recipe, own, sums[own], peak, sum)
			}
		}
	}
}

// peakOf returns the peak rate of a recipe with some fields set.
func peakOf(t *testing.T, name string, set ...string) float64 {
	t.Helper()
	recipe, err := recipes.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	run, err := recipe.Run().Set(set...)
	if err != nil {
		t.Fatal(err)
	}
	peak, _ := run.Fields()["training.schedule.cosine.peak"].(float64)
	return peak
}

// decodedAt are the sequences of one seed in a set of the published results.
func decodedAt(t *testing.T, results []sweep.Result, recipe string, seed uint64, set string) score.Accuracy {
	t.Helper()
	for _, r := range results {
		if r.Recipe != recipe || r.Seed != seed {
			continue
		}
		var m measure.Sequences
		if err := r.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m.Set(set).Decoded.Sequences
	}
	t.Fatalf("%s has no seed %d", recipe, seed)
	return score.Accuracy{}
}

// The figures of table 4 on the page are those of the result files, of the seeds with the lowest validation cross entropy.
func TestPublishedTable4(t *testing.T) {
	results, pages := published(t)
	b, err := newBook(results)
	if err != nil {
		t.Fatal(err)
	}
	lowest := map[string]sweep.Result{}
	for _, r := range results {
		if best, ok := lowest[r.Recipe]; !ok || r.Validation < best.Validation {
			lowest[r.Recipe] = r
		}
	}
	row := ""
	for i, task := range []string{"copy", "reverse", "addition"} {
		a := decodedAt(t, results, "algorithmic/"+task, lowest["algorithmic/"+task].Seed, "length 400")
		row += fmt.Sprintf("%.3f", float64(a.Correct)/float64(a.Total))
		if all := sequenceAccuracies(b.of("algorithmic", task), "length 400"); len(all) > 1 {
			row += fmt.Sprintf(" (mean %.3f)", mean(all))
		}
		if i < 2 {
			row += ", "
		}
	}
	if !bytes.Contains(pages.Files[verdictsPage], []byte("| 0.35, 0.46, 0.02 | "+row)) {
		t.Errorf("the verdicts lack the row of table 4 with %q", row)
	}
}

// The note on news of table 7 says that the Transformer's best checkpoint is the last one in all seeds, and that an update of the Universal
// Transformer takes more than twice its time. Caught when planted: the runs of the Universal Transformer.
func TestNewsIsNotFinished(t *testing.T) {
	results, _ := published(t)
	b, err := newBook(results)
	if err != nil {
		t.Fatal(err)
	}
	runs := b.of("translation-transformer", "news")
	if len(runs) != 3 {
		t.Errorf("%d seeds", len(runs))
	}
	for _, r := range runs {
		if r.BestStep != r.Step {
			t.Errorf("seed %d: the best checkpoint is that of update %d of %d", r.Seed, r.BestStep, r.Step)
		}
	}
	if ratios := updateRatios(b.of("translation", "news"), runs); len(ratios) == 0 || mean(ratios) <= 2 {
		t.Errorf("an update of the Universal Transformer takes %v times the Transformer's", ratios)
	}
}

// The entries of the log that pages name exist. Caught when planted: a title with another word.
func TestNamedEntriesAreInTheLog(t *testing.T) {
	log, err := os.ReadFile(filepath.Join("..", "..", "docs", "log.md"))
	if err != nil {
		t.Fatal(err)
	}
	entries := append(slices.Collect(maps.Values(paper.BabiChosen)), paper.BabiJointTrial)
	for _, seen := range paper.BabiSeen {
		if _, entry, found := strings.Cut(seen, "(docs/log.md, "); found {
			entries = append(entries, strings.TrimSuffix(entry, ")"))
		}
	}
	if len(entries) != 5 {
		t.Errorf("%d entries are named: %q", len(entries), entries)
	}
	for _, entry := range entries {
		if !strings.Contains(string(log), "\n## "+entry+"\n") {
			t.Errorf("docs/log.md has no entry %q", entry)
		}
	}
}
