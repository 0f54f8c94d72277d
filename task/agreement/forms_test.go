package agreement

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// forms is a folder of rows and a file of pairs. Of the words before verbs, "are" occurs three times as often as "is", and singular rows are
// four times as many as plural ones.
func forms(t testing.TB) Forms {
	t.Helper()
	dir := numpred(t, 60)
	var val strings.Builder
	for i := range 500 {
		tag, noun := singular, "key"
		if i%5 == 0 {
			tag, noun = plural, "keys"
		}
		fmt.Fprintf(&val, "%s\tthe room%d where %s lost NNS , the %s\n", tag, i, []string{"are", "is", "are", "are"}[i%4], noun)
	}
	val.WriteString("VBZ\tthe key\n")
	write(t, dir, "numpred.val", val.String())
	var text, gold strings.Builder
	for i := range 40 {
		sentence, verb, other := "the key to zebras%d", "is", "are"
		if i%2 == 0 {
			sentence, verb, other = "the keys to zebra%d", "are", "is"
		}
		if i >= 30 {
			verb, other = map[string]string{"is": "opens", "are": "open"}[verb], map[string]string{"is": "opens", "are": "open"}[other]
		}
		fmt.Fprintf(&text, sentence+" %s it <eos>\n", i, verb)
		fmt.Fprintf(&gold, "4\t%s\t%s\t%d\n", verb, other, i%5)
	}
	write(t, dir, "p.gold", gold.String())
	return Forms{Number: Number{Path: dir, Regime: Natural, MinCount: 2}, Pairs: write(t, dir, "p.text", text.String())}
}

// halves is a classifier and a language model with its own probability of the plural. In the language model, the tags share a third of
// the probability with other words.
type halves struct {
	known
	plural func(source []string) float64
}

func newHalves(t *testing.T, v task.Vocabularies, plurals func(source []string) float64) *halves {
	h := &halves{plural: plurals}
	h.v = v
	h.logProb = func(text []string, at int) float64 {
		p := h.plural(text[:at])
		switch {
		case at < len(text)-1:
			return -5
		case text[at] == singular:
			p = 1 - p
		case text[at] != plural:
			t.Errorf("%q ends in no tag", text)
		}
		return math.Log(p / 3)
	}
	return h
}

func (h *halves) Classify(_ context.Context, examples []task.Example) (out []task.Classified, err error) {
	for _, e := range examples {
		p := h.plural(h.v.Source.Decode(e.Source))
		one, many := h.class(singular), h.class(plural)
		c := task.Classified{Class: one, LogProb: math.Log(p)}
		if p > 0.5 {
			c.Class = many
		}
		if e.Target[0] == one {
			c.LogProb = math.Log(1 - p)
		}
		out = append(out, c)
	}
	return out, nil
}

func (h *halves) class(tag string) vocab.ID {
	id, _ := h.v.Target.ID(tag)
	return id
}

// A form's score is the probability of its number times its share of the verbs of that number, both counted here by plain loops over the
// training rows. Caught when planted: counts without the one, the tags' counts left out, the forms' frequencies taken for each other, the
// probability of the other class for the true one; in the language model, the verb in place of its tag, the logarithms added, the probability of the
// right tag alone.
func TestFormsRank(t *testing.T) {
	classes := forms(t)
	for name, c := range map[string]task.Definition{"classes": classes, "tags": TextForms{Forms: classes}} {
		t.Run(name, func(t *testing.T) { checkFormsRank(t, c) })
	}
}

func checkFormsRank(t *testing.T, c task.Definition) {
	tk := opened(t, c)
	_, classes := c.(Forms)
	words, rows := map[string]int{}, map[string]int{}
	for _, r := range tk.training {
		fields := strings.Fields(r.text)
		rows[fields[len(fields)-1]]++
		for _, w := range fields[:len(fields)-1] {
			words[w]++
		}
	}
	if words["are"] < 2*words["is"] || rows[singular] < 3*rows[plural] || words["opens"] != 0 || len(tk.test) != 40 {
		t.Fatalf("%d are, %d is, %v, %d pairs", words["are"], words["is"], rows, len(tk.test))
	}
	examples, err := tk.HeldOut(1, task.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []float64{0.02, 0.1, 0.2, 0.3, 0.5, 0.75, 0.999, 1} {
		plurals := func(source []string) float64 {
			if len(source) > 1 && source[1] == "keys" && q < 0.3 {
				return q + 0.6
			}
			return q
		}
		m := newHalves(t, tk.Vocabularies(), plurals)
		result, err := c.Measure(m.v).Measure(t.Context(), m, examples)
		if err != nil {
			t.Fatal(err)
		}
		right, number, frequent := 0, 0, 0
		for i, r := range tk.test {
			verb, p := r.words()[r.verb], plurals(strings.Fields(r.preamble()))
			share := func(word, tag string) float64 { return float64(words[word]+1) / float64(rows[tag]) }
			isPlural := verb == "are" || verb == "open"
			mine, others := p*share(verb, plural), (1-p)*share(r.other, singular)
			if !isPlural {
				mine, others = (1-p)*share(verb, singular), p*share(r.other, plural)
			}
			if want := mine > others; result.Answers[i].Correct != want || result.Answers[i].Text != map[bool]string{true: verb, false: r.other}[want] {
				t.Errorf("%v, %q or %q: %v against %v, but %+v", p, verb, r.other, mine, others, result.Answers[i])
			} else if want {
				right++
			}
			if isPlural == (p > 0.5) && (classes || p != 0.5) { // a tie counts as wrong; a classifier answers singular
				number++
			}
			if words[verb] > words[r.other] {
				frequent++
			}
		}
		for _, metric := range result.Metrics {
			if want, ok := map[string]int{"total": right, "total number alone": number, "total more frequent": frequent}[metric.Name]; ok && metric.Accuracy.Correct != want {
				t.Errorf("%v: %s is %v, want %d", q, metric.Name, metric, want)
			}
		}
		if len(result.Metrics) != 6*6 {
			t.Errorf("%d metrics", len(result.Metrics))
		}
	}
}

// Of the sentences that Forms tests, those whose words before the verb are trained on are skipped if they stay words. What Forms skips is not tested
// either. Caught when planted: one spelling that is not compared, either of the two.
func TestTextFormsTest(t *testing.T) {
	c := forms(t)
	val, err := os.ReadFile(filepath.Join(c.Path, "numpred.val"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, c.Path, "numpred.val", string(val)+"VBZ\tthe CD\nVBP\tthe wolves\n") // CD is a tag, wolves a word that occurs once
	write(t, c.Path, "p.text", "the zebras3 opens it\nthe wolves open it\nthe foxes open it\n")
	write(t, c.Path, "p.gold", "2\topens\topen\t0\n2\topen\topens\t0\n2\topen\topens\t0\n")
	text := write(t, c.Path, "zoo.txt", strings.Repeat("zebras3 wolves foxes\nfoxes zebras3 wolves\nwolves wolves\n", 9))
	for d, want := range map[task.Definition]string{
		c: "the NNS open it, the NNS open it", TextForms{Forms: c}: "the NNS open it, the NNS open it", TextForms{Forms: c, Text: text}: "the foxes open it",
	} {
		var tested []string
		for _, r := range opened(t, d).test {
			tested = append(tested, r.text)
		}
		if got := strings.Join(tested, ", "); got != want {
			t.Errorf("%+v tests %q, want %q", d, got, want)
		}
	}
}

// Words that occur fewer than min_count times before verbs are replaced by tags; 0 means 1. Caught when planted: words that occur min_count times
// replaced.
func TestRareWords(t *testing.T) {
	var training []row
	for _, text := range []string{"glass houses walking VBZ", "houses walking VBZ", "walking is VBP"} {
		training = append(training, numberRow(strings.Fields(text)))
	}
	sentence := row{text: "walking houses sadly glass VBZ VBP far is", verb: 7, other: "are"}
	for minCount, want := range map[int]string{
		0: "walking houses RB glass VBZ VBP far is", 1: "walking houses RB glass VBZ VBP far is",
		2: "walking houses RB NN VBZ VBP far is", 3: "walking NNS RB NN VBZ VBP far is", 4: "VBG NNS RB NN VBZ VBP far is",
	} {
		if got := newLexicon(training, minCount, []string{"far"}).rows([]row{sentence})[0].text; got != want {
			t.Errorf("min_count %d: %q, want %q", minCount, got, want)
		}
	}
}

// A language model of forms knows the frequent words of the text, as many as are asked for, besides those of its own rows, and sentences
// keep them. A language model of the text knows the same. The frequencies are made for it: none is near another.
// Caught when planted: words of the text left out of the vocabulary, or replaced by tags; a limit that is ignored; own words left out; words that
// are replaced in a file.
func TestTextFormsKnowTheText(t *testing.T) {
	c := forms(t)
	var text strings.Builder
	for i := range 400 {
		text.WriteString("the")
		for at, word := range []string{"to", "zebras3", "lions", "zebras4"} { // from 400, 300, 200 and 100 sentences
			if i%4 >= at {
				text.WriteString(" " + word)
			}
		}
		fmt.Fprintf(&text, " number%d\n", i)
	}
	with := TextForms{Forms: c, Text: write(t, c.Path, "zoo.txt", text.String()), Vocabulary: 4}
	lm := opened(t, Pairs{Path: c.Pairs, Text: with.Text, Vocabulary: 4})
	if got := fmt.Sprint(lm.v.Target.Tokens()); got != "[the to zebras3 lions]" {
		t.Errorf("the text's words are %s", got)
	}
	tk, counts := opened(t, with), map[string]int{}
	for _, r := range tk.training {
		for _, w := range strings.Fields(r.text) {
			counts[w]++
		}
	}
	want := map[string]bool{"the": true, "to": true, "zebras3": true, "lions": true}
	for w, n := range counts {
		if n > 1 {
			want[w] = true
		}
	}
	for _, w := range tk.v.Target.Tokens() {
		if !want[w] {
			t.Errorf("%s is known", w)
		}
		delete(want, w)
	}
	if len(want) > 0 || !tk.v.Target.HasUnknown() || counts[plural] == 0 || counts["to"] != 0 {
		t.Errorf("%v are not known; %v", want, counts)
	}
	rows, _, err := with.Reader(tk.v).File(c.Pairs)
	if err != nil || len(rows) != len(tk.test) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, want := range map[int]string{1: "the key to CD is it", 3: "the key to zebras3 is it", 4: "the keys to CD are it"} {
		if got := tk.test[i].text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := rows[i].Origin.(row).text; got != want {
			t.Errorf("in a file: %q, want %q", got, want)
		}
	}
	if got := opened(t, TextForms{Forms: c}).test[3].text; got != "the key NN CD is it" {
		t.Errorf("without a text: %q", got)
	}
}

// The parts are those of Classes, and the test has only pairs. Their rare words are tags; preambles that are also trained on are skipped.
// Caught when planted: rows of numpred.test in the test; words after the verb replaced; a tag that becomes a noun.
func TestFormsRead(t *testing.T) {
	c := forms(t)
	tk, classes := opened(t, c), opened(t, Classes(c.Number))
	if tk.Digests().Training != classes.Digests().Training || tk.Digests().Validation != classes.Digests().Validation {
		t.Error("the training rows are not those of Classes")
	}
	if got := tk.test[1].text; got != "the key NN CD is it" { // "to" does not occur in training
		t.Errorf("%q", got)
	}
	for word, want := range map[string]string{
		"zebras": "NNS", "glass": "NN", "corpus": "NN", "basis": "NN", "walking": "VBG", "blurred": "VBN", "sadly": "RB", "edible": "JJ",
		"off-road": "JJ", "1984": "CD", "12th": "CD", "tree": "NN", "NNS": "NNS", "VBZ": "VBZ", ".": "NN", "as": "NN", "": "NN",
	} {
		if got := tagOf(word); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
	write(t, c.Path, "p.text", "the key opens it\nthe keys open it\n")
	write(t, c.Path, "p.gold", "2\topens\topen\t0\n2\topen\topens\t0\n")
	if again := opened(t, c); len(again.test) != 1 || again.test[0].text != "the keys open it" {
		t.Errorf("%+v", again.test)
	}
}
