package universal

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Positions says at which positions the places of a training sequence stand. The paper trains its algorithmic tasks
// with "positions starting with randomized offsets" (section 3.4), so that longer sequences meet no position that was
// never seen. Source and target of one example get the same draw. Tests always count from 1.
//
// Its implementations are [FromOne], [RandomOffset], [RandomSubset] and [RandomRuns].
type Positions interface {
	// Limit is the largest position ever drawn; 0 if none is drawn and positions count from 1.
	Limit() int
	// Draw gives length increasing positions from 1 to Limit. A sequence longer than that is counted from 1.
	Draw(rng *rand.Rand, length int) []int32
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error
}

// FromOne counts 1, 2, 3, ... in training too.
type FromOne struct{}

// Limit is 0.
func (FromOne) Limit() int { return 0 }

// Draw counts from 1.
func (FromOne) Draw(_ *rand.Rand, length int) []int32 { return consecutive(0, length) }

// Validate finds nothing wrong.
func (FromOne) Validate() error { return nil }

// RandomOffset gives consecutive positions from a start that makes every offset equally likely: the paper's.
type RandomOffset struct {
	Max int `json:"max"` // the largest position
}

// Limit is p.Max.
func (p RandomOffset) Limit() int { return p.Max }

// Draw draws the offset.
func (p RandomOffset) Draw(rng *rand.Rand, length int) []int32 {
	offset := 0
	if spare := p.Max - length; spare > 0 {
		offset = rng.IntN(spare + 1)
	}
	return consecutive(offset, length)
}

// Validate rejects a maximum that is not from 1 to what can be drawn from.
func (p RandomOffset) Validate() error { return validMax(p.Max) }

// RandomSubset gives a sorted random subset of 1..Max, every one equally likely (Ruoss et al., 2023: randomised positions).
type RandomSubset struct {
	Max int `json:"max"` // the largest position
}

// Limit is p.Max.
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

// Validate rejects a maximum that is not from 1 to what can be drawn from.
func (p RandomSubset) Validate() error { return validMax(p.Max) }

// RandomRuns cuts a sequence into runs of consecutive positions and skips a random number of positions between them, altogether up to
// Max: few long runs are neighbours, as a test has them, many short ones are distances as large as Max, and between these lie neighbours at
// both ends of a long sequence. The number of runs is drawn with probabilities that fall as 1/number, from one (a [RandomOffset]) to one a
// token (a [RandomSubset]). A quarter of the sequences begin at 1, as all do in a test; otherwise the first positions would hardly ever be drawn.
type RandomRuns struct {
	Max int `json:"max"` // the largest position
}

// Limit is p.Max.
func (p RandomRuns) Limit() int { return p.Max }

// Draw draws how many runs there are, where they begin, and what is skipped before each.
func (p RandomRuns) Draw(rng *rand.Rand, length int) []int32 {
	spare := p.Max - length
	if spare <= 0 || length == 0 {
		return consecutive(0, length)
	}
	runs := int(math.Pow(float64(length+1), rng.Float64())) // exp of uniform from 0 to log(length+1)
	skipped := make([]int32, runs)                          // before each run, in all
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

// Validate rejects a maximum that is not from 1 to what can be drawn from.
func (p RandomRuns) Validate() error { return validMax(p.Max) }

// Draws is how positions are drawn for the places that a counting numbers. Its zero value draws none.
type Draws struct {
	Counting  Counting
	Positions Positions
}

// Random tells whether any are drawn.
func (d Draws) Random() bool { return d.Positions != nil && d.Positions.Limit() > 0 }

// Draw gives the position of each place of an example, at least one: source has words ids a position (0 counts as 1) and, like
// target, may have padding behind.
func (d Draws) Draw(rng *rand.Rand, source []int32, words int, target []int32) []int32 {
	words = max(words, 1)
	real := (tokens(source) + words - 1) / words
	places := real
	if words == 1 {
		places = Config{Counting: d.Counting}.counting().Highest(source[:real])
	}
	return d.Positions.Draw(rng, max(places, tokens(target), 1))
}

// tokens is the length of a sequence without the padding behind it.
func tokens(ids []int32) int {
	n := len(ids)
	for n > 0 && ids[n-1] == 0 {
		n--
	}
	return n
}

// maxPositions bounds the table of coordinates that a graph holds.
const maxPositions = 100_000

func validMax(most int) error {
	if most < 1 || most > maxPositions {
		return fmt.Errorf("max is %d: it is the largest position to draw, and must be from 1 to %d", most, maxPositions)
	}
	return nil
}

// consecutive is offset+1, offset+2, ...
func consecutive(offset, length int) []int32 {
	list := make([]int32, length)
	for i := range list {
		list[i] = int32(offset + i + 1)
	}
	return list
}
