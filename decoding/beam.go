package decoding

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"universal-transformer/internal/vocab"
)

// Beam is beam search with the length penalty of Wu et al. (2016), as in the authors' code. The score of a sequence of n tokens,
// including End, is
//
//	log p / ((5 + n) / 6)^Alpha
//
// Every step extends the running sequences and takes the 2 Width most probable continuations. Those that end join the finished ones,
// of which the Width best by score are kept; of the others, the Width most probable continue. The search for a source stops
//
//   - at the limit of the answer's length, or
//   - when the best finished score, or the one of rank Best, is at least log p / ((5 + limit) / 6)^Alpha of the most probable running
//     sequence: log p only decreases, and no answer has a larger penalty, so no running sequence can become better.
//
// The result is the finished sequence with the best score, or the Best best. If none has ended within the limit, it is the best running
// one, scored in the same way. A beam of width 1 is greedy decoding, as in the authors' code: there is nothing to choose from, whatever
// Alpha is.
type Beam struct {
	Width int     // number of hypotheses kept, at least 1; 1 is greedy decoding
	Alpha float64 // length penalty, 0 for none; the authors use 0.6
	Best  int     // number of answers that are wanted, at most Width; 0 means 1
}

// MaxWidth is the maximum width of a beam, far above any useful one.
const MaxWidth = 1000

// maxAlpha bounds the exponent of the length penalty, far above any useful one.
const maxAlpha = 100

// Validate returns an error that names the first invalid field and its value.
func (b Beam) Validate() error {
	if b.Width < 1 || b.Width > MaxWidth {
		return fmt.Errorf("beam width is %d: it must be from 1 to %d", b.Width, MaxWidth)
	}
	if b.Best < 0 || b.Best > b.Width {
		return fmt.Errorf("n-best is %d: a beam of width %d has from 1 to %[2]d answers; choose a wider beam", b.Best, b.Width)
	}
	if !(b.Alpha >= 0 && b.Alpha < maxAlpha) {
		return fmt.Errorf("alpha is %v: it must be at least 0 and below %d", b.Alpha, maxAlpha)
	}
	return nil
}

// penalty returns ((5 + length) / 6)^Alpha.
func (b Beam) penalty(length int) float64 { return math.Pow(float64(5+length)/6, b.Alpha) }

// Search returns the best hypotheses of each source, best first, at most Width of them.
func (b Beam) Search(ctx context.Context, r Request) ([][]Hypothesis, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	if b.Width == 1 {
		return b.greedy(ctx, r)
	}
	beams := make([]beam, len(r.Limits))
	searches := make([]extend, len(beams))
	for i, limit := range r.Limits {
		beams[i] = beam{Beam: b, limit: limit, running: []Hypothesis{{}}}
		searches[i] = beams[i].advance
	}
	if err := r.run(ctx, searches); err != nil {
		return nil, err
	}
	result := make([][]Hypothesis, len(beams))
	for i := range beams {
		result[i] = beams[i].result()
	}
	return result, nil
}

// greedy returns the answers of greedy decoding with their scores.
func (b Beam) greedy(ctx context.Context, r Request) ([][]Hypothesis, error) {
	found, err := greedy(ctx, r)
	if err != nil {
		return nil, err
	}
	result := make([][]Hypothesis, len(found))
	for i, h := range found {
		h.Score = h.LogProb / b.penalty(len(h.Tokens))
		result[i] = []Hypothesis{h}
	}
	return result, nil
}

// beam is the search of one source.
type beam struct {
	Beam
	limit             int
	running, finished []Hypothesis // best first
}

// decided reports whether no running hypothesis can beat the finished ones that are wanted: log p only decreases, and no penalty is
// larger than that of the longest sequence.
func (s *beam) decided() bool {
	if len(s.running) == 0 || len(s.running[0].Tokens) == s.limit {
		return true
	}
	best := max(1, s.Best)
	return len(s.finished) >= best && s.finished[best-1].Score >= s.running[0].LogProb/s.penalty(s.limit)
}

// candidate is a continuation of a running hypothesis.
type candidate struct {
	from    int
	token   vocab.ID
	logProb float64
}

// insertBest inserts a candidate into the sorted list of the most probable ones, if it belongs there. Among equal ones the earlier one is
// first.
func insertBest(list []candidate, width int, c candidate) []candidate {
	at := len(list)
	if at == width && !(c.logProb > list[at-1].logProb) {
		return list
	}
	for list = append(list, c); at > 0 && c.logProb > list[at-1].logProb; at-- {
		list[at] = list[at-1]
	}
	list[at] = c
	return list[:min(len(list), width)]
}

// candidates returns the 2 Width most probable continuations of the running hypotheses, best first.
func (s *beam) candidates(logP [][]float64) ([]candidate, error) {
	width := 2 * s.Width
	best := make([]candidate, 0, width+1)
	least := math.NaN() // of best, once it is full; NaN is not less than anything, and nothing is less than it
	for w, h := range s.running {
		if err := checkRow(logP[w]); err != nil {
			return nil, err
		}
		row := logP[w]
		for id := above(row, int(vocab.End), h.LogProb, least); id < len(row); id = above(row, id+1, h.LogProb, least) {
			if row[id] != row[id] {
				return nil, errNaN
			}
			if best = insertBest(best, width, candidate{w, vocab.ID(id), row[id] + h.LogProb}); len(best) == width {
				least = best[width-1].logProb
			}
		}
	}
	return best, nil
}

// advance extends the running hypotheses by one token each; logP [Width][V] are their log-probabilities, in order.
func (s *beam) advance(logP [][]float64) (parents []int, tokens []vocab.ID, err error) {
	candidates, err := s.candidates(logP)
	if err != nil {
		return nil, nil, err
	}
	var running []Hypothesis
	for _, c := range candidates {
		sequence := append(slices.Clone(s.running[c.from].Tokens), c.token)
		h := Hypothesis{Tokens: sequence, LogProb: c.logProb, Score: c.logProb / s.penalty(len(sequence)), Finished: c.token == vocab.End}
		if h.Finished {
			s.finished = append(s.finished, h)
		} else if len(running) < s.Width {
			running, parents, tokens = append(running, h), append(parents, c.from), append(tokens, c.token)
		}
	}
	s.running = running
	slices.SortStableFunc(s.finished, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) })
	s.finished = s.finished[:min(s.Width, len(s.finished))]
	if s.decided() {
		return nil, nil, nil
	}
	return parents, tokens, nil
}

// result returns the result of the search.
func (s *beam) result() []Hypothesis {
	if len(s.finished) > 0 {
		return s.finished
	}
	for i := range s.running {
		h := &s.running[i]
		h.Score = h.LogProb / s.penalty(len(h.Tokens))
	}
	return s.running
}
