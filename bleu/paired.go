package bleu

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Resampling are the options of a bootstrap test. The zero value is sacreBLEU's default.
type Resampling struct {
	Samples int    // number of resamples; 0 means 1,000
	Seed    uint32 // 0 means 12345, as in sacreBLEU
}

// DefaultSamples and DefaultSeed are those of sacreBLEU.
const (
	DefaultSamples = 1000
	DefaultSeed    = 12345
)

// MaxSamples is the largest number of resamples.
const MaxSamples = 1_000_000

// Validate returns an error if the number of resamples is out of range.
func (r Resampling) Validate() error {
	if r.Samples < 0 || r.Samples > MaxSamples {
		return fmt.Errorf("samples is %d: it must be from 1 to %d, or 0 for %d", r.Samples, MaxSamples, DefaultSamples)
	}
	return nil
}

// A Resampled is a score with the distribution of the scores of its resamples.
type Resampled struct {
	Score
	Mean      float64 `json:"mean"`       // of the resamples
	HalfWidth float64 `json:"half_width"` // of their 95 % interval
}

// A Comparison is a paired bootstrap test of two systems (Koehn, 2004).
type Comparison struct {
	Baseline Resampled `json:"baseline"`
	System   Resampled `json:"system"`
	P        float64   `json:"p"` // probability of so large a difference if the systems were equal
	Samples  int       `json:"samples"`
	Seed     uint32    `json:"seed"`
}

// Compare tests whether two systems differ on the same lines. Resamples, means, intervals and p-values are those of sacreBLEU's
// --paired-bs: lines are drawn with replacement, and P is the share of resamples whose absolute difference exceeds the mean absolute
// difference by more than the observed one.
func (c Config) Compare(baseline, system []string, references [][]string, r Resampling) (Comparison, error) {
	if err := cmp.Or(c.Validate(), r.Validate()); err != nil {
		return Comparison{}, err
	}
	if len(baseline) != len(system) {
		return Comparison{}, fmt.Errorf("the baseline has %d lines, the system %d: the numbers must be equal", len(baseline), len(system))
	}
	if r.Samples == 0 {
		r.Samples = DefaultSamples
	}
	if r.Seed == 0 {
		r.Seed = DefaultSeed
	}
	first, err := c.lines(baseline, references)
	if err != nil {
		return Comparison{}, err
	}
	second, err := c.lines(system, references)
	if err != nil {
		return Comparison{}, err
	}
	result := Comparison{Samples: r.Samples, Seed: r.Seed}
	g, n := newGenerator(r.Seed), uint32(len(baseline))
	a, b := make([]float64, r.Samples), make([]float64, r.Samples)
	for i := range a {
		var sumA, sumB Statistics
		for range n {
			line := g.below(n)
			sumA, sumB = sumA.Plus(first[line]), sumB.Plus(second[line])
		}
		a[i], b[i] = c.Score(sumA).Value, c.Score(sumB).Value
	}
	result.Baseline, result.System = c.resampled(first, a), c.resampled(second, b)
	result.P = exceeding(a, b, math.Abs(result.Baseline.Value-result.System.Value))
	return result, nil
}

// lines returns the statistics of every line.
func (c Config) lines(hypotheses []string, references [][]string) (all []Statistics, err error) {
	err = eachLine(hypotheses, references, func(hypothesis string, references []string) {
		all = append(all, c.Statistics(hypothesis, references...))
	})
	return all, err
}

// resampled returns the score of all lines and the mean and the 95 % interval of the scores of resamples.
func (c Config) resampled(lines []Statistics, scores []float64) Resampled {
	var sum Statistics
	for _, s := range lines {
		sum = sum.Plus(s)
	}
	sorted := slices.Sorted(slices.Values(scores))
	outside := len(sorted) / 40
	return Resampled{Score: c.Score(sum), Mean: mean(scores), HalfWidth: (sorted[len(sorted)-1-outside] - sorted[outside]) / 2}
}

// exceeding returns the p-value of an observed absolute difference.
func exceeding(a, b []float64, observed float64) float64 {
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = math.Abs(b[i] - a[i])
	}
	centre, count := mean(differences), 0
	for _, d := range differences {
		if d-centre > observed {
			count++
		}
	}
	return float64(count+1) / float64(len(a)+1)
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
