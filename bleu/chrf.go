package bleu

import (
	"fmt"
	"strings"
)

const (
	characterOrder = 6 // length of the longest n-grams of characters
	maxWordOrder   = 2 // length of the longest n-grams of words
	chrFOrders     = characterOrder + maxWordOrder
	beta           = 2 // weight of recall relative to precision
)

// ChrF specifies how chrF is computed: F2 over n-grams of 1 to 6 characters. The zero value is sacreBLEU's default. With WordOrder 2
// it is chrF++ (Popović, WMT 2017).
type ChrF struct {
	WordOrder  int // length of the longest n-grams of words, in addition to those of characters; 0, 1 or 2
	Lowercase  bool
	Whitespace bool // white space counts as characters; otherwise it is removed
}

// Validate returns an error that names the first invalid field.
func (c ChrF) Validate() error {
	if c.WordOrder < 0 || c.WordOrder > maxWordOrder {
		return fmt.Errorf("word order is %d: it must be 0, 1 or %d", c.WordOrder, maxWordOrder)
	}
	return nil
}

// Corpus scores hypotheses against one or several references each, given as in Config.Corpus.
func (c ChrF) Corpus(hypotheses []string, references [][]string) (ChrFScore, error) {
	if err := c.Validate(); err != nil {
		return ChrFScore{}, err
	}
	var sum ChrFStatistics
	err := eachLine(hypotheses, references, func(hypothesis string, references []string) {
		sum = sum.Plus(c.Statistics(hypothesis, references...))
	})
	if err != nil {
		return ChrFScore{}, err
	}
	return c.Score(sum), nil
}

// Sentence scores one hypothesis.
func (c ChrF) Sentence(hypothesis string, references ...string) (ChrFScore, error) {
	return c.Corpus([]string{hypothesis}, columns(references))
}

// Signature returns nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 if there is one reference per line.
func (c ChrF) Signature(references int) string {
	space := "no"
	if c.Whitespace {
		space = "yes"
	}
	return signature(references, c.Lowercase, true, fmt.Sprintf("nc:%d|nw:%d|space:%s", characterOrder, c.WordOrder, space))
}

// A ChrFScore is chrF.
type ChrFScore struct {
	Name      string  `json:"name"`  // "chrF2", followed by a plus for every word order
	Value     float64 `json:"score"` // 0..100
	Signature string  `json:"signature"`
}

// Score computes chrF from sums over all lines. c must be valid.
func (c ChrF) Score(s ChrFStatistics) ChrFScore {
	name := fmt.Sprintf("chrF%d", beta) + strings.Repeat("+", c.WordOrder)
	return ChrFScore{Name: name, Value: s.f(), Signature: c.Signature(s.References)}
}

// String returns the score as sacreBLEU prints it: chrF2|signature = 59.4.
func (s ChrFScore) String() string { return fmt.Sprintf("%s|%s = %.1f", s.Name, s.Signature, s.Value) }

// ChrFStatistics holds the counts from which chrF is computed. It is summed over lines.
type ChrFStatistics struct {
	Orders     [chrFOrders]Overlap // of 1 to 6 characters, then of 1 and 2 words
	Lines      int                 // number of lines
	References int                 // per line; Varying if lines differ
}

// An Overlap counts the n-grams of one order.
type Overlap struct{ Hypothesis, Reference, Matches int }

// Statistics counts one line. Of several references it uses the one with the best score, and the first among equals. c must be valid.
func (c ChrF) Statistics(hypothesis string, references ...string) ChrFStatistics {
	best := ChrFStatistics{}
	grams := c.grams(hypothesis)
	for i, reference := range references {
		var s ChrFStatistics
		for order, own := range c.grams(reference) {
			s.Orders[order] = overlap(grams[order], own)
		}
		if i == 0 || s.f() > best.f() {
			best = s
		}
	}
	best.Lines, best.References = 1, len(references)
	return best
}

// Plus returns the statistics of both sets of lines.
func (s ChrFStatistics) Plus(other ChrFStatistics) ChrFStatistics {
	for i, o := range other.Orders {
		s.Orders[i].Hypothesis += o.Hypothesis
		s.Orders[i].Reference += o.Reference
		s.Orders[i].Matches += o.Matches
	}
	s.References = commonReferences(s.Lines, s.References, other.Lines, other.References)
	s.Lines += other.Lines
	return s
}

// f returns 100 (1 + beta²) P R / (beta² P + R), with precision P and recall R averaged over the orders in which both sides have
// n-grams; 0 if nothing matches.
func (s ChrFStatistics) f() float64 {
	precision, recall, orders := 0.0, 0.0, 0.0
	for _, o := range s.Orders {
		if o.Hypothesis > 0 && o.Reference > 0 {
			precision += float64(o.Matches) / float64(o.Hypothesis)
			recall += float64(o.Matches) / float64(o.Reference)
			orders++
		}
	}
	if precision == 0 {
		return 0
	}
	precision, recall = precision/orders, recall/orders
	return 100 * ((1 + beta*beta) * precision * recall / (beta*beta*precision + recall)) // evaluated in sacreBLEU's order, for the same rounding
}

// overlap counts n-grams of one order. If the reference has none, those of the hypothesis do not count either.
func overlap(hypothesis, reference []string) Overlap {
	if len(reference) == 0 {
		return Overlap{}
	}
	left := make(map[string]int, len(reference))
	for _, g := range reference {
		left[g]++
	}
	o := Overlap{Hypothesis: len(hypothesis), Reference: len(reference)}
	for _, g := range hypothesis {
		if left[g] > 0 {
			left[g]--
			o.Matches++
		}
	}
	return o
}
