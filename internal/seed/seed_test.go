package seed_test

import (
	"fmt"
	"testing"

	"universal-transformer/internal/seed"
)

// The numbers of a stream are part of every result there is: they must not change from one version to the next.
// SHA-256 of seed 1, index 2 (eight bytes each, little-endian) and "three" begins with the two halves of the state.
func TestStreamIsFrozen(t *testing.T) {
	if got, want := seed.Derive(1, "three", 2), uint64(0xc100f5f9b58ee8d6); got != want {
		t.Errorf("Derive(1, three, 2) = %#x, want %#x", got, want)
	}
	rng := seed.Rand(1, "three", 2)
	for i, want := range []uint64{0x388878ad15e9357d, 0xdbf000e6a3c686a5} {
		if got := rng.Uint64(); got != want {
			t.Errorf("number %d is %#x, want %#x", i, got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]string{}
	for s := range uint64(5) {
		for _, name := range []string{"", "a", "b", "ab"} {
			for i := range int64(5) {
				key := fmt.Sprint(s, name, i)
				n := seed.Rand(s, name, i).Uint64()
				if other, twice := seen[n]; twice {
					t.Fatalf("streams %s and %s begin alike", key, other)
				}
				seen[n] = key
			}
		}
	}
}

func TestPermutation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 100, 1023, 5000} {
		p := seed.NewPermutation(3, "order", 1, n)
		seen := make([]bool, n)
		for i := range n {
			at := p.At(i)
			if at < 0 || at >= n || seen[at] {
				t.Fatalf("n = %d: element %d is %d: out of range or there before", n, i, at)
			}
			seen[at] = true
		}
	}
}

// Every order of four elements should be as likely as any other. Chi-squared with 23 degrees of freedom is
// above 61.6 with probability 2e-5; the streams are fixed, so this either fails always or never.
func TestPermutationIsUniform(t *testing.T) {
	const draws = 24_000
	for _, n := range []int{4, 7} { // a power of four, and a number that needs walking
		counts := map[string]int{}
		for index := range int64(draws) {
			p := seed.NewPermutation(1, "uniform", index, n)
			counts[ranks(p.At(0), p.At(1), p.At(2), p.At(3))]++
		}
		chi := 0.0
		for _, c := range counts {
			d := float64(c) - draws/24.0
			chi += d * d / (draws / 24.0)
		}
		if len(counts) != 24 || chi > 61.6 {
			t.Errorf("n = %d: chi-squared over the %d orders of the first four elements is %.1f", n, len(counts), chi)
		}
	}
}

// ranks is the order that numbers stand in.
func ranks(numbers ...int) string {
	s := ""
	for _, n := range numbers {
		rank := 0
		for _, m := range numbers {
			if m < n {
				rank++
			}
		}
		s += fmt.Sprint(rank)
	}
	return s
}

// The mean element at place 0 of 100,000 over 2,000 orders is normal around 49,999.5 with deviation
// 28,867.5/sqrt(2000) = 645.5; five of them is a false alarm in 2 million.
func TestPermutationMean(t *testing.T) {
	const n, draws = 100_000, 2000
	total := 0
	for index := range int64(draws) {
		p := seed.NewPermutation(9, "mean", index, n)
		total += p.At(0)
	}
	if mean := float64(total) / draws; mean < 49_999.5-5*645.5 || mean > 49_999.5+5*645.5 {
		t.Errorf("mean first element is %.1f, want about 49999.5", mean)
	}
}
