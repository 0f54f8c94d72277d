package universal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"universal-transformer/internal/part"
)

// Positions determines the positions of the places of a training sequence. The paper trains its algorithmic tasks with "positions
// starting with randomized offsets" (section 3.4), so that longer sequences contain no position that was never seen. Source and
// target of an example have the same positions. Tests always count from 1.
//
// The implementations are [FromOne], [RandomOffset], [RandomSubset] and [RandomRuns].
type Positions interface {
	// Limit returns the largest position that is drawn, or 0 if positions always count from 1.
	Limit() int
	// Draw returns length increasing positions from 1 to Limit. The positions of a sequence that is longer than Limit count from 1.
	Draw(rng *rand.Rand, length int) []int32
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
}

// FromOne counts 1, 2, 3, ... in training too.
type FromOne struct{}

// Limit returns 0.
func (FromOne) Limit() int { return 0 }

// Draw returns 1, 2, 3, ...
func (FromOne) Draw(_ *rand.Rand, length int) []int32 { return consecutive(0, length) }

// Validate returns nil.
func (FromOne) Validate() error { return nil }

// RandomOffset draws consecutive positions; every offset is equally likely. It is the paper's choice.
type RandomOffset struct {
	Max int `json:"max"` // largest position
}

// Limit returns p.Max.
func (p RandomOffset) Limit() int { return p.Max }

// Draw draws the offset.
func (p RandomOffset) Draw(rng *rand.Rand, length int) []int32 {
	offset := 0
	if spare := p.Max - length; spare > 0 {
		offset = rng.IntN(spare + 1)
	}
	return consecutive(offset, length)
}

// Validate returns an error if Max is out of range.
func (p RandomOffset) Validate() error { return validMax(p.Max) }

// RandomSubset draws a sorted random subset of 1..Max; all subsets are equally likely (randomized positional encodings, Ruoss et al.,
// 2023).
type RandomSubset struct {
	Max int `json:"max"` // largest position
}

// Limit returns p.Max.
func (p RandomSubset) Limit() int { return p.Max }

// Draw draws the subset.
func (p RandomSubset) Draw(rng *rand.Rand, length int) []int32 {
	if length > p.Max {
		return consecutive(0, length)
	}
	drawn := make([]int32, length)
	for i, v := range rng.Perm(p.Max)[:length] {
		drawn[i] = int32(v) + 1
	}
	slices.Sort(drawn)
	return drawn
}

// Validate returns an error if Max is out of range.
func (p RandomSubset) Validate() error { return validMax(p.Max) }

// RandomRuns splits a sequence into runs of consecutive positions, with a random number of skipped positions before each run, such
// that positions are at most Max. A few long runs preserve neighbours, as in tests; many short ones produce large distances. The
// number of runs is drawn with probabilities proportional to 1/number, from one (a [RandomOffset]) to one per token (a
// [RandomSubset]). A quarter of the sequences begin at 1, as in tests; otherwise the first positions would almost never be drawn.
type RandomRuns struct {
	Max int `json:"max"` // largest position
}

// Limit returns p.Max.
func (p RandomRuns) Limit() int { return p.Max }

// Draw draws the number of runs, where they begin, and how many positions are skipped before each.
func (p RandomRuns) Draw(rng *rand.Rand, length int) []int32 {
	spare := p.Max - length
	if spare <= 0 || length == 0 {
		return consecutive(0, length)
	}
	runs := int(math.Pow(float64(length+1), rng.Float64())) // exp of a uniform number from 0 to log(length+1)
	skipped := make([]int32, runs)                          // positions skipped before each run in total
	for i := range skipped {
		skipped[i] = int32(rng.IntN(spare + 1))
	}
	slices.Sort(skipped)
	if rng.IntN(4) == 0 {
		skipped[0] = 0
	}
	begins := make([]bool, length)
	for _, at := range rng.Perm(length - 1)[:runs-1] {
		begins[at+1] = true
	}
	drawn, run := consecutive(0, length), 0
	for i := range drawn {
		if begins[i] {
			run++
		}
		drawn[i] += skipped[run]
	}
	return drawn
}

// Validate returns an error if Max is out of range.
func (p RandomRuns) Validate() error { return validMax(p.Max) }

// Draws draws the positions of the places that a counting numbers. The zero value draws none.
type Draws struct {
	Counting  Counting
	Positions Positions
}

// Random reports whether positions are drawn.
func (d Draws) Random() bool { return d.Positions != nil && d.Positions.Limit() > 0 }

// Draw returns the position of each place of an example, at least one. source has words ids per position (0 means 1). source and
// target may have padding at the end. It returns an error if the positions are not as [Positions] says.
func (d Draws) Draw(rng *rand.Rand, source []int32, words int, target []int32) ([]int32, error) {
	words = max(words, 1)
	positions := (tokens(source) + words - 1) / words
	places := positions
	if words == 1 {
		places = Config{Counting: d.Counting}.counting().Highest(source[:positions])
	}
	length := max(places, tokens(target), 1)
	drawn := d.Positions.Draw(rng, length)
	return drawn, d.check(drawn, length)
}

// check returns an error unless there are as many positions as wanted, increasing from 1 or more to the limit.
func (d Draws) check(drawn []int32, want int) error {
	p, limit, last := part.Of("positions", d.Positions), max(d.Positions.Limit(), want), int32(0)
	if len(drawn) != want {
		return p.Errorf("drew %d positions, want %d", len(drawn), want)
	}
	for _, n := range drawn {
		if n <= last || int(n) > limit {
			return p.Errorf("drew %d after %d for a sequence of length %d, want increasing positions from 1 to %d", n, last, want, limit)
		}
		last = n
	}
	return nil
}

// tokens returns the length of a sequence without padding at its end.
func tokens(ids []int32) int {
	n := len(ids)
	for n > 0 && ids[n-1] == 0 {
		n--
	}
	return n
}

// maxPositions bounds the table of coordinates in a graph.
const maxPositions = 100_000

func validMax(limit int) error {
	if limit < 1 || limit > maxPositions {
		return fmt.Errorf("max is %d: it must be from 1 to %d, the largest position to draw", limit, maxPositions)
	}
	return nil
}

// consecutive returns offset+1, offset+2, ...
func consecutive(offset, length int) []int32 {
	list := make([]int32, length)
	for i := range list {
		list[i] = int32(offset + i + 1)
	}
	return list
}
