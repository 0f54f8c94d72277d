// Package bleu scores translations against references: BLEU (Papineni et al., ACL 2002) and chrF (Popović, WMT 2015), with the
// tokenizers, smoothing and signatures of sacreBLEU 2.6.0 (Post, WMT 2018), so that scores are comparable with published ones. The
// version in a signature is that of sacreBLEU.
//
// A corpus is scored at once, or line by line:
//
//	var config bleu.Config // 13a, cased, exponential smoothing: the defaults of sacreBLEU
//	var sum bleu.Statistics
//	for i, hypothesis := range hypotheses {
//		sum = sum.Plus(config.Statistics(hypothesis, references[i]))
//	}
//	fmt.Println(config.Score(sum))
//
// White space, lower-casing and code points are Python's, which differ from Go's in a few characters. Text should be valid UTF-8,
// which Lines checks; an invalid byte counts as U+FFFD. Punctuation, symbols and numbers are those of Python's newest regex. Letters
// that are not yet in Go's tables are not lower-cased.
package bleu

import (
	"fmt"
	"math"
	"strings"
)

// MaxOrder is the length of the longest n-grams in BLEU.
const MaxOrder = 4

// A Config specifies how BLEU is computed. The zero value is sacreBLEU's default: 13a, cased, exponential smoothing.
type Config struct {
	Tokenizer      Tokenizer
	Lowercase      bool
	Smoothing      Smoothing
	SmoothingValue float64 // of Floor and AddK; 0 means sacreBLEU's default, 0.1 or 1
	EffectiveOrder bool    // average only the orders that have n-grams: for single sentences, not for corpora
}

// Validate returns an error that names the first invalid field.
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
		return fmt.Errorf("smoothing value is %v: smoothing %v takes none, only floor and add-k do", v, c.Smoothing)
	case !(v > 0) || math.IsInf(v, 0):
		return fmt.Errorf("smoothing value is %v: it must be a positive number", v)
	case c.Smoothing == Floor && v > 1:
		return fmt.Errorf("smoothing value is %v: that of floor must be at most 1", v)
	}
	return nil
}

// Corpus scores hypotheses against one or several references each: references[r][i] is the r-th reference of hypotheses[i], as if
// every r were a file.
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

// Sentence scores one hypothesis. It sets EffectiveOrder.
func (c Config) Sentence(hypothesis string, references ...string) (Score, error) {
	c.EffectiveOrder = true
	return c.Corpus([]string{hypothesis}, columns(references))
}

// Signature describes how a score was computed, so that it can be reproduced. With one reference per line, it is for example
// nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0.
func (c Config) Signature(references int) string {
	smoothing := c.Smoothing.String()
	if usualValues[c.Smoothing] != 0 {
		smoothing += fmt.Sprintf("[%.2f]", c.smoothingValue())
	}
	return signature(references, c.Lowercase, c.EffectiveOrder, fmt.Sprintf("tok:%v|smooth:%s", c.Tokenizer, smoothing))
}

// A Score is BLEU and its components.
type Score struct {
	Value            float64           `json:"score"` // 0..100
	Signature        string            `json:"signature"`
	Counts           [MaxOrder]float64 `json:"counts"`     // matching n-grams by order, including what AddK adds
	Totals           [MaxOrder]float64 `json:"totals"`     // n-grams of the hypotheses by order, including what AddK adds
	Precisions       [MaxOrder]float64 `json:"precisions"` // 0..100, after smoothing
	BrevityPenalty   float64           `json:"brevity_penalty"`
	HypothesisLength int               `json:"hypothesis_length"` // tokens
	ReferenceLength  int               `json:"reference_length"`  // tokens of the references nearest in length
}

// Score computes BLEU from sums over all lines:
//
//	BP exp(1/4 sum_n ln p_n), p_n = 100 Counts_n / Totals_n, BP = min(1, exp(1 - ReferenceLength/HypothesisLength))
//
// It is 0 if nothing matches, or if an order has no n-grams and EffectiveOrder is not set. c must be valid.
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
	score.Value = min(100, score.BrevityPenalty*math.Exp(sum/float64(orders))) // rounding may exceed 100
	return score
}

// String returns the score as sacreBLEU prints it: BLEU|signature = 41.0 71.0/47.5/34.3/24.5 (BP = 0.999 ratio = ...).
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
