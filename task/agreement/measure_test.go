package agreement

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/score"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// known is a model whose answer to a row is a function of its words: the log-probability of a whole text, all of it at one token.
type known struct {
	task.Model // no other method is called
	v          task.Vocabularies
	classes    func(source []string) string
	logProb    func(text []string, at int) float64
	examples   int
}

func (*known) Decode(context.Context, []task.Example) ([]task.Decoded, error) {
	return nil, fmt.Errorf("nothing is decoded")
}

func (*known) Method() string { return "by hand" }

func (k *known) Classify(_ context.Context, examples []task.Example) (out []task.Classified, err error) {
	for _, e := range examples {
		class, _ := k.v.Target.ID(k.classes(k.v.Source.Decode(e.Source)))
		out = append(out, task.Classified{Class: class})
	}
	return out, nil
}

func (k *known) Score(_ context.Context, examples []task.Example) (out []task.Scored, err error) {
	k.examples += len(examples)
	for _, e := range examples {
		s := task.Scored{LogProbs: make([]float64, len(e.Target)), Best: slices.Clone(e.Target)}
		words := k.v.Target.Decode(e.Target)
		for at := range words {
			s.LogProbs[at] = k.logProb(words, at)
		}
		out = append(out, s)
	}
	return out, nil
}

// likes is a language model to which one word is likely, everywhere.
func likes(word string) func([]string, int) float64 {
	return func(text []string, at int) float64 {
		if text[at] == word {
			return -0.1
		}
		return -2
	}
}

// subject is the right answer to own-made preambles.
func subject(source []string) string {
	if slices.Contains(source[:2], "keys") {
		return plural
	}
	return singular
}

// measured are the metrics of a model by their names.
func measured(t *testing.T, c task.Definition, k *known) (map[string]score.Metric, task.Measurement) {
	t.Helper()
	tk := opened(t, c)
	k.v = tk.Vocabularies()
	examples, err := tk.HeldOut(1, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Measure(k.v).Measure(t.Context(), k, examples)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Answers) != len(examples) {
		t.Fatalf("%d answers to %d examples", len(result.Answers), len(examples))
	}
	by := map[string]score.Metric{}
	for _, m := range result.Metrics {
		if _, twice := by[m.Name]; twice {
			t.Errorf("two metrics %q", m.Name)
		}
		by[m.Name] = m
	}
	return by, result
}

// By attractors, what always answers plural has the share of plural verbs, balanced a half; what looks at the subject has all; what
// looks at the last word has what "last word" says; both kinds of model are measured alike.
// Caught when planted: rows of another group, the balanced mean over rows, forms taken for each other, ">=" for ">".
func TestNumberByAttractors(t *testing.T) {
	dir := numpred(t, 600)
	lastWord := func(source []string) string {
		if strings.HasSuffix(source[len(source)-1], "s") {
			return plural
		}
		return singular
	}
	for name, answer := range map[string]func([]string) string{"plural": func([]string) string { return plural }, "subject": subject, "last": lastWord} {
		for _, c := range []task.Definition{Classes{Path: dir, Regime: Natural}, Number{Path: dir, Regime: Enriched}} {
			logProb := func(text []string, at int) float64 {
				if at == len(text)-1 && answer(text[:at]) == text[at] {
					return -0.1
				}
				return -2
			}
			by, result := measured(t, c, &known{classes: answer, logProb: logProb})
			for k := 1; k <= maxAttractors; k++ {
				group := fmt.Sprint(k)
				all, constant, last, balanced := by[group+" attractors"], by[group+" always plural"], by[group+" last word"], by[group+" balanced"].Value
				if all.Accuracy.Total == 0 || constant.Accuracy.Total != all.Accuracy.Total || last.Accuracy.Total != all.Accuracy.Total || constant.Value < 0.5 || constant.Value > 0.85 {
					t.Fatalf("%s, %s, %d: %v, %v, %v", c, name, k, all, constant, last)
				}
				switch name {
				case "plural":
					if all.Accuracy != constant.Accuracy || balanced != 0.5 {
						t.Errorf("%s, %s, %d: %v, %v", c, name, k, all, balanced)
					}
				case "subject":
					if all.Value != 1 || balanced != 1 || last.Value != 0 {
						t.Errorf("%s, %s, %d: %v, %v, last word %v", c, name, k, all, balanced, last)
					}
				case "last":
					if all.Accuracy != last.Accuracy || balanced != 0 {
						t.Errorf("%s, %s, %d: %v, %v", c, name, k, all, balanced)
					}
				}
			}
			if _, number := c.(Number); number && name == "plural" && slices.ContainsFunc(result.Answers, func(a task.Answer) bool { return a.Text != plural }) {
				t.Errorf("an answer has more than the verb: %+v", result.Answers)
			}
			if _, ok := by["0 attractors"]; ok || by["total"].Accuracy.Total != len(result.Answers) || len(by) != 4*6 {
				t.Errorf("%v", by)
			}
			if notes := strings.Join(result.Notes, "\n"); strings.Contains(notes, "not comparable") != strings.HasSuffix(c.String(), string(Enriched)) {
				t.Errorf("%s: %s", c, notes)
			}
		}
	}
	equal := &known{logProb: func([]string, int) float64 { return -1 }}
	if by, _ := measured(t, Number{Path: dir, Regime: Natural}, equal); by["total"].Accuracy.Correct != 0 {
		t.Errorf("of equal probabilities %v", by["total"])
	}
}

// The balanced share is the mean of two shares, whatever their sizes.
func TestBalanced(t *testing.T) {
	c := tally{}
	for i := range 10 {
		c.add(row{text: "keys are", verb: 1, plural: true, attractors: 2}, i < 9, i < 4, i < 7)
	}
	for i := range 2 {
		c.add(row{text: "keys is", verb: 1, attractors: 2}, i < 1, false, true)
	}
	for _, m := range c.metrics(form{forms: true}) {
		want := map[string]float64{"2 attractors": 10. / 12, "2 balanced": 0.7, "2 always plural": 10. / 12, "2 last word": 10. / 12, "2 more frequent": 4. / 12, "2 number alone": 9. / 12}[strings.ReplaceAll(m.Name, "total balanced", "2 balanced")]
		if want != 0 && math.Abs(m.Value-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", m.Name, m, want)
		}
	}
}

// Verbs are ranked at their place, whatever stands behind them; rows whose forms are not both known are left out and counted; mixed
// rows count in the total only.
// Caught when planted: a probability of the whole sentence, unknown forms that are ranked, a group of mixed rows.
func TestVerbsAreRanked(t *testing.T) {
	path := verbs(t, 3000)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const odd = 40
	for i := range odd {
		content = append(content, dependency(fmt.Sprintf("the key number%d zigs here .", 1_000_000+i), "zigs", singular, 4, 0, 0)...)
	}
	c := Verbs{Path: write(t, t.TempDir(), "agr.tsv", string(content))}
	right := &known{logProb: func(text []string, at int) float64 {
		switch {
		case text[at] == "are" || text[at] == "is":
			if (text[at] == "are") == (subject(text) == plural) {
				return -0.1
			}
			return -1
		case at > 0 && (text[at-1] == "are") == (subject(text) == plural): // a trap: what follows the verb finds it unlikely
			return -50
		}
		return -2
	}}
	by, result := measured(t, c, right)
	for _, group := range []string{"0 attractors", "1 attractors", "2 attractors", "3 attractors", "homogeneous", "total"} {
		if by[group].Accuracy.Total == 0 || by[group].Value != 1 {
			t.Errorf("%s: %v", group, by[group])
		}
	}
	if by["homogeneous"].Accuracy.Total*3 > by["total"].Accuracy.Total*2 {
		t.Errorf("%v of %v are homogeneous", by["homogeneous"], by["total"])
	}
	notes := strings.Join(result.Notes, "\n")
	if left := len(result.Answers) - by["total"].Accuracy.Total; left < 25 || !strings.Contains(notes, fmt.Sprintf("%d of %d examples are not counted", left, len(result.Answers))) || !strings.Contains(notes, "count in the total only") {
		t.Errorf("%d left out: %s", left, notes)
	}
	if right.examples != 2*by["total"].Accuracy.Total {
		t.Errorf("%d texts were scored for %d rows", right.examples, by["total"].Accuracy.Total)
	}
}

// Sentences are ranked by all of their words: one that follows the verb may decide.
// Caught when planted: the verb's probability alone, forms of capitals.
func TestPairsAreRanked(t *testing.T) {
	for want, behind := range map[float64]float64{1: -1, 0: -9} {
		by, _ := measured(t, pairs(t), &known{logProb: func(text []string, at int) float64 {
			switch {
			case text[at] == "are":
				return -1
			case at > 0 && text[at-1] == "are":
				return behind
			}
			return -3
		}})
		if by["total"].Value != want || by["total"].Accuracy.Total != 30 || by["3 attractors"].Accuracy.Total != 6 || by["4 balanced"].Value == by["4 balanced"].Value { // no singular verbs: NaN
			t.Errorf("%v", by)
		}
	}
}

// Rows of other files are measured as those of the task are, by what the files say: words that are unknown have their spelling, and the
// attractors of numpred.test.K are K.
// Caught when planted: rows known again by their ids, the last word read from ids.
func TestOtherFiles(t *testing.T) {
	dir := numpred(t, 300)
	rows := "VBP\tmany of the blargs\nVBZ\tthe blarg near the zorgs\nVBP\tzorgs of the blarg\n"
	for _, c := range []task.Definition{Number{Path: dir, Regime: Natural}, Classes{Path: dir, Regime: Natural}} {
		for name, group := range map[string]string{"numpred.test.4": "4 attractors", "mine.txt": "total"} {
			by, result := measuredOn(t, c, write(t, t.TempDir(), name, rows))
			if m := by[group]; m.Accuracy != (score.Accuracy{Correct: 2, Total: 3}) || by["total last word"].Accuracy.Correct != 1 {
				t.Errorf("%s, %s: %+v", c, name, by)
			}
			if known := strings.Contains(strings.Join(result.Notes, "\n"), "3 of 3 rows count in the total only"); known != (group == "total") {
				t.Errorf("%s, %s: %q", c, name, result.Notes)
			}
		}
	}
	table := head + dependency("the blarg of the cabinet is here .", "is", singular, 6, 1, 0) + dependency("keys of the cabinet are here .", "are", plural, 5, 1, 1)
	if by, _ := measuredOn(t, Verbs{Path: verbs(t, 400)}, write(t, t.TempDir(), "other.tsv", table)); by["total"].Accuracy != (score.Accuracy{Correct: 1, Total: 2}) || by["1 attractors"].Value != 1 {
		t.Errorf("a table: %+v", by)
	}
	other := t.TempDir()
	write(t, other, "x.gold", "1\tare\tis\t0\n4\tIs\tare\t1\n1\tx\ty\t0\n")
	by, result := measuredOn(t, pairs(t), write(t, other, "x.text", "blargs are lost .\nkey to the blargs Is lost .\nx x x\n"))
	if by["total"].Accuracy != (score.Accuracy{Correct: 1, Total: 2}) || by["1 attractors"].Accuracy.Total != 1 || len(result.Answers) != 2 {
		t.Errorf("pairs: %+v", by)
	}
}

// measuredOn measures a model that always takes the plural on the rows of a file.
func measuredOn(t *testing.T, c task.Definition, path string) (map[string]score.Metric, task.Measurement) {
	t.Helper()
	v := opened(t, c).Vocabularies()
	examples, _, err := c.Reader(v).File(path)
	if err != nil {
		t.Fatal(err)
	}
	k := &known{v: v, classes: func([]string) string { return plural }, logProb: func(text []string, at int) float64 {
		if text[at] == plural || text[at] == "are" {
			return -0.1
		}
		return -2
	}}
	result, err := c.Measure(v).Measure(t.Context(), k, examples)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]score.Metric{}
	for _, m := range result.Metrics {
		by[m.Name] = m
	}
	return by, result
}

// An example that no row was made into is not counted.
func TestNoVerb(t *testing.T) {
	dir := numpred(t, 100)
	c := Number{Path: dir, Regime: Natural}
	v := opened(t, c).Vocabularies()
	id, _ := v.Target.ID("the")
	result, err := c.Measure(v).Measure(t.Context(), &known{v: v, logProb: likes("x")}, []task.Example{{Target: []vocab.ID{id}}, {Target: []vocab.ID{id, id}}})
	if err != nil || len(result.Metrics) != 4 || result.Metrics[0].Name != "total" || result.Metrics[0].Accuracy.Total != 0 || len(result.Answers) != 2 || !strings.Contains(strings.Join(result.Notes, "\n"), "2 of 2 examples are not counted") {
		t.Errorf("%+v, %v", result, err)
	}
}

// What the last word says.
func TestLastWord(t *testing.T) {
	for word, want := range map[string]bool{"keys": true, "key": false, "glass": false, "NNS": true, "NNPS": true, "NN": false, ",": false} {
		if got := numberRow([]string{"the", word, plural}).lastWord(); got != want {
			t.Errorf("%s: plural is %v", word, got)
		}
	}
	if (row{text: "are there"}).lastWord() {
		t.Error("there is no word before the verb")
	}
}

// Of ranked forms, what always takes the form that training has more often is beside; of tags it is not. Here "are" is the more
// frequent one of the text, and every pair has it.
// Caught when planted: the frequency of the test, forms taken for each other.
func TestMoreFrequentForm(t *testing.T) {
	likely := &known{logProb: func([]string, int) float64 { return -1 }}
	for _, more := range []string{"are", "is"} {
		c := pairs(t)
		text, err := os.ReadFile(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		c.Text = write(t, t.TempDir(), "learn.txt", string(text)+strings.Repeat("they "+more+" lost once more .\n", 40))
		by, _ := measured(t, c, likely)
		if want := map[string]float64{"are": 1, "is": 0}[more]; by["total more frequent"].Value != want || by["3 more frequent"].Accuracy.Total != 6 {
			t.Errorf("%q is more frequent: %v", more, by["total more frequent"])
		}
	}
	if by, _ := measured(t, Number{Path: numpred(t, 200), Regime: Natural}, &known{logProb: likely.logProb}); by["total more frequent"].Accuracy.Total != 0 {
		t.Error("tags have a more frequent form")
	}
}

// Who has numpred.train trains on it, and numpred.val validates; rows of the tests that stand in either are left out.
// Caught when planted: a tenth of numpred.val learned, the first test among what is learned.
func TestFullRegime(t *testing.T) {
	dir := numpred(t, 200)
	write(t, dir, "numpred.train", "VBP\tthe keys to my room\nVBZ\tthe lock\nVBP\tthe keys of all doors\n")
	tk := opened(t, Classes{Path: dir, Regime: Full})
	if len(tk.training) != 3 || len(tk.validation) != 220 {
		t.Errorf("%d rows to train on, %d to validate", len(tk.training), len(tk.validation))
	}
	if notes := strings.Join(tk.Notes(), "\n"); !strings.Contains(notes, "skipped 20 test rows") || !strings.Contains(notes, "the published training part") {
		t.Errorf("notes: %s", notes)
	}
	if _, err := (Number{Path: numpred(t, 20), Regime: Full}).Open(); err == nil || !strings.Contains(err.Error(), "numpred.train") {
		t.Error(err)
	}
}

// A folder of books is prose: sentences in lower case, split as the pairs are, with brackets as they have them. No sentence of a pair is learned.
// Caught when planted: the spelling of brackets in the treebank; brackets in the name of the folder taken for a pattern;
// hidden files that are books.
func TestPairsLearnFromBooks(t *testing.T) {
	c, books := pairs(t), filepath.Join(t.TempDir(), "books [1]")
	if err := os.Mkdir(books, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, books, "a.txt", "\"The keys, the Keys (to {7}) are [all] here,\" said Mr. Bell.\nHe didn't\nsee it. The keys to cabinet 7 are lost.\n\n"+strings.Repeat("He saw it on day 1. ", 30))
	var numbered strings.Builder
	for i := range 300 {
		fmt.Fprintf(&numbered, "A key is lost on day %d. ", i)
	}
	write(t, books, "b.txt", numbered.String())
	write(t, books, "README", "nobody reads this")
	write(t, books, "._a.txt", strings.Repeat("Hidden files are of other programs. ", 30))
	c.Text = books
	tk := opened(t, c)
	words := tk.Vocabularies().Target.Tokens()
	for _, word := range []string{"``", "(", "]", "{", "mr.", "n't", "keys"} {
		if !slices.Contains(words, word) {
			t.Errorf("%q is unknown", word)
		}
	}
	for word, why := range map[string]string{
		"-lrb-": "brackets are not spelled as in the treebank", "-rcb-": "brackets are not spelled as in the treebank", "He": "words are in lower case",
		"cabinet": "only a pair has it", "nobody": "README is not a book", "hidden": "a hidden file is not a book",
	} {
		if slices.Contains(words, word) {
			t.Errorf("%q is known: %s", word, why)
		}
	}
	if notes := strings.Join(tk.Notes(), "\n"); !strings.Contains(notes, "1 are pairs") {
		t.Errorf("notes: %s", notes)
	}
	c.Text = t.TempDir()
	if _, err := c.Open(); err == nil || !strings.Contains(err.Error(), "has no book (.txt)") {
		t.Error(err)
	}
}
