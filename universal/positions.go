package universal

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Positions says at which positions the tokens of a training sequence stand. The paper trains its algorithmic tasks
// with "positions starting with randomized offsets" (section 3.4), so that longer sequences meet no position that was
// never seen. Source and target of one example get the same draw. Tests always count from 1.
type Positions struct {
	Max  int  `json:"max"`  // the largest position ever drawn; 0 counts from 1 and draws nothing
	Gaps bool `json:"gaps"` // draw a sorted random subset of 1..Max (randomised ordered positions) instead of one offset
}

// Random tells whether training draws positions at all.
func (p Positions) Random() bool { return p.Max > 0 }

// Draw gives length increasing positions between 1 and p.Max: either consecutive ones from a start that makes every
// offset equally likely, or a uniform random subset. A sequence longer than p.Max is counted from 1.
func (p Positions) Draw(rng *rand.Rand, length int) []int32 {
	drawn := make([]int32, length)
	if p.Gaps && length <= p.Max {
		for i, v := range rng.Perm(p.Max)[:length] {
			drawn[i] = int32(v) + 1
		}
		slices.Sort(drawn)
		return drawn
	}
	offset := 0
	if spare := p.Max - length; spare > 0 {
		offset = rng.IntN(spare + 1)
	}
	for i := range drawn {
		drawn[i] = int32(offset + i + 1)
	}
	return drawn
}

// Validate rejects a negative maximum.
func (p Positions) Validate() error {
	if p.Max < 0 {
		return fmt.Errorf("max is %d: use 0 to count from 1, or the largest position to draw", p.Max)
	}
	if p.Gaps && p.Max == 0 {
		return fmt.Errorf("max is 0: positions with gaps need the largest position to draw")
	}
	return nil
}
