package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/paper/measure"
	"universal-transformer/sweep"
)

// translatedSet is a set with a BLEU, and notes that agree with it.
func translatedSet(name string, sentences int, bleu float64) measure.TranslatedSet {
	return measure.TranslatedSet{Name: name, Sentences: sentences, Alpha: 1, BLEU: bleu, Notes: []string{
		fmt.Sprintf("BLEU|nrefs:1 = %.1f %.1[1]f/%.1[1]f/%.1[1]f/%.1[1]f (BP = 1.000 ratio = 1.000 hyp_len = 9 ref_len = 9)", bleu), "chrF2|nrefs:1 = 0.0",
	}}
}

// news is a result of the column news of table 7.
func news(t *testing.T, family string, seed uint64, bleu float64) sweep.Result {
	return result(t, family+"/news", seed, 1, &measure.Translation{Sets: []measure.TranslatedSet{
		translatedSet("newstest2013", 3000, bleu+1), translatedSet("newstest2014", 3003, bleu),
	}})
}

// fourRuns are two runs each of two rows.
func fourRuns(t *testing.T) []sweep.Result {
	return []sweep.Result{news(t, "translation", 2, 10.75), news(t, "translation", 10, 6.5), news(t, "translation-transformer", 2, 6.25), news(t, "translation-transformer", 10, 6.75)}
}

// twoTests are the paired tests of fourRuns, the later seed first: 1 and 250 of 1,001 samples.
func twoTests() []measure.Paired {
	one := measure.Paired{
		Row: "translation", Baseline: "translation-transformer", Column: "news", Seed: 10, Set: "newstest2014", Sentences: 3003, BLEU: 6.5, BaselineBLEU: 6.75, Difference: -0.25,
		P: 250. / 1001, Samples: 1000, SamplesSeed: 12345, MeasuredBy: sweep.Provenance{Version: "0.2.0", Commit: "72de2f9c7119", Backend: "cpu:threads=1"},
	}
	two := one
	two.Seed, two.BLEU, two.BaselineBLEU, two.Difference, two.P = 2, 10.75, 6.25, 4.5, 1./1001
	return []measure.Paired{one, two}
}

// The paired tests stand below the tests over seeds and on the page of table 7, by seed. Nothing else on any page changes: no verdict and no
// correction counts them.
// Caught when planted: tests in the order of files; BLEU of both exchanged; a paired test among those of book.comparisons.
func TestPaired(t *testing.T) {
	results := fourRuns(t)
	without := render(t, results)
	pages, err := Render(Input{Results: results, Paired: twoTests()}, "results", func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	line := "- news, newstest2014, sacreBLEU's paired bootstrap, of the seeds whose weights were kept, not corrected, about these sentences and runs, not about other seeds: " +
		"translation 10.75 against translation-transformer 6.25 (seed 2, p = 0.001, the smallest possible), 6.50 against 6.75 (seed 10, p = 0.25).\n"
	text := string(pages.Results)
	if strings.Count(text, line) != 1 || strings.Replace(text, line, "", 1) != string(without.Results) {
		t.Errorf("RESULTS.md with paired tests is not the one without and %q:\n%s", line, text)
	}
	details := string(pages.Files["table7.md"])
	begin := strings.Index(details, "## Paired bootstrap")
	if begin < 0 {
		t.Fatal(details)
	}
	section := details[begin:strings.Index(details, "## Parameters")]
	for _, want := range []string{
		"says nothing about other seeds", "not corrected",
		"| news | newstest2014 | 3,003 | translation-transformer | 2 | 10.75 | 6.25 | +4.50 | 0.0010 | 1,000, 12345 | 0.2.0+72de2f9c7119, cpu:threads=1 |\n" +
			"| news | newstest2014 | 3,003 | translation-transformer | 10 | 6.50 | 6.75 | -0.25 | 0.2498 | 1,000, 12345 |",
	} {
		if !strings.Contains(section, want) {
			t.Errorf("no %q in\n%s", want, section)
		}
	}
	if strings.Replace(details, section, "", 1) != string(without.Files["table7.md"]) {
		t.Error("paired tests change another section of the page")
	}
}

// A test of other figures than those of the results, of another set or of cells that are not compared is refused, with its file.
// Caught when planted: the BLEU of one side not checked; the first seed for every seed.
func TestPairedIsStale(t *testing.T) {
	for _, c := range []struct {
		change func(*measure.Paired)
		says   string
	}{
		{func(p *measure.Paired) { p.BLEU = 10.5 }, "translation/news-seed2 has 10.5 BLEU on 3003 sentences, its result 10.75 on 3003"},
		{func(p *measure.Paired) { p.BaselineBLEU = 6.75 }, "translation-transformer/news-seed2 has 6.75 BLEU on 3003 sentences, its result 6.25 on 3003"},
		{func(p *measure.Paired) { p.Sentences = 3000 }, "has 10.75 BLEU on 3000 sentences"},
		{func(p *measure.Paired) { p.Seed = 3 }, "translation/news has no result with seed 3"},
		{func(p *measure.Paired) { p.Set = "newstest2013" }, `set is "newstest2013": column news is compared by newstest2014`},
		{func(p *measure.Paired) { p.Baseline = "translation-tiny" }, `baseline is "translation-tiny" and column "news": table 7 has no such cell`},
		{func(p *measure.Paired) { p.Column = "wmt14" }, `column "wmt14": table 7 has no such cell`},
		{func(p *measure.Paired) { p.Baseline = "algorithmic" }, `baseline is "algorithmic"`},
		{func(p *measure.Paired) { p.Baseline = "translation" }, "translation is compared with other rows"},
		{func(p *measure.Paired) { p.Row = "translation-transformer" }, `row is "translation-transformer"`},
	} {
		tests := twoTests()
		c.change(&tests[1])
		_, err := Render(Input{Results: fourRuns(t), Paired: tests}, "results", func(string) bool { return false })
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), tests[1].File()+": ") || !strings.HasSuffix(err.Error(), ": remove the file, or repeat the test") {
			t.Errorf("%v, want %q", err, c.says)
		}
	}
}

// A file has the fields of a test, all of them and nothing else, values that agree with one another, and the name of its content. Caught
// when planted: json.Unmarshal in place of strictjson.Decode; brackets in the name of a folder taken for a pattern; Complete left out;
// Validate left out; a difference that is not computed.
func TestReadPairedRefuses(t *testing.T) {
	data, err := json.MarshalIndent(twoTests()[1], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	read := func(name, content string) ([]measure.Paired, error) {
		file := filepath.Join(t.TempDir(), "results [1]", "paired", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return ReadPaired(filepath.Dir(filepath.Dir(file)))
	}
	const name = "translation-transformer-news-seed2.json"
	if list, err := read(name, good); err != nil || len(list) != 1 || list[0] != twoTests()[1] {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := read("news-seed2.json", good); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("another name: %v", err)
	}
	for _, c := range []struct{ old, new, says string }{
		{good, "{", "ends before the value does"}, {`"seed": 2`, `"seed": 3`, "its name must be"}, {`"seed": 2,`, ``, "seed is missing"},
		{`"p":`, `"q": 1, "p":`, `unknown key "q"`}, {`"backend":`, `"host": "x", "backend":`, `unknown key "host" in measured_by`},
		{`"difference": 4.5`, `"difference": -4.5`, "difference is -4.5: bleu minus baseline_bleu is 4.5"}, {`"p": 0.000999000999000999`, `"p": 0.001`, "p is 0.001: it must be one of 1/1001"},
		{`"p": 0.000999000999000999`, `"p": 0`, "p is 0"}, {`"p": 0.000999000999000999`, `"p": 1.000999000999001`, "p is 1.00"}, {`"bleu": 10.75`, `"bleu": 107.5`, "bleu is 107.5"},
		{`"baseline_bleu": 6.25`, `"baseline_bleu": -6.25`, "baseline_bleu is -6.25"}, {`"samples": 1000`, `"samples": 0`, "samples is 0"}, {`"sentences": 3003`, `"sentences": 0`, "sentences is 0"},
		{`"row": "translation"`, `"row": ""`, "row, baseline, column or set is empty"}, {`"backend": "cpu:threads=1"`, `"backend": ""`, "measured_by has no version or no backend"},
		{`"backend":`, `"threads": -1, "backend":`, "measured_by.threads is -1"},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Fatalf("%q is not in\n%s", c.old, good)
		}
		if _, err := read(name, bad); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), name) || !strings.HasSuffix(err.Error(), ": remove the file, or repeat the test") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.new, err, c.says)
		}
	}
}
