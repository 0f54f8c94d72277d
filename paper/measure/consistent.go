package measure

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/score"
)

// checkNames returns an error if a set has no name, or that of another one.
func checkNames(names []string) error {
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("sets[%d].name is empty", i)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("sets[%d].name is %q, as that of a set before", i, name)
		}
	}
	return nil
}

// checkScore returns an error unless the counts of tokens and sequences agree: a wrong sequence has a wrong token, and a correct one has none.
func checkScore(s score.Score) error {
	tokens, sequences := s.Tokens.Total-s.Tokens.Correct, s.Sequences.Total-s.Sequences.Correct
	if tokens < sequences || tokens > 0 && sequences == 0 {
		return fmt.Errorf("has %d wrong tokens in %d wrong sequences", tokens, sequences)
	}
	return nil
}

// checkMetrics returns an error unless every metric without counts is a possible share or perplexity that agrees with the counts beside it. A
// metric that is not a number had nothing to measure.
func checkMetrics(list []score.Metric) error {
	byName := map[string]score.Metric{}
	for _, m := range list {
		if _, twice := byName[m.Name]; twice || m.Name == "" {
			return fmt.Errorf("metric %q is given twice or has no name", m.Name)
		}
		byName[m.Name] = m
		switch perplexity := strings.Contains(m.Name, "perplexity"); {
		case math.IsNaN(m.Value):
		case math.IsInf(m.Value, 0) || perplexity && m.Value < 1 || !perplexity && !(m.Value >= 0 && m.Value <= 1):
			return fmt.Errorf("metric %q is %v: a share is from 0 to 1, and a perplexity at least 1", m.Name, m.Value)
		}
	}
	for _, m := range list {
		if group, ok := strings.CutSuffix(m.Name, " balanced"); ok {
			all, given := byName[group+" attractors"]
			if !given {
				all = byName[group]
			}
			if err := checkBalanced(m, all.Accuracy, byName[group+" always plural"].Accuracy); err != nil {
				return err
			}
		}
	}
	return checkLastWords(byName["last word accuracy"], byName["accuracy of covered"], byName["covered"], byName["last word perplexity"], byName["perplexity of covered"])
}

// checkBalanced returns an error unless a balanced accuracy is the mean of the accuracies of singular and plural verbs: with n verbs, p of
// them plural and c correct answers, s of which are singular, it is (s/(n-p) + (c-s)/p) / 2 for a whole number s. The counts of the answer plural are
// p and n.
func checkBalanced(m score.Metric, all, plural score.Accuracy) error {
	n, p, c := all.Total, plural.Correct, all.Correct
	if math.IsNaN(m.Value) || n == 0 || plural.Total != n || p == 0 || p == n {
		return nil
	}
	low, high := max(0, c-p), min(c, n-p)
	mean := func(s int) float64 { return (float64(s)/float64(n-p) + float64(c-s)/float64(p)) / 2 }
	nearest := low // the s whose mean is nearest to the value: the mean is linear in s
	if slope := 0.5/float64(n-p) - 0.5/float64(p); slope != 0 {
		nearest = int(min(max(math.Round((m.Value-mean(0))/slope), float64(low)), float64(high)))
	}
	for s := max(nearest-1, low); s <= min(nearest+1, high); s++ { // rounding may miss it by one
		if math.Abs(m.Value-mean(s)) < 1e-9 {
			return nil
		}
	}
	return fmt.Errorf("metric %q is %v, which %d correct of %d, %d of them plural, cannot give", m.Name, m.Value, c, n, p)
}

// checkLastWords returns an error unless the metrics of last words agree: a word that is not covered is never correct, and its negative
// log-probability is not negative. Other measures lack these metrics.
func checkLastWords(all, ofCovered, covered, perplexity, perplexityOfCovered score.Metric) error {
	n, k := all.Accuracy.Total, ofCovered.Accuracy.Total
	switch {
	case n == 0 || k == 0:
	case all.Accuracy.Correct != ofCovered.Accuracy.Correct || covered.Accuracy != (score.Accuracy{Correct: k, Total: n}):
		return fmt.Errorf("%d of %d last words are correct, and %d of %d that are covered, of which there are %d of %d",
			all.Accuracy.Correct, n, ofCovered.Accuracy.Correct, k, covered.Accuracy.Correct, covered.Accuracy.Total)
	case float64(k)*math.Log(perplexityOfCovered.Value) > float64(n)*math.Log(perplexity.Value)+1e-6*float64(n):
		return fmt.Errorf("the perplexity of %d last words is %v, but that of the %d that are covered is %v", n, perplexity.Value, k, perplexityOfCovered.Value)
	}
	return nil
}

// checkPonder returns an error unless mean, standard deviation and means of tenths can be those of numbers of steps, which are at least 1. Fixed
// depth has zeros, and files of earlier versions have the mean alone, which spread is false for.
func checkPonder(mean, deviation float64, tenths []float64, spread bool) error {
	switch rest := mean - math.Floor(mean); {
	case mean == 0 && deviation == 0 && tenths == nil:
		return nil
	case !(mean >= 1) || math.IsInf(mean, 0):
		return fmt.Errorf("the ponder time %v: a position has at least one step", mean)
	case !spread:
		return nil
	case !(deviation >= math.Sqrt(rest*(1-rest))-1e-6) || math.IsInf(deviation, 0):
		return fmt.Errorf("the ponder time %v ± %v, which whole numbers cannot have", mean, deviation)
	case tenths != nil && !(slices.Min(tenths) <= mean+1e-6 && slices.Max(tenths) >= mean-1e-6):
		return fmt.Errorf("the ponder time %v, which is not between those of its tenths, %v", mean, tenths)
	}
	return nil
}

// checkKinds returns an error unless the ponder times of a set, mean and deviation, can be those of the union of its kinds. With the means m of
// kinds and their means of squares s, the set's are a mixture of the points (m, s), whose shares are not recorded.
func checkKinds(mean, deviation float64, kinds []PonderTime) error {
	low, high := math.Inf(1), math.Inf(-1)
	for _, a := range kinds {
		for _, b := range kinds {
			x, y := a.Encoder+a.Decoder, b.Encoder+b.Decoder
			if x > mean+1e-6 || y < mean-1e-6 {
				continue
			}
			share := 0.0 // of b
			if y > x {
				share = min(max((mean-x)/(y-x), 0), 1)
			}
			square := (1-share)*(x*x+a.Deviation*a.Deviation) + share*(y*y+b.Deviation*b.Deviation)
			low, high = min(low, square), max(high, square)
		}
	}
	if square := mean*mean + deviation*deviation; !(square >= low-1e-4 && square <= high+1e-4) {
		return fmt.Errorf("the ponder time %v ± %v, which its kinds cannot have", mean, deviation)
	}
	return nil
}

// Forms of the notes of a translated set, which the package bleu writes.
var (
	bleuNote = regexp.MustCompile(`^BLEU\|\S+ = ([\d.]+) ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) \(BP = ([\d.]+) ratio = ([\d.]+) hyp_len = (\d+) ref_len = (\d+)\)$`)
	chrfNote = regexp.MustCompile(`^chrF2\|\S+ = ([\d.]+)$`)
)

// checkNotes returns an error unless a set has both notes of its scores, and these agree with the scores.
func checkNotes(s TranslatedSet) error {
	scores := map[string]int{}
	for _, note := range s.Notes {
		kind, _, _ := strings.Cut(note, "|")
		var err error
		switch kind {
		case "BLEU":
			err = checkBLEU(s.BLEU, note)
		case "chrF2":
			if m := chrfNote.FindStringSubmatch(note); m == nil || m[1] != fmt.Sprintf("%.1f", s.ChrF) {
				err = fmt.Errorf("chrf is %v, but the note %q", s.ChrF, note)
			}
		default:
			continue
		}
		if err != nil {
			return err
		}
		scores[kind]++
	}
	if scores["BLEU"] != 1 || scores["chrF2"] != 1 {
		return fmt.Errorf("notes have BLEU %d times and chrF2 %d times: each is needed once", scores["BLEU"], scores["chrF2"])
	}
	return nil
}

// checkBLEU returns an error unless a note has the score, and the score is that of the rounded precisions and the lengths in the note (Papineni et
// al., 2002): min(1, exp(1 - ref_len/hyp_len)) times the geometric mean of the precisions.
func checkBLEU(bleu float64, note string) error {
	m := bleuNote.FindStringSubmatch(note)
	if m == nil {
		return fmt.Errorf("the note %q has not the form of BLEU", note)
	}
	var v [10]float64
	for i := 1; i < len(m); i++ {
		var err error
		if v[i], err = strconv.ParseFloat(m[i], 64); err != nil {
			return fmt.Errorf("the note %q: %w", note, err)
		}
	}
	hypotheses, references := v[8], v[9]
	penalty := min(1, math.Exp(1-references/hypotheses))
	low, high := penalty, penalty
	for _, p := range v[2:6] { // rounded to a tenth
		low, high = low*math.Pow(max(p-0.05, 0), 0.25), high*math.Pow(p+0.05, 0.25)
	}
	if m[1] != fmt.Sprintf("%.1f", bleu) || m[6] != fmt.Sprintf("%.3f", penalty) || m[7] != fmt.Sprintf("%.3f", hypotheses/references) || bleu < low-1e-6 || bleu > high+1e-6 {
		return fmt.Errorf("bleu is %v, but the note %q", bleu, note)
	}
	return nil
}
