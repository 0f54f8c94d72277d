// Package bleu scores translations against references: BLEU (Papineni et al., ACL 2002) and chrF (Popović, WMT 2015),
// with the tokenizers, smoothing and signatures of sacreBLEU 2.6.0 (Post, WMT 2018), so that figures compare with
// published ones. The version in a signature is that of the sacreBLEU whose numbers these are.
//
// A corpus is scored at once, or line by line as translations come:
//
//	var config bleu.Config // 13a, cased, exponential smoothing: what sacreBLEU does when not told otherwise
//	var sum bleu.Statistics
//	for i, hypothesis := range hypotheses {
//		sum = sum.Plus(config.Statistics(hypothesis, references[i]))
//	}
//	fmt.Println(config.Score(sum))
//
// White space, lower-casing and code points are Python's, which differ from Go's in a few characters. Text is taken to
// be valid UTF-8, as Lines makes sure; a byte that is not counts as U+FFFD. What is punctuation, a symbol or a number is
// what Python's newest regex says; a letter that Go's tables do not know yet is not lower-cased.
package bleu

import (
	"fmt"
	"math"
	"strings"
)

// MaxOrder is the longest n-gram that BLEU counts.
const MaxOrder = 4

// A Config says how BLEU is computed. The zero value is sacreBLEU's default: 13a, cased, exponential smoothing.
type Config struct {
	Tokenizer      Tokenizer
	Lowercase      bool
	Smoothing      Smoothing
	SmoothingValue float64 // of Floor and AddK; 0 means the usual one, 0.1 and 1
	EffectiveOrder bool    // average only the orders of which there are n-grams: for single sentences, not for corpora
}

// Validate reports a field that has no meaning.
func (c Config) Validate() error {
	if err := c.Tokenizer.Validate(); err != nil {
		return err
	}
	if err := c.Smoothing.Validate(); err != nil {
		return err
	}
	switch v := c.SmoothingValue; {
	case v == 0:
		return nil
	case usualValues[c.Smoothing] == 0:
		return fmt.Errorf("smoothing value is %v: smoothing %v has none, only floor and add-k have", v, c.Smoothing)
	case !(v > 0) || math.IsInf(v, 0):
		return fmt.Errorf("smoothing value is %v: it must be a positive number", v)
	case c.Smoothing == Floor && v > 1:
		return fmt.Errorf("smoothing value is %v: floor counts an n-gram without match as at most 1 match", v)
	}
	return nil
}

// Corpus scores hypotheses against one or several references each: references[r][i] is the r-th reference of
// hypotheses[i], as if every r were a file.
func (c Config) Corpus(hypotheses []string, references [][]string) (Score, error) {
	if err := c.Validate(); err != nil {
		return Score{}, err
	}
	var sum Statistics
	err := eachLine(hypotheses, references, func(hypothesis string, references []string) {
		sum = sum.Plus(c.Statistics(hypothesis, references...))
	})
	if err != nil {
		return Score{}, err
	}
	return c.Score(sum), nil
}

// Sentence scores one hypothesis, with EffectiveOrder whatever c says.
func (c Config) Sentence(hypothesis string, references ...string) (Score, error) {
	c.EffectiveOrder = true
	return c.Corpus([]string{hypothesis}, columns(references))
}

// Signature says how a score came about, so that it can be repeated: for one reference a line
// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0.
func (c Config) Signature(references int) string {
	smoothing := c.Smoothing.String()
	if usualValues[c.Smoothing] != 0 {
		smoothing += fmt.Sprintf("[%.2f]", c.smoothingValue())
	}
	return signature(references, c.Lowercase, c.EffectiveOrder, fmt.Sprintf("tok:%v|smooth:%s", c.Tokenizer, smoothing))
}

// A Score is BLEU and what it was made of.
type Score struct {
	Value            float64           `json:"score"` // 0..100
	Signature        string            `json:"signature"`
	Counts           [MaxOrder]float64 `json:"counts"`     // n-grams that match a reference, by order, with what AddK adds
	Totals           [MaxOrder]float64 `json:"totals"`     // n-grams of the hypotheses, by order, with what AddK adds
	Precisions       [MaxOrder]float64 `json:"precisions"` // 0..100, after smoothing
	BrevityPenalty   float64           `json:"brevity_penalty"`
	HypothesisLength int               `json:"hypothesis_length"` // tokens
	ReferenceLength  int               `json:"reference_length"`  // tokens of the references nearest in length
}

// Score computes BLEU from sums over all lines, with c being valid:
// BP exp(1/4 sum_n ln p_n), p_n = 100 Counts_n / Totals_n, BP = min(1, exp(1 - ReferenceLength/HypothesisLength)).
// It is 0 where nothing matches, or where there are no n-grams of an order and no EffectiveOrder.
func (c Config) Score(s Statistics) Score {
	score := Score{
		Signature: c.Signature(s.References), BrevityPenalty: s.brevityPenalty(),
		HypothesisLength: s.HypothesisLength, ReferenceLength: s.ReferenceLength,
	}
	for n := range MaxOrder {
		score.Counts[n], score.Totals[n] = float64(s.Counts[n]), float64(s.Totals[n])
		if c.Smoothing == AddK && n > 0 && s.Counts != [MaxOrder]int{} {
			score.Counts[n] += c.smoothingValue()
			score.Totals[n] += c.smoothingValue()
		}
	}
	if s.Counts == [MaxOrder]int{} {
		return score
	}
	orders := MaxOrder
	precisions, effective := c.precisions(score.Counts, score.Totals)
	if c.EffectiveOrder {
		orders = effective
	}
	sum := 0.0
	for _, p := range precisions[:orders] {
		sum += math.Log(p)
	}
	score.Precisions = precisions
	score.Value = min(100, score.BrevityPenalty*math.Exp(sum/float64(orders))) // rounding leaves a little more than 100
	return score
}

// String is sacreBLEU's line: BLEU|signature = 41.0 71.0/47.5/34.3/24.5 (BP = 0.999 ratio = ...).
func (s Score) String() string {
	precisions := make([]string, MaxOrder)
	for i, p := range s.Precisions {
		precisions[i] = fmt.Sprintf("%.1f", p)
	}
	ratio := 0.0
	if s.ReferenceLength > 0 {
		ratio = float64(s.HypothesisLength) / float64(s.ReferenceLength)
	}
	return fmt.Sprintf("BLEU|%s = %.1f %s (BP = %.3f ratio = %.3f hyp_len = %d ref_len = %d)", s.Signature, s.Value,
		strings.Join(precisions, "/"), s.BrevityPenalty, ratio, s.HypothesisLength, s.ReferenceLength)
}
