package measure

import (
	"strings"
	"testing"

	"universal-transformer/internal/score"
)

// refusedUnless checks whether an error is there exactly if a case is wrong.
func refusedUnless(t *testing.T, right bool, err error, about ...any) {
	t.Helper()
	if right != (err == nil) {
		t.Errorf("%v: %v", about, err)
	}
}

// Of 10 verbs 4 are plural, and 7 answers are correct: 5 of singular and 2 of plural verbs give (5/6 + 2/4) / 2 = 2/3; at best all plural
// ones are correct and 3 singular, (3/6 + 4/4) / 2 = 3/4; at worst (6/6 + 1/4) / 2 = 5/8.
func TestCheckBalanced(t *testing.T) {
	for value, right := range map[float64]bool{2. / 3: true, 0.75: true, 0.625: true, 0.7: false, 0.66667: false, 19. / 24: false, 7. / 12: false} {
		list := []score.Metric{
			score.Share("2 attractors", score.Accuracy{Correct: 7, Total: 10}), score.Figure("2 balanced", value), score.Share("2 always plural", score.Accuracy{Correct: 4, Total: 10}),
		}
		refusedUnless(t, right, checkMetrics(list), value)
		list[0].Name, list[1].Name, list[2].Name = "total", "total balanced", "total always plural"
		refusedUnless(t, right, checkMetrics(list), value, "total")
	}
	// As many singular as plural verbs, 3 of 10 of all correct: .3, whichever they are. Counts that no test set has are checked in no time.
	for _, c := range []struct {
		correct, total, plural int
		value                  float64
		right                  bool
	}{{3, 10, 5, 0.3, true}, {3, 10, 5, 0.31, false}, {1 << 60, 1 << 61, 1 << 59, 0.5, true}, {1 << 60, 1 << 61, 1 << 59, 0.99, false}} {
		m := score.Figure("total balanced", c.value)
		refusedUnless(t, c.right, checkBalanced(m, score.Accuracy{Correct: c.correct, Total: c.total}, score.Accuracy{Correct: c.plural, Total: c.total}), c)
	}
	for value, right := range map[float64]bool{1: true, 0: true, 1.01: false, -0.01: false, 7: false} {
		refusedUnless(t, right, checkMetrics([]score.Metric{score.Figure("random content word", value)}), value)
	}
	refusedUnless(t, false, checkMetrics([]score.Metric{score.Figure("a", 1), score.Figure("a", 1)}), "twice")
}

// Steps are whole numbers: a mean of 2.25 has at least the deviation of three twos and a three, sqrt(3)/4 = 0.433.
func TestCheckPonder(t *testing.T) {
	for _, c := range []struct {
		mean, deviation float64
		tenths          []float64
		right           bool
	}{
		{0, 0, nil, true}, {2, 0, []float64{2, 2}, true}, {2.25, 0.4331, []float64{2, 2.5}, true}, {2.25, 0.43, []float64{2, 2.5}, false}, {0.5, 1, nil, false},
		{2.25, 0.5, []float64{2.5, 3}, false}, {2.25, 0.5, []float64{1, 2}, false}, {0, 0.5, nil, false},
	} {
		refusedUnless(t, c.right, checkPonder(c.mean, c.deviation, c.tenths, true), c)
	}
	refusedUnless(t, true, checkPonder(2.25, 0, nil, false), "the mean alone")
}

// Kinds of 2 and of 4 steps, each without deviation, have the mean 3 if they are equally long, with the deviation 1. A third kind of 3 ± 0.5 may make
// it less, up to 0.5.
func TestCheckKinds(t *testing.T) {
	two := []PonderTime{{Name: "a", Examples: 1, Encoder: 2}, {Name: "b", Examples: 1, Encoder: 4}}
	three := append(two, PonderTime{Name: "c", Examples: 1, Decoder: 3, Deviation: 0.5})
	for _, c := range []struct {
		mean, deviation float64
		kinds           []PonderTime
		right           bool
	}{
		{3, 1, two, true}, {3, 0.99, two, false}, {3, 1.01, two, false}, {2, 0, two, true}, {4, 0, two, true}, {4.1, 0.3, two, false}, {1.9, 0.3, two, false}, {3.5, 0.8660254, two, true},
		{3, 0.5, three, true}, {3, 0.75, three, true}, {3, 1, three, true}, {3, 0.49, three, false}, {3, 1.01, three, false},
	} {
		refusedUnless(t, c.right, checkKinds(c.mean, c.deviation, c.kinds), c)
	}
}

// The note is one that sacreBLEU 2.6.0 prints, of a published result.
func TestCheckNotes(t *testing.T) {
	const note = "BLEU|nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:2.6.0 = 28.9 61.0/34.9/22.3/14.7 (BP = 1.000 ratio = 1.030 hyp_len = 5311 ref_len = 5158)"
	good := TranslatedSet{BLEU: 28.88374691006249, ChrF: 57.08, Notes: []string{note, "chrF2|nrefs:1|version:2.6.0 = 57.1", "3 of 461 answers did not end"}}
	refusedUnless(t, true, checkNotes(good))
	for _, change := range [][2]string{
		{"= 28.9", "= 29.9"}, {"14.7", "15.7"}, {"61.0", "41.0"}, {"BP = 1.000", "BP = 0.900"}, {"1.030", "1.040"}, {"5311", "5111"}, {"57.1", "57.2"}, {"BLEU|", "TER|"}, {"chrF2", "chrF"}, {"(BP", "(PB"},
	} {
		bad := good
		bad.Notes = nil
		for _, n := range good.Notes {
			bad.Notes = append(bad.Notes, strings.Replace(n, change[0], change[1], 1))
		}
		refusedUnless(t, false, checkNotes(bad), change)
	}
	bad := good
	bad.BLEU = 28.97
	refusedUnless(t, false, checkNotes(bad), "bleu")
	bad = good
	bad.Notes = append(bad.Notes, note)
	refusedUnless(t, false, checkNotes(bad), "two notes of BLEU")
}

// Wrong sequences have wrong tokens.
func TestCheckScore(t *testing.T) {
	for _, c := range []struct {
		tokens, sequences int // wrong ones
		right             bool
	}{{0, 0, true}, {3, 3, true}, {9, 3, true}, {2, 3, false}, {1, 0, false}} {
		s := score.Score{Tokens: score.Accuracy{Correct: 90 - c.tokens, Total: 90}, Sequences: score.Accuracy{Correct: 10 - c.sequences, Total: 10}}
		refusedUnless(t, c.right, checkScore(s), c)
	}
}
