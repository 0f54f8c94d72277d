package report

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/paper"
)

// The figures of README's results, and of the notes on them, are those that the verdicts compute.
func TestReadmeHasTheResults(t *testing.T) {
	results, _ := published(t)
	b, err := newBook(results)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := sum(slices.Concat(b.judgeAll(tableClaims()), b.judgeAll(claims()))) + ". Every figure"
	sequences, notes := readmeSequences(t, b)
	translation, note := readmeTranslation(b)
	for page, wants := range map[string][]string{
		"README.md":                         slices.Concat(readmeBabi(t, b), sequences, translation, []string{verdicts}),
		filepath.Join("docs", "results.md"): append(notes, note),
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", page))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !bytes.Contains(text, []byte(want)) {
				t.Errorf("%s lacks %q", page, want)
			}
		}
	}
}

// readmeBabi returns what README says of table 1.
func readmeBabi(t *testing.T, b book) []string {
	ours := func(family string) string { // mean over seeds, and the best seed by validation
		a := averageBabi(b.babiRow(family))
		return halvesUp("%.2f %%", a.overSeeds) + halvesUp(" (%.2f %%)", a.best)
	}
	models := func(setting string) string {
		return fmt.Sprintf("%s | %s |", ours(setting), ours(setting+"-transformer"))
	}
	row := func(setting string) string {
		return fmt.Sprintf("| %.2f %% | %.1f %% | %s", paper.PublishedBabi(setting).Average, paper.PublishedBabi(setting+"-transformer").Average, models(setting))
	}
	exchanged := func(setting string) string {
		return row(setting) + "\n| the same, words exchanged | | | " + models(setting+"-renamed")
	}
	withTaskThree := func(family string) string { // mean error of all tasks over their seeds
		var errors []float64
		for _, s := range b.babiRow(family) {
			errors = append(errors, mean(s.seeds))
		}
		if len(errors) != len(paper.BabiTasks) {
			t.Errorf("%s has %d tasks", family, len(errors))
		}
		return halvesUp("%.2f", mean(errors))
	}
	return []string{
		halvesUp("Ours has %.2f %% errors in 19 tasks of bAbI", averageBabi(b.babiRow("babi-10k-single-transformer")).overSeeds),
		row("babi-10k-single"), row("babi-10k-joint"), exchanged("babi-1k-single"), exchanged("babi-1k-joint"),
		fmt.Sprintf("With it, our models have %s and %s %% (one model: %s and %s %%).", withTaskThree("babi-10k-single"), withTaskThree("babi-10k-single-transformer"),
			withTaskThree("babi-10k-joint"), withTaskThree("babi-10k-joint-transformer")),
	}
}

// readmeSequences returns what README says of table 4, and the notes on its results.
func readmeSequences(t *testing.T, b book) (readme, notes []string) {
	of := func(family, column, set string) []float64 { return sequenceAccuracies(b.of(family, column), set) }
	columns := func(format string, value func(column string) float64) (list []string) {
		for _, c := range paper.Table4().Columns {
			list = append(list, fmt.Sprintf(format, value(c.Name)))
		}
		return list
	}
	means := func(family string) string { // over seeds
		return strings.Join(columns("%.3f", func(column string) float64 { return mean(of(family, column, "length 400")) }), ", ")
	}
	selected := func(family string) string { // of the selected seeds
		return strings.Join(columns("%.3f", func(column string) float64 {
			a, _ := b.sequenceValue(family, column, "length 400")
			return a.Value()
		}), ", ")
	}
	extended := func(family, set string) string { // means over the seeds of a row with more updates
		return and(columns("%.2f", func(column string) float64 { return 100 * mean(of(family, column, set)) }))
	}
	const most, longest, oneStep = "length 400, 10,000 sequences", "length 800, 1,000 sequences", "algorithmic-extended-one-step"
	additions := func(family, format string) string { // the worst and the best seed of five
		list := of(family, "addition", "length 400")
		if len(list) != 5 {
			t.Errorf("%s: %d seeds of addition", family, len(list))
		}
		return fmt.Sprintf(format, slices.Min(list), slices.Max(list))
	}
	readme = []string{
		fmt.Sprintf("| %s | %s | %s |", publishedSequences(paper.Table4(), "algorithmic-paper"), publishedSequences(paper.Table4(), "algorithmic-transformer"), selected("algorithmic-paper")),
		fmt.Sprintf("| %s (%s) | %s (%s) |", means("algorithmic"), selected("algorithmic"), means("algorithmic-alike-transformer"), selected("algorithmic-alike-transformer")),
		fmt.Sprintf("| %s | %s |", selected("algorithmic-paper"), selected("algorithmic-transformer")),
		fmt.Sprintf("has %s %% of 10,000 sequences of 400 symbols right, and %s %% of 1,000 of 800 symbols", extended("algorithmic-extended", most), extended("algorithmic-extended", longest)),
		fmt.Sprintf("On addition, the five seeds of the Transformer have %s right, those of the Universal Transformer %s, and the test does not tell the means apart.", additions("algorithmic-alike-transformer", "%.2f to %.3f"), additions("algorithmic", "%.3f to %.3f")),
	}
	return readme, []string{
		fmt.Sprintf("one seed of a single step has %s %%, and %s %%;", extended(oneStep, most), extended(oneStep, longest)),
		fmt.Sprintf("a single step has %s, and an LSTM %s (copy with Adam and other validation sequences: %.3f).", means("algorithmic-alike-one-step"), means("algorithmic-alike-lstm"),
			mean(of("algorithmic-adam-lstm", "copy", "length 400"))),
		fmt.Sprintf("addition at 800 is %.3f for the Universal Transformer and %.3f for the Transformer.", mean(of("algorithmic", "addition", "length 800")),
			mean(of("algorithmic-alike-transformer", "addition", "length 800"))),
	}
}

// readmeTranslation returns what README says of table 7, and the note on it.
func readmeTranslation(b book) (readme []string, note string) {
	on := func(family, column, set string) string {
		return spread("%.2f", sample(b.of(family, column), set, "BLEU"))
	}
	bleu := func(family, column string) string { return on(family, column, "test_2016_flickr") }
	readme = []string{
		fmt.Sprintf("| %s | %s |", bleu("translation", "multi30k"), bleu("translation-transformer", "multi30k")),
		fmt.Sprintf("with 2.3 times the updates, the Transformer has %s BLEU on news and the Universal Transformer %s, which the test does not tell apart; the Transformer was still improving.",
			on("translation-transformer-longer", "news", "newstest2014"), on("translation", "news", "newstest2014")),
	}
	return readme, fmt.Sprintf("the Universal Transformer has %s and the Transformer %s.", bleu("translation", "multi30k-raw"), bleu("translation-transformer", "multi30k-raw"))
}
