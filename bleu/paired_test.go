package bleu

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// linear is a linear congruential generator, with which the program that wrote the expected values makes the same sentences.
type linear uint64

func (x *linear) below(n int) int {
	*x = (*x*1103515245 + 12345) % (1 << 31)
	return int(*x>>16) % n
}

// sentences are 150 references, translations of which some 22 % of the words are replaced, and others with 20 %.
func sentences() (references, a, b []string) {
	x := linear(2026)
	for range 150 {
		words := make([]string, 5+x.below(15))
		for i := range words {
			words[i] = fmt.Sprintf("w%d", x.below(30))
		}
		noisy := func(percent int) string {
			changed := slices.Clone(words)
			for i := range changed {
				if x.below(100) < percent {
					changed[i] = fmt.Sprintf("w%d", x.below(30))
				}
			}
			return strings.Join(changed, " ")
		}
		references, a, b = append(references, strings.Join(words, " ")), append(a, noisy(22)), append(b, noisy(20))
	}
	return references, a, b
}

// Expected values: sacrebleu 2.6.0, PairedTest with test_type bs, NumPy 2.4.6.
func TestCompareAgreesWithSacreBLEU(t *testing.T) {
	references, a, b := sentences()
	mixed := slices.Clone(a)
	for i := 0; i < len(mixed); i += 4 {
		mixed[i] = b[i]
	}
	for _, c := range []struct {
		name   string
		config Config
		system []string
		r      Resampling
		want   [7]float64 // score, mean and half width of the baseline and of the system, p
	}{
		{"default", Config{}, b, Resampling{},
			[7]float64{51.10483016767621, 51.063777954099706, 3.3902820417402033, 58.532336432701285, 58.5253790800917, 3.6635530926581943, 0.002997002997002997}},
		{"seed 7", Config{}, b, Resampling{Samples: 200, Seed: 7},
			[7]float64{51.10483016767621, 50.87176376772791, 3.3477402382274164, 58.532336432701285, 58.41797209160664, 3.7583352651401043, 0.014925373134328358}},
		{"mixed", Config{Lowercase: true, Tokenizer: Whitespace}, mixed, Resampling{}, [7]float64{51.10483016767621, 51.063777954099706, 3.3902820417402033, 52.499791749698254, 52.474899383322814, 3.65656872602052, 0.11788211788211789}},
	} {
		got, err := c.config.Compare(a, c.system, [][]string{references}, c.r)
		if err != nil {
			t.Fatal(err)
		}
		values := [7]float64{got.Baseline.Value, got.Baseline.Mean, got.Baseline.HalfWidth, got.System.Value, got.System.Mean, got.System.HalfWidth, got.P}
		if got.P != c.want[6] {
			t.Errorf("%s: p is %v, want %v", c.name, got.P, c.want[6])
		}
		for i, want := range c.want {
			if math.Abs(values[i]-want) > 1e-6 { // sacreBLEU computes the scores of resamples in float32
				t.Errorf("%s, value %d: %v, want %v", c.name, i, values[i], want)
			}
		}
	}
}

// Expected values: numpy.random.default_rng(seed).choice(n, size), NumPy 2.4.6. A third of the numbers below 3,000,000,000 are drawn again.
func TestGeneratorAgreesWithNumPy(t *testing.T) {
	for _, c := range []struct {
		seed, n uint32
		want    []int
	}{
		{12345, 150, []int{104, 34, 118, 47, 30, 119, 96, 101}},
		{12345, 1000, []int{699, 227, 788, 316, 204, 797, 642, 676, 988, 391}},
		{7, 37, []int{34, 23, 25, 33, 21, 28, 30, 8}},
		{7, 3_000_000_000, []int{2834714867, 2052539810, 2691641402, 1734877356, 2327057070}},
		{7, 1, []int{0, 0}},
	} {
		g := newGenerator(c.seed)
		for i, want := range c.want {
			if got := g.below(c.n); got != want {
				t.Errorf("seed %d, number %d below %d: %d, want %d", c.seed, i, c.n, got, want)
			}
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	lines := []string{"a", "b"}
	for want, call := range map[string]func() error{
		"the baseline has 1 lines, the system 2": func() error {
			_, err := Config{}.Compare(lines[:1], lines, [][]string{lines}, Resampling{})
			return err
		},
		"reference 1 has 1 lines": func() error {
			_, err := Config{}.Compare(lines, lines, [][]string{lines[:1]}, Resampling{})
			return err
		},
		"samples is -1": func() error {
			_, err := Config{}.Compare(lines, lines, [][]string{lines}, Resampling{Samples: -1})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
