package bleu

import (
	"math"
	"strings"
)

// Statistics holds the counts from which BLEU is computed. It is summed over lines.
type Statistics struct {
	Counts           [MaxOrder]int // matching n-grams by order
	Totals           [MaxOrder]int // n-grams of the hypotheses by order
	HypothesisLength int           // tokens
	ReferenceLength  int           // tokens of the references nearest in length
	Lines            int           // number of lines
	References       int           // per line; Varying if lines differ
}

// Varying is the number of references if lines have different numbers.
const Varying = -1

// Statistics counts one line. An n-gram matches up to its maximum number of occurrences in a reference. The reference length is that
// of the reference nearest in length, and of the shorter one of two equally near. c must be valid.
func (c Config) Statistics(hypothesis string, references ...string) Statistics {
	numbers := map[string]int32{}
	tokens := numbered(c.tokens(hypothesis), numbers)
	s := Statistics{HypothesisLength: len(tokens), Lines: 1, References: len(references)}
	allowed := map[ngram]int{}
	for i, reference := range references {
		tokens := numbered(c.tokens(reference), numbers)
		if i == 0 {
			s.ReferenceLength, allowed = len(tokens), count(tokens)
			continue
		}
		if nearer(len(tokens), s.ReferenceLength, s.HypothesisLength) {
			s.ReferenceLength = len(tokens)
		}
		for g, n := range count(tokens) {
			allowed[g] = max(allowed[g], n)
		}
	}
	for n := range MaxOrder {
		for i := range len(tokens) - n {
			s.Totals[n]++
			if g := gramAt(tokens, i, n); allowed[g] > 0 {
				allowed[g]--
				s.Counts[n]++
			}
		}
	}
	return s
}

// Plus returns the statistics of both sets of lines.
func (s Statistics) Plus(other Statistics) Statistics {
	for n := range MaxOrder {
		s.Counts[n] += other.Counts[n]
		s.Totals[n] += other.Totals[n]
	}
	s.HypothesisLength += other.HypothesisLength
	s.ReferenceLength += other.ReferenceLength
	s.References = commonReferences(s.Lines, s.References, other.Lines, other.References)
	s.Lines += other.Lines
	return s
}

// brevityPenalty returns exp(1 - r/c) if the hypotheses' length c is less than the references' length r, and 1 otherwise.
func (s Statistics) brevityPenalty() float64 {
	if s.HypothesisLength >= s.ReferenceLength {
		return 1
	}
	return math.Exp(1 - float64(s.ReferenceLength)/float64(s.HypothesisLength)) // 0 if all hypotheses are empty
}

// tokens returns the tokens of a line. White space at its end is removed first, because some tokenizers depend on it.
func (c Config) tokens(line string) []string {
	if c.Lowercase {
		line = lower(line)
	}
	return c.Tokenizer.Tokens(strings.TrimRightFunc(line, isSpace))
}

// nearer reports whether a length is nearer to the wanted one than another, or equally near and shorter.
func nearer(length, other, wanted int) bool {
	a, b := max(length-wanted, wanted-length), max(other-wanted, wanted-other)
	return a < b || a == b && length < other
}

// An ngram is up to MaxOrder tokens, as numbers from 1; unused entries are 0.
type ngram [MaxOrder]int32

// gramAt returns the n+1 tokens from the i-th on.
func gramAt(tokens []int32, i, n int) (g ngram) {
	copy(g[:], tokens[i:i+n+1])
	return g
}

// count returns the number of occurrences of every n-gram.
func count(tokens []int32) map[ngram]int {
	counts := make(map[ngram]int, MaxOrder*len(tokens))
	for n := range MaxOrder {
		for i := range len(tokens) - n {
			counts[gramAt(tokens, i, n)]++
		}
	}
	return counts
}

// numbered maps equal tokens to equal numbers, from 1.
func numbered(tokens []string, numbers map[string]int32) []int32 {
	of := make([]int32, len(tokens))
	for i, token := range tokens {
		if numbers[token] == 0 {
			numbers[token] = int32(len(numbers) + 1)
		}
		of[i] = numbers[token]
	}
	return of
}
