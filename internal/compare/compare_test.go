package compare

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/bleu"
	"universal-transformer/experiment"
	"universal-transformer/internal/browsertest"
	"universal-transformer/internal/curves"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// The p-values are those of Python's integers, 2*sum(comb(a+b, k) for k in range(min(a, b)+1))/2**(a+b); the first two by hand: 2 (1 + 10) / 2^10
// and 2 / 2^5.
func TestMcNemar(t *testing.T) {
	for _, c := range []struct {
		a, b int
		want float64
	}{{9, 1, 0.021484375}, {0, 5, 0.0625}, {0, 0, 1}, {7, 7, 1}, {31, 9, 0.0006795482549932785}, {120, 80, 0.0056851559967503055}} {
		if got := mcnemar(c.a, c.b); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d and %d: %.12g, want %.12g", c.a, c.b, got, c.want)
		}
	}
}

// Holm's example: 0.01, 0.04, 0.03 and 0.005 become 0.03, 0.06, 0.06 and 0.02.
func TestAdjust(t *testing.T) {
	pairs := []Pair{{P: 0.01}, {P: 0.04}, {P: 0.03}, {P: 0.005}}
	adjust(pairs)
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if math.Abs(pairs[i].P-want) > 1e-12 {
			t.Errorf("p %d is %v, want %v", i, pairs[i].P, want)
		}
	}
}

// A time that was not recorded is unknown, not zero.
// Caught when planted: 0.0 seconds.
func TestUnknownTime(t *testing.T) {
	c := Comparison{Runs: []Run{{}, {}, {}}}
	c.Runs[1].Info.Seconds, c.Runs[2].Info.Seconds = 0.5, 90
	for _, f := range c.facts() {
		if got := strings.Join(f.Values, ", "); f.Field == "time" && got != "-, 0.5 seconds, 1.5 minutes" {
			t.Errorf("times %s", got)
		}
	}
}

// answering is a run whose answers are correct where right has a 1.
func answering(name, right string) Run {
	r := Run{Name: name, measure: correctness("sequence accuracy"), Evaluation: &pipeline.Evaluation{Row: evaluation.Row{Task: "reverse", Lengths: "length 4", Count: len(right)}}}
	a := score.Accuracy{}
	for i, c := range right {
		source, answer := fmt.Sprintf("source %d <i>", i), task.Answer{Correct: c == '1'}
		text := "right"
		if !answer.Correct {
			text = "wrong of " + name
		}
		r.sources, r.targets, r.answers = append(r.sources, source), append(r.targets, "right"), append(r.answers, text)
		r.Evaluation.Answers = append(r.Evaluation.Answers, answer)
		a = a.Plus(score.Of(answer.Correct))
	}
	r.Evaluation.Metrics = []score.Metric{score.Share("sequence accuracy", a)}
	return r
}

// compared is three runs on 14 examples, of which the third one answered others; the first is significantly better than the second.
func compared() *Comparison {
	other := answering("other", "11111111111111")
	other.sources[3] = "another source"
	c := &Comparison{Version: "1.2.3", Runs: []Run{answering("first", "11111111111101"), answering("second", "00000000001111"), other}}
	for i := range c.Runs {
		r := &c.Runs[i]
		r.Info = pipeline.Info{Task: "reverse", Status: "finished", Step: 10, Steps: 10, Seconds: 90, Parameters: 1000}
		for step := int64(1); step <= 3; step++ {
			seconds := float64(step) * 10
			r.Rows = append(r.Rows, curves.Row{Step: step, Split: "training", Seconds: &seconds, Values: map[string]float64{"loss": float64(i) + 1/float64(step)}})
		}
	}
	c.compareScores()
	c.Examples = c.examples(3)
	c.Differences = differences([][]experiment.Explanation{
		{{Field: "name", Value: `"a"`}, {Field: "model.width", Value: "64"}, {Field: "seed", Value: "1"}},
		{{Field: "name", Value: `"b"`}, {Field: "model.width", Value: "32"}, {Field: "seed", Value: "1"}},
		{{Field: "name", Value: `"c"`}, {Field: "model.width", Value: "64"}, {Field: "model.heads", Value: "2"}, {Field: "seed", Value: "1"}},
	})
	return c
}

// The better of two runs is named if the test is significant; runs with other examples are not tested. Examples on which they disagree come first.
// Caught when planted: the worse run named, a pair of different examples tested, examples in the order of the test set.
func TestPairsAndExamples(t *testing.T) {
	c := compared()
	if len(c.Pairs) != 1 || c.Pairs[0].Better != 0 || math.Abs(c.Pairs[0].P-2*(1+11)/2048.) > 1e-9 {
		t.Fatalf("pairs %+v", c.Pairs)
	}
	if got, want := c.Sentence(c.Pairs[0]), "first is better than second: 0.9286 against 0.2857, p = 0.012; only first is right on 10 examples, only second on 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := "first and other have not answered the same examples: their scores cannot be compared|second and other have not answered the same examples: their scores cannot be compared"
	if got := strings.Join(c.Notes[:2], "|"); got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
	for i, e := range c.Examples {
		if e.Source != fmt.Sprintf("source %d <i>", i) || !e.Answers[0].Correct || e.Answers[1].Correct || e.Answers[2].Given {
			t.Errorf("example %d: %+v", i, e)
		}
	}
	if got := compared().examples(99); len(got) != 14 || got[10].Source != "source 12 <i>" || got[13].Source != "source 13 <i>" && got[13].Source != "source 11 <i>" {
		t.Errorf("all examples: %+v", got)
	}
}

// Only fields that differ are listed, apart from the name, and a field that a run lacks differs.
func TestDifferences(t *testing.T) {
	if got := fmt.Sprintf("%q", compared().Differences); got != `[{"model.width" ["64" "32" "64"]} {"model.heads" ["" "" "2"]}]` {
		t.Errorf("%s", got)
	}
}

// Perplexities of paired losses: the interval holds the value, a run that is better on every example is significantly so, and a run is as
// good as itself.
func TestPerplexity(t *testing.T) {
	losing := func(by float64) (r Run) {
		for i := range 50 {
			r.losses = append(r.losses, loss{float64(10+i%7) + by, 10})
		}
		return r
	}
	a, b := losing(0), losing(0.5)
	low, high, ok := perplexity.interval(a)
	if value := math.Exp((10*50 + 7*(1+2+3+4+5+6)) / 500.); !ok || !(low < value && value < high) || high/low > 1.3 {
		t.Errorf("%v..%v, %v", low, high, ok)
	}
	if p, _ := perplexity.test(a, b); p > 0.01 {
		t.Errorf("better on every example: p = %v", p)
	}
	if p, _ := perplexity.test(a, a); p != 1 {
		t.Errorf("a run and itself: p = %v", p)
	}
	if p, _ := perplexity.test(b, a); p > 0.01 {
		t.Errorf("worse on every example: p = %v", p)
	}
}

// measured is a run on two examples with a value of its measure.
func measured(name string, by measure, value float64) Run {
	r := Run{Name: name, measure: by, sources: []string{"", ""}, targets: []string{"a cat", "a dog"}, answers: []string{"a cat", "a cow"}, losses: []loss{{value, 1}, {value + 1, 1}}}
	r.Evaluation = &pipeline.Evaluation{Row: evaluation.Row{Measurement: task.Measurement{Metrics: []score.Metric{score.Figure(by.name, value)}}}}
	return r
}

// Values of different units are not compared, nor those that are not finite. Two runs with the same value are equally good, also in the
// adjustment of the others.
// Caught when planted: a perplexity of characters better than one of words, BLEU of characters compared with BLEU of words, a run whose perplexity is
// NaN better than another, the p-value of sacreBLEU for two equal translations.
func TestIncomparable(t *testing.T) {
	of := func(m measure, unit string) measure {
		m.unit = unit
		return m
	}
	characters, words := of(perplexity, "characters"), of(perplexity, "words")
	tokenized, cut := bleuOf(bleu.Config{}), bleuOf(bleu.Config{Tokenizer: bleu.Characters})
	for want, runs := range map[string][]Run{
		"a and b read the examples as different tokens: their scores cannot be compared":                         {measured("a", characters, 14), measured("b", words, 56)},
		"a and b have different tokenizers of BLEU: their scores cannot be compared":                             {measured("a", tokenized, 14), measured("b", cut, 56)},
		"a and b do not both have a finite perplexity per token: their scores cannot be compared":                {measured("a", words, 14), measured("b", words, math.NaN())},
		"inf and b do not both have a finite perplexity per token: their scores cannot be compared":              {measured("inf", words, math.Inf(1)), measured("b", words, 2)},
		"the tests are about these trained models; the same configuration with another seed gives another model": {measured("a", tokenized, 14), measured("b", tokenized, 14)},
	} {
		c := Comparison{Runs: runs}
		c.compareScores()
		if len(c.Notes) != 1 || c.Notes[0] != want {
			t.Errorf("notes %q, want %q", c.Notes, want)
		}
		if tested := strings.HasPrefix(want, "the tests"); tested != (len(c.Pairs) == 1) || tested && c.Pairs[0].P != 1 {
			t.Errorf("%s: pairs %+v", want, c.Pairs)
		}
	}
}

// BLEU is compared as ut bleu --paired does.
func TestBLEU(t *testing.T) {
	run := func(answers ...string) Run {
		return Run{answers: answers, targets: []string{"the cat sat on the mat", "a dog ran in the park today", "it rains all day long here", "we eat bread and drink tea"}}
	}
	a := run("the cat sat on the mat", "a dog ran in the park today", "it rains all day long here", "we eat bread and drink tea")
	b := run("the cat sat on a mat", "dog ran in park today", "rain all day", "we eat")
	m := bleuOf(bleu.Config{})
	want, err := bleu.Config{}.Compare(a.answers, b.answers, [][]string{a.targets}, bleu.Resampling{})
	if err != nil {
		t.Fatal(err)
	}
	if p, _ := m.test(a, b); p != want.P {
		t.Errorf("p is %v, want %v", p, want.P)
	}
	if low, high, ok := m.interval(a); !ok || low != 100 || high != 100 {
		t.Errorf("a perfect translation has %v..%v", low, high)
	}
}

// The text says what differs and which is better.
func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := compared().WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"model.width   64   32   64\n", "model.heads   -    -    2\n", "first is better than second: ", "sequence accuracy   0.9286 (0.6853..0.9873)   0.2857 (0.1172..0.5465)",
		"  second    wrong: wrong of second\n", "configuration: what differs\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

// The page has curves, scores, differences and answers, escapes all text, fits in small and large windows, light and dark, and names no other server.
func TestPageInBrowser(t *testing.T) {
	var out bytes.Buffer
	c := compared()
	c.Runs[1].Name = `<script>alert(1)</script>`
	c.Runs[2].Name, c.Notes = strings.Repeat("x", 120), append(c.Notes, strings.Repeat("y", 120))
	c.Problems = []string{"a <b>damaged</b> file"}
	if err := c.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if text := strings.ReplaceAll(out.String(), "http://www.w3.org/2000/svg", ""); strings.Contains(text, "http://") || strings.Contains(text, "https://") {
		t.Error("the page names another server")
	}
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	browser := browsertest.Start(t)
	for _, width := range []int64{1280, 400} {
		for _, scheme := range []string{"light", "dark"} {
			p := browsertest.OpenFile(t, browser, path, "", width, scheme)
			p.Becomes(`document.querySelector("#charts").dataset.drawn`, "3 3 3")
			p.Becomes(`document.querySelector(".chart").dataset.points`, "9")
			if got, want := p.Text("h1 + p"), "first is better than <script>alert(1)</script>: 0.9286 against 0.2857, p = 0.012; only first is right on 10 examples, only second on 1"; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if got := p.Text(".example"); got != "asked source 0 <i> correct right first right <script>alert(1)</script> wrong of second" {
				t.Errorf("example %q", got)
			}
			if got := p.Text("header .note"); got != "a <b>damaged</b> file" {
				t.Errorf("problem %q", got)
			}
			if wide := p.Eval(`document.querySelector(".compared thead th:last-child").offsetWidth > 400`); wide != "false" {
				t.Error("a column as wide as a long name")
			}
			p.Fits(fmt.Sprintf("compare %d %s", width, scheme))
		}
	}
}

// A ponder time of 0 is that of a stack of fixed depth or of none, and is not shown as a figure.
// Caught when planted: a figure of 0; other figures of 0 left out.
func TestValidationsOfFixedDepth(t *testing.T) {
	of := func(entropy, encoder, decoder float64) Run {
		return Run{Info: pipeline.Info{Best: &pipeline.Validation{Metrics: []pipeline.Figure{{Name: "cross_entropy", Value: entropy}, {Name: "encoder_ponder", Value: encoder}, {Name: "decoder_ponder", Value: decoder}}}}}
	}
	c := Comparison{Runs: []Run{of(0, 2.5, 0), of(1, 0, 3)}}
	if got := fmt.Sprint(c.validations()); got != "[{cross entropy [0 1]} {encoder ponder [2.5 -]} {decoder ponder [- 3]}]" {
		t.Errorf("%s", got)
	}
}
