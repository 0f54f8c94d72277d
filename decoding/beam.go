package decoding

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"universal-transformer/vocab"
)

// Beam is beam search with the length penalty of Wu et al. (2016), as the authors' code searches: the score of a sequence
// is log p / ((5 + length) / 6)^Alpha, its length counting the end symbol; of the 2 Width best continuations those that end
// compete with what had ended before, the others go on; the search of a source stops once no running sequence can
// still beat its best finished one.
type Beam struct {
	Width int     // hypotheses kept, at least 1
	Alpha float64 // length penalty, 0 for none; the authors use 0.6
}

// Validate names the field that makes no sense.
func (b Beam) Validate() error {
	if b.Width < 1 {
		return fmt.Errorf("beam width is %d: at least 1 is needed", b.Width)
	}
	if !(b.Alpha >= 0 && b.Alpha < 100) {
		return fmt.Errorf("alpha is %v: it must be at least 0", b.Alpha)
	}
	return nil
}

// penalty is ((5 + length) / 6)^Alpha.
func (b Beam) penalty(length int) float64 { return math.Pow(float64(5+length)/6, b.Alpha) }

// Search gives the best hypotheses of each source, best first, at most Width of them. If none of a source's ended within
// limit symbols, they are its best running ones, scored the same way.
func (b Beam) Search(next Next, sources, limit int) ([][]Hypothesis, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	beams := make([]beam, sources)
	for i := range beams {
		beams[i] = beam{Beam: b, limit: limit, running: []Hypothesis{{}}}
	}
	for n := 0; n < limit; n++ {
		rows, prefixes := b.rows(beams, n)
		if rows == nil {
			break
		}
		logits, err := next(rows, prefixes)
		if err != nil {
			return nil, err
		}
		for i := range beams {
			if err := beams[i].advance(logits[i*b.Width : (i+1)*b.Width]); err != nil {
				return nil, err
			}
		}
	}
	result := make([][]Hypothesis, sources)
	for i := range beams {
		result[i] = beams[i].best()
	}
	return result, nil
}

// rows lays out the running hypotheses, Width rows a source whatever it has, so that the shape never changes. It is nil if
// every search is over.
func (b Beam) rows(beams []beam, n int) (rows []int, prefixes [][]vocab.ID) {
	over := true
	for i := range beams {
		over = over && beams[i].over()
		for w := range b.Width {
			var symbols []vocab.ID
			if w < len(beams[i].running) {
				symbols = beams[i].running[w].Symbols
			}
			rows, prefixes = append(rows, i), append(prefixes, padded(symbols, n))
		}
	}
	if over {
		return nil, nil
	}
	return rows, prefixes
}

// beam is the search of one source.
type beam struct {
	Beam
	limit             int
	running, finished []Hypothesis // best first
}

// over tells whether nothing that runs can still beat the best finished hypothesis: log p only falls, and no penalty is
// larger than that of the longest sequence.
func (s *beam) over() bool {
	if len(s.running) == 0 {
		return true
	}
	return len(s.finished) > 0 && s.finished[0].Score >= s.running[0].LogProb/s.penalty(s.limit)
}

// advance extends the running hypotheses by one symbol each; logits [Width][V] belong to them in order.
func (s *beam) advance(logits [][]float32) error {
	if s.over() {
		return nil
	}
	type candidate struct {
		from    int
		symbol  vocab.ID
		logProb float64
	}
	var candidates []candidate
	for w, h := range s.running {
		logP, err := logSoftmax(logits[w])
		if err != nil {
			return err
		}
		for id := int(vocab.End); id < len(logP); id++ {
			candidates = append(candidates, candidate{w, vocab.ID(id), h.LogProb + logP[id]})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.logProb, a.logProb) })
	var running []Hypothesis
	for _, c := range candidates[:min(2*s.Width, len(candidates))] {
		symbols := append(slices.Clone(s.running[c.from].Symbols), c.symbol)
		h := Hypothesis{Symbols: symbols, LogProb: c.logProb, Score: c.logProb / s.penalty(len(symbols)), Finished: c.symbol == vocab.End}
		if h.Finished {
			s.finished = append(s.finished, h)
		} else if len(running) < s.Width {
			running = append(running, h)
		}
	}
	s.running = running
	slices.SortStableFunc(s.finished, func(a, b Hypothesis) int { return cmp.Compare(b.Score, a.Score) })
	s.finished = s.finished[:min(s.Width, len(s.finished))]
	return nil
}

// best is what the search came to.
func (s *beam) best() []Hypothesis {
	if len(s.finished) > 0 {
		return s.finished
	}
	for i := range s.running {
		h := &s.running[i]
		h.Score = h.LogProb / s.penalty(len(h.Symbols))
	}
	return s.running
}
