package viewer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// sample is a run of an adaptive encoder-decoder on reversal whose heads look in understandable directions:
// the first to the mirrored position, the second to itself, the others anywhere.
func sample(input string, steps, heads int) *Trace {
	rng := rand.New(rand.NewPCG(1, 2))
	source := strings.Split(input, "")
	target := make([]string, len(source))
	for i, s := range source {
		target[len(source)-1-i] = s
	}
	t := &Trace{
		Version: "v0.1.0", Model: "adaptive (ACT, halted states copied), width 64, 4 heads, at most 6 steps", Task: "reverse",
		Experiment: "reverse-adaptive", Checkpoint: 5000, Source: source, Target: target,
		Output: target, Reference: target,
		Encoder: sampleStack(rng, source, steps), Decoder: sampleStack(rng, target, steps),
	}
	n := len(source)
	t.Encoder.Attention = sampleAttention(rng, steps, heads, n, n, func(i, j int) bool { return false })
	t.Decoder.Attention = sampleAttention(rng, steps, heads, n, n, func(i, j int) bool { return j > i })
	t.Decoder.CrossAttention = sampleAttention(rng, steps, heads, n, n, func(i, j int) bool { return false })
	return t
}

// sampleStack halts each position after its own number of steps with weights that sum to 1.
func sampleStack(rng *rand.Rand, tokens []string, steps int) *Stack {
	s := &Stack{Tokens: tokens, Weights: make([][]float64, steps)}
	for t := range s.Weights {
		s.Weights[t] = make([]float64, len(tokens))
	}
	for i := range tokens {
		left, n := 1.0, 0
		for n < steps-1 && rng.Float64() < 0.75 {
			u := round(left * rng.Float64())
			s.Weights[n][i] = u
			left = round(left - u)
			n++
		}
		s.Weights[n][i] = left
		s.Updates = append(s.Updates, float64(n+1))
		s.Remainders = append(s.Remainders, left)
	}
	return s
}

func round(v float64) float64 { return math.Round(v*1e4) / 1e4 }

// sampleAttention is a softmax of noise around each head's favourite key, sharper at later steps.
func sampleAttention(rng *rand.Rand, steps, heads, queries, keys int, hidden func(i, j int) bool) [][][][]float64 {
	out := make([][][][]float64, steps)
	for t := range out {
		out[t] = make([][][]float64, heads)
		for k := range out[t] {
			out[t][k] = make([][]float64, queries)
			for i := range out[t][k] {
				favourite := []int{keys - 1 - i, i, i - 1}[min(k, 2)]
				row, sum := make([]float64, keys), 0.0
				for j := range row {
					if !hidden(i, j) {
						distance := math.Abs(float64(j - favourite))
						row[j] = math.Exp(rng.Float64() - min(4, distance)*float64(t+1)*0.4)
						sum += row[j]
					}
				}
				for j := range row {
					row[j] = round(row[j] / sum)
				}
				out[t][k][i] = row
			}
		}
	}
	return out
}

// long is a run of a reversal of many digits whose attention is noise, the hardest to compress, with one large weight per query.
func long(positions, steps, heads int) *Trace {
	t := sample(strings.Repeat("3", positions), steps, 1)
	rng := rand.New(rand.NewPCG(3, 4))
	noise := func(causal bool) [][][][]float64 {
		out := make([][][][]float64, steps)
		for s := range out {
			out[s] = make([][][]float64, heads)
			for k := range out[s] {
				out[s][k] = make([][]float64, positions)
				for i := range out[s][k] {
					row := make([]float64, positions)
					seen := positions
					if causal {
						seen = i + 1
					}
					for j := range seen {
						row[j] = 0.6 * rng.Float64() / float64(seen)
					}
					row[rng.IntN(seen)] += 0.4
					out[s][k][i] = row
				}
			}
		}
		return out
	}
	t.Encoder.Attention, t.Decoder.Attention, t.Decoder.CrossAttention = noise(false), noise(true), noise(false)
	return t
}

// hostile is a run over tokens that want to become markup, to turn the direction of text, or to be wider than any window.
func hostile() *Trace {
	tokens := []string{
		"<script>alert(1)</script>", `" onmouseover="alert(2)`, "</title><b>", "<!--", "{{.}}", "\x00", "\u202eabc", "שלום", "مرحبا", "\n", "\xff",
		"</script><img src=x onerror=alert(3)>", strings.Repeat("long", 500), "💥", " ",
	}
	t := sample(strings.Repeat("x", len(tokens)), 3, 2)
	t.Source, t.Target, t.Output, t.Reference = tokens, tokens, tokens, tokens[1:]
	t.Encoder.Tokens, t.Decoder.Tokens = tokens, tokens
	t.Task, t.Model, t.Experiment, t.Version = tokens[0], tokens[1], tokens[11], tokens[0]
	for range tokens {
		t.Readouts = append(t.Readouts, NewReadout([][]Candidate{{{tokens[0], 0.5}, {tokens[12], 0.25}}, {{tokens[11], 1}}, {{tokens[12], 1}}}, nil))
	}
	return t
}

// pieces is a translation of pieces of words, of fixed depth.
func pieces() *Trace {
	source := []string{"A", " man", " in", " an", " or", "ange", " hat", " star", "ring", " at", " some", "thing", "."}
	target := []string{"Ein", " Mann", " mit", " einem", " or", "ang", "ef", "arb", "enen", " Hut", ",", " der", end}
	t := sample(strings.Repeat("x", 13), 6, 4)
	t.Source, t.Encoder.Tokens, t.Target, t.Decoder.Tokens, t.Output = source, source, target, target, target[:12]
	t.Reference = slices.Concat([]string{"Ein", " Junge"}, target[2:12])
	for _, s := range []*Stack{t.Encoder, t.Decoder} {
		s.Weights, s.Remainders = nil, nil
		for i := range s.Updates {
			s.Updates[i] = 6
		}
	}
	return t
}

// many is a classifier's run over many words, without attention.
func many(positions int) *Trace {
	t := &Trace{Model: "Universal Transformer, adaptive", Encoder: &Stack{Weights: make([][]float64, 2)}, Output: []string{"yes"}}
	for i := range positions {
		t.Encoder.Tokens = append(t.Encoder.Tokens, fmt.Sprintf("word%d", i))
		t.Encoder.Updates, t.Encoder.Remainders = append(t.Encoder.Updates, 2), append(t.Encoder.Remainders, 0.25)
		t.Encoder.Weights[0], t.Encoder.Weights[1] = append(t.Encoder.Weights[0], 0.75), append(t.Encoder.Weights[1], 0.25)
	}
	t.Source = t.Encoder.Tokens
	return t
}
