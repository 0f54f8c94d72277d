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

// Caught when planted: both of two errors.
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
		"tokenizer is 9": func() error {
			_, err := Config{Tokenizer: 9}.Compare(lines, lines, [][]string{lines}, Resampling{Samples: -1})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Numbers below 2 are the upper bits of numbers below 4, which NumPy draws from as many random bits; the only number below 1 needs none.
// Caught when planted: 0 as the only number below 2; bits that are used for numbers below 1.
func TestGeneratorOfFewNumbers(t *testing.T) {
	two, four := newGenerator(12345), newGenerator(12345)
	for i := range 100 {
		if i%3 == 0 && two.below(1) != 0 {
			t.Fatal("a number below 1 is not 0")
		}
		if got, want := two.below(2), four.below(4)/2; got != want {
			t.Fatalf("number %d below 2 is %d, want %d", i, got, want)
		}
	}
}

// The numbers of resamples that are valid. A system that is compared with itself does not differ: no resample exceeds the observed
// difference of 0, as in sacreBLEU's formula, (0 + 1) / (n + 1).
// Caught when planted: the largest number refused; equal differences that count as exceeding.
func TestBoundsOfResampling(t *testing.T) {
	for samples, want := range map[int]string{0: "", 1: "", 1_000_000: "", 1_000_001: "samples is 1000001: it must be from 1 to 1000000, or 0 for 1000", -1: "samples is -1"} {
		if err := (Resampling{Samples: samples}).Validate(); (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%d samples: %v, want %q", samples, err, want)
		}
	}
	references, a, _ := sentences()
	got, err := Config{}.Compare(a, a, [][]string{references}, Resampling{Samples: 9})
	if err != nil || got.P != 0.1 || got.Samples != 9 || got.Baseline != got.System || got.Seed != DefaultSeed {
		t.Errorf("%+v, %v", got, err)
	}
}
