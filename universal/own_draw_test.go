package universal_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"universal-transformer/universal"
)

// A pool of another module returns the states of one position or of all.
// Caught when planted: the check left out; states of all positions refused.
func TestFaultsOfPoolsNameThem(t *testing.T) {
	for want, pool := range map[string]universal.Pool{
		"": func(state, _ *Node) *Node { return MulScalar(state, 2) },
		"pool universal.Pool returned (Float64)[1, 6], want (Float64)[1, 1, 6]":    func(state, _ *Node) *Node { return ReduceMean(state, 1) },
		"pool universal.Pool returned (Float64)[1, 2, 1], want (Float64)[1, 1, 6]": func(state, _ *Node) *Node { return mean(state) },
		"pool universal.Pool returned nil, want (Float64)[1, 1, 6]":                func(_, _ *Node) *Node { return nil },
		"pool universal.Pool: no state":                                            func(_, _ *Node) *Node { panic(fmt.Errorf("no state")) },
	} {
		if err := faultOf(t, universal.Encoder{Config: small(), Pool: pool}); want == "" && err != nil || want != "" && (err == nil || err.Error() != want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// ownPositions are positions as another module could define them.
type ownPositions struct {
	universal.RandomOffset
	draw []int32
}

func (o ownPositions) Draw(*rand.Rand, int) []int32 { return o.draw }

// Positions of another module increase from 1 to their limit, or to the length of a longer sequence, one for each place.
// Caught when planted: any part of the check left out; a limit below the length.
func TestFaultsOfPositionsNameThem(t *testing.T) {
	const name = "positions universal_test.ownPositions "
	for _, c := range []struct {
		limit int
		draw  []int32
		want  string
	}{
		{9, []int32{1, 5, 9}, ""},
		{2, []int32{1, 2, 3}, ""},
		{9, []int32{1, 5}, name + "drew 2 positions, want 3"},
		{9, []int32{1, 5, 6, 7}, name + "drew 4 positions, want 3"},
		{9, []int32{0, 5, 9}, name + "drew 0 after 0 for a sequence of length 3, want increasing positions from 1 to 9"},
		{9, []int32{1, 5, 5}, name + "drew 5 after 5 for a sequence of length 3, want increasing positions from 1 to 9"},
		{9, []int32{1, 5, 10}, name + "drew 10 after 5 for a sequence of length 3, want increasing positions from 1 to 9"},
		{2, []int32{1, 2, 4}, name + "drew 4 after 2 for a sequence of length 3, want increasing positions from 1 to 3"},
	} {
		d := universal.Draws{Positions: ownPositions{universal.RandomOffset{Max: c.limit}, c.draw}}
		_, err := d.Draw(nil, []int32{4, 4, 4, 0}, 1, nil)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v of at most %d: %v, want %q", c.draw, c.limit, err, c.want)
		}
	}
}
