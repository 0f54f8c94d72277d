package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"universal-transformer/bleu"
	"universal-transformer/internal/quantity"
	"universal-transformer/internal/significance"
	"universal-transformer/task"
)

// level is the p-value below which a difference counts as significant.
const level = 0.05

// A measure decides which of two runs is better.
type measure struct {
	name   string // of the metric
	lower  bool   // lower values are better
	method string // of the test
	unit   string // what the value depends on besides the answers: values of different units cannot be compared
	unlike string // says of two runs that their units differ
	// interval returns the 95 % interval of a run's metric, if it is not an accuracy.
	interval func(r Run) (low, high float64, ok bool)
	// test returns the p-value of the difference of two runs, and more about it.
	test func(a, b Run) (p float64, detail string)
}

// A Pair is the comparison of two runs.
type Pair struct {
	A, B           int // indices of the runs
	Metric, Method string
	ValueA, ValueB float64
	P              float64 // probability of a difference as large if the runs were equally good, adjusted for the number of pairs (Holm, 1979)
	Better         int     // index of the better run, -1 if the difference is not significant
	Detail         string
}

// compareScores compares every two runs that have answered the same examples.
func (c *Comparison) compareScores() {
	for i, a := range c.Runs {
		for k := i + 1; k < len(c.Runs); k++ {
			b := c.Runs[k]
			if a.Evaluation == nil || b.Evaluation == nil {
				continue
			}
			if why := incomparable(a, b); why != "" {
				c.Notes = append(c.Notes, fmt.Sprintf("%s and %s %s: their scores cannot be compared", a.Name, b.Name, why))
				continue
			}
			p := Pair{A: i, B: k, Metric: a.measure.name, Method: a.measure.method, ValueA: a.value(), ValueB: b.value(), Better: -1}
			if p.P, p.Detail = a.measure.test(a, b); p.ValueA == p.ValueB {
				p.P = 1 // sacreBLEU's test gives a small p-value to a system and itself, which would count in the adjustment of the others
			}
			c.Pairs = append(c.Pairs, p)
		}
	}
	adjust(c.Pairs)
	for i := range c.Pairs {
		p := &c.Pairs[i]
		if p.P >= level || p.ValueA == p.ValueB {
			continue
		}
		if p.Better = p.A; p.ValueB > p.ValueA != c.Runs[p.A].measure.lower {
			p.Better = p.B
		}
	}
	if len(c.Pairs) > 0 {
		c.Notes = append(c.Notes, "the tests are about these trained models; the same configuration with another seed gives another model")
	}
}

// incomparable returns why the scores of two evaluated runs cannot be compared; "" if they can.
func incomparable(a, b Run) string {
	switch {
	case !same(a, b):
		return "have not answered the same examples"
	case a.measure.unit != b.measure.unit:
		return a.measure.unlike
	case !finite(a.value()) || !finite(b.value()):
		return fmt.Sprintf("do not both have a finite %s", a.measure.name)
	}
	return ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// value returns the run's value of its measure.
func (r Run) value() float64 {
	for _, m := range r.Evaluation.Metrics {
		if m.Name == r.measure.name {
			return m.Value
		}
	}
	return math.NaN()
}

// adjust corrects the p-values of pairs for their number.
func adjust(pairs []Pair) {
	p := make([]float64, len(pairs))
	for i := range pairs {
		p[i] = pairs[i].P
	}
	for i, v := range significance.Holm(p) {
		pairs[i].P = v
	}
}

// correctness compares the numbers of correct answers by McNemar's exact test.
func correctness(name string) measure {
	return measure{
		name: name, method: "McNemar's exact test",
		interval: func(Run) (low, high float64, ok bool) { return 0, 0, false },
		test: func(a, b Run) (float64, string) {
			onlyA, onlyB := 0, 0
			for i, answer := range a.Evaluation.Answers {
				switch other := b.Evaluation.Answers[i].Correct; {
				case answer.Correct && !other:
					onlyA++
				case other && !answer.Correct:
					onlyB++
				}
			}
			return mcnemar(onlyA, onlyB), fmt.Sprintf("only %s is right on %s, only %s on %d", a.Name, quantity.Regular(onlyA, "examples"), b.Name, onlyB)
		},
	}
}

// mcnemar returns the p-value of McNemar's exact test: the probability that a+b fair coins show at most min(a, b) or at least max(a, b)
// heads.
func mcnemar(a, b int) float64 {
	n, low := float64(a+b), float64(min(a, b))
	tail := 0.0
	for k := 0.0; k <= low; k++ {
		above, _ := math.Lgamma(n + 1)
		left, _ := math.Lgamma(k + 1)
		right, _ := math.Lgamma(n - k + 1)
		tail += math.Exp(above - left - right - n*math.Ln2)
	}
	return min(1, 2*tail)
}

// bleuOf compares BLEU by paired bootstrap resampling (Koehn, 2004), as sacreBLEU does.
func bleuOf(config bleu.Config) measure {
	compared := func(a, b Run) (bleu.Comparison, error) {
		return config.Compare(a.answers, b.answers, [][]string{a.targets}, bleu.Resampling{})
	}
	return measure{
		name: "BLEU", method: "paired bootstrap", unit: config.Signature(1), unlike: "have different tokenizers of BLEU",
		interval: func(r Run) (low, high float64, ok bool) {
			found, err := compared(r, r)
			return found.Baseline.Value - found.Baseline.HalfWidth, found.Baseline.Value + found.Baseline.HalfWidth, err == nil
		},
		test: func(a, b Run) (float64, string) {
			found, err := compared(a, b)
			if err != nil { // not with the answers of an evaluation
				return 1, err.Error()
			}
			return found.P, fmt.Sprintf("%d resamples of %s", found.Samples, quantity.Regular(len(a.answers), "examples"))
		},
	}
}

// loss is the cross entropy of an example.
type loss struct{ nats, tokens float64 }

func lossOf(s task.Scored) (l loss) {
	for _, logProb := range s.LogProbs {
		l = loss{l.nats - logProb, l.tokens + 1}
	}
	return l
}

// resamples is the number of resamples of a bootstrap.
const resamples = 1000

// perplexity compares perplexities by paired bootstrap: examples are drawn with replacement.
var perplexity = measure{
	name: "perplexity per token", lower: true, method: "paired bootstrap", unlike: "read the examples as different tokens",
	interval: func(r Run) (low, high float64, ok bool) {
		values := bootstrap(len(r.losses), func(i int) loss { return r.losses[i] })
		outside := len(values) / 40
		return math.Exp(values[outside]), math.Exp(values[len(values)-1-outside]), len(r.losses) > 0
	},
	test: func(a, b Run) (float64, string) {
		values := bootstrap(len(a.losses), func(i int) loss { return loss{a.losses[i].nats - b.losses[i].nats, a.losses[i].tokens} })
		lower, higher := 0, 0 // of a, or equal
		for _, v := range values {
			if v <= 0 {
				lower++
			}
			if v >= 0 {
				higher++
			}
		}
		return min(1, 2*float64(min(lower, higher)+1)/float64(len(values)+1)), fmt.Sprintf("%d resamples of %s", len(values), quantity.Regular(len(a.losses), "examples"))
	},
}

// bootstrap returns the means per token of resamples of n examples, in increasing order.
func bootstrap(n int, of func(i int) loss) []float64 {
	rng := rand.New(rand.NewPCG(1, 0))
	values := make([]float64, resamples)
	for s := range values {
		var sum loss
		for range n {
			l := of(rng.IntN(n))
			sum = loss{sum.nats + l.nats, sum.tokens + l.tokens}
		}
		values[s] = sum.nats / max(sum.tokens, 1)
	}
	slices.Sort(values)
	return values
}
