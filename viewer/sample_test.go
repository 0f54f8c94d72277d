package viewer

import (
	"math"
	"math/rand/v2"
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
