package score_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// lcg draws the same numbers as the program in Python that computed the expected values.
type lcg uint32

func (r *lcg) below(n int) int {
	*r = (*r*1103515245 + 12345) % (1 << 31)
	return int(*r>>16) % n
}

// sentences draws 300 sentences of 1 to 12 tags, and answers of which some 7 of 10 are correct.
func sentences(tags []string, seed lcg) (truth, predicted [][]string) {
	r := &seed
	for range 300 {
		var t, p []string
		for range 1 + r.below(12) {
			a, b := tags[r.below(len(tags))], tags[r.below(len(tags))]
			if r.below(10) < 7 {
				b = a
			}
			t, p = append(t, a), append(p, b)
		}
		truth, predicted = append(truth, t), append(predicted, p)
	}
	return truth, predicted
}

const iob, iobes = "O O B-PER I-PER I-PER B-LOC I-LOC I-ORG B-ORG-SUB I-ORG-SUB B I", "O O B-A I-A E-A S-A B-B I-B E-B S-B"

// Random tags, most of which follow no scheme, have the spans of seqeval 1.2.2 in its default mode:
//
//	precision_score(truth, predicted), recall_score(truth, predicted), f1_score(truth, predicted)
//	precision_recall_fscore_support(truth, predicted, average=None)
//
// Caught when planted: a span that continues after E or S, a type that may change inside a span, a B that continues a span, a span of
// another type that counts as correct.
func TestSpansAreThoseOfSeqeval(t *testing.T) {
	for _, c := range []struct {
		name, tags string
		seed       lcg
		want       string
	}{
		{"IOB2", iob, 7, `all 0.6940671909 0.6985611511 0.6963069200
LOC 0.6813559322 0.6722408027 0.6767676768 299
ORG 0.6814814815 0.6715328467 0.6764705882 137
ORG-SUB 0.7173913043 0.7415730337 0.7292817680 267
PER 0.6899224806 0.6971279373 0.6935064935 383
_ 0.6960784314 0.7006578947 0.6983606557 304`},
		{"IOBES", iobes, 11, ofIOBES},
		{"BILOU", strings.NewReplacer("E-", "L-", "S-", "U-").Replace(iobes), 11, ofIOBES},
	} {
		counts := score.NewSpanCounts()
		truth, predicted := sentences(strings.Fields(c.tags), c.seed)
		for i := range truth {
			counts.Add(truth[i], predicted[i])
		}
		m := counts.Metrics()
		got := fmt.Sprintf("all %.10f %.10f %.10f", m[1].Value, m[2].Value, m[0].Value)
		for _, s := range counts.Scores() {
			got += fmt.Sprintf("\n%s %.10f %.10f %.10f %d", s.Class, s.Precision, s.Recall, s.F1, s.Support)
		}
		if got != c.want {
			t.Errorf("%s: the scores are\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

const ofIOBES = `all 0.7693905817 0.7593984962 0.7643618851
A 0.7755102041 0.7797537620 0.7776261937 731
B 0.7630465444 0.7390710383 0.7508674532 732`

// The spans of malformed tags are those of seqeval's get_entities, whose ends are inclusive: I without B, other types inside, E and S that
// are followed by I or E.
func TestSpans(t *testing.T) {
	tags := strings.Fields("I-PER I-PER B-PER I-LOC O I-LOC B-LOC B-LOC I-PER O E-PER S-PER I-PER E-PER E-PER B I O I")
	want := []score.Span{
		{"PER", 0, 2}, {"PER", 2, 3}, {"LOC", 3, 4}, {"LOC", 5, 6}, {"LOC", 6, 7}, {"LOC", 7, 8}, {"PER", 8, 9}, {"PER", 10, 11}, {"PER", 11, 12},
		{"PER", 12, 14}, {"PER", 14, 15}, {"_", 15, 17}, {"_", 18, 19},
	}
	if got := score.Spans(tags); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := score.Spans(nil); len(got) != 0 {
		t.Errorf("no tags have the spans %v", got)
	}
}

// Tags mark spans if all of them have a prefix of a known scheme.
func TestSpanTags(t *testing.T) {
	for tags, want := range map[string]bool{
		"O B-PER I-PER": true, "B I O": true, "O B-A L-A U-A": true, "I-A": true, "O": false, "": false, "NOUN VERB O": false, "O B-A X-A": false, "BE-A O": false, "O B-A INTJ": false,
	} {
		if got := score.SpanTags(strings.Fields(tags)); got != want {
			t.Errorf("%s: %v", tags, got)
		}
	}
}

// Without spans the scores are 0, as in seqeval, and not NaN.
func TestNoSpans(t *testing.T) {
	c := score.NewSpanCounts()
	c.Add([]string{"O", "O"}, []string{"O", "O"})
	for _, m := range c.Metrics() {
		if m.Value != 0 {
			t.Errorf("%s is %v", m.Name, m.Value)
		}
	}
	if len(c.Scores()) != 0 {
		t.Errorf("%+v", c.Scores())
	}
}

// The scores of 400 answers, with a class that is never answered and one that the model does not know, are those of scikit-learn 1.9.1:
//
//	accuracy_score(truth, predicted), f1_score(truth, predicted, average="macro")
//	classification_report(truth, predicted, zero_division=0), confusion_matrix(truth, predicted)
func TestClassesAreThoseOfScikitLearn(t *testing.T) {
	names, r := strings.Fields("a b c d e"), new(lcg)
	*r = 23
	c := score.NewConfusion(names)
	for range 400 {
		truth := names[min(r.below(5), r.below(5))]
		predicted := names[min(r.below(5), r.below(4))]
		if r.below(3) == 0 {
			predicted = truth
		}
		if truth == "e" {
			predicted = names[r.below(4)]
		}
		if predicted == "e" {
			predicted = "d"
		}
		if r.below(40) == 0 {
			truth = "x"
		}
		c.Add(truth, predicted)
	}
	if got := c.Accuracy().Value(); got != 0.47 || math.Abs(c.MacroF1()-0.2896471008777743) > 1e-15 {
		t.Errorf("accuracy %v, macro F1 %v", got, c.MacroF1())
	}
	got := ""
	for _, s := range c.Scores() {
		got += fmt.Sprintf("%s %.10f %.10f %.10f %d\n", s.Class, s.Precision, s.Recall, s.F1, s.Support)
	}
	if want := `a 0.5209580838 0.5918367347 0.5541401274 147
b 0.4696969697 0.5585585586 0.5102880658 111
c 0.4531250000 0.3918918919 0.4202898551 74
d 0.2702702703 0.2380952381 0.2531645570 42
e 0.0000000000 0.0000000000 0.0000000000 17
x 0.0000000000 0.0000000000 0.0000000000 9
`; got != want {
		t.Errorf("the scores are\n%swant\n%s", got, want)
	}
	const want = "[[87 36 13 11 0 0] [32 62 11 6 0 0] [20 20 29 5 0 0] [18 9 5 10 0 0] [6 2 6 3 0 0] [4 3 0 2 0 0]]"
	if got := fmt.Sprint(c.Counts); got != want {
		t.Errorf("the confusion is %s, want %s", got, want)
	}
}
