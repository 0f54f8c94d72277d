package halting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine/enginetest"
)

// reached is what around gives, by loops over the running positions.
func reached(running [][]bool, r Reach) [][]bool {
	out := make([][]bool, len(running))
	for b, row := range running {
		out[b] = make([]bool, len(row))
		for m, runs := range row {
			for j := max(0, m-r.Before); runs && j <= min(len(row)-1, m+r.After); j++ {
				out[b][j] = true
			}
		}
	}
	return out
}

// A reach of any size around running positions at any place, also one that is longer than the sequence.
// Caught when planted: before and after exchanged; a position too few at the end; the next sequence reached.
func TestReachAgreesWithLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	every := []place{{0, 0}, {0, 2}, {1, 4}, {2, 0}, {2, 3}, {3, 1}, {3, 4}}
	for _, r := range []Reach{{}, {1, 0}, {0, 1}, {1, 2}, {2, 1}, {6, 0}, {3, 7}} {
		running := draw(rng, every, 0.4)
		exec := MustNewExec(enginetest.Backend(t), func(x *Node) *Node { return ConvertDType(r.around(x), dtypes.Int32) })
		got := tensors.MustCopyFlatData[int32](exec.MustCall(running)[0])
		exec.Finalize()
		for i, here := range slices.Concat(reached(running, r)...) {
			if (got[i] == 1) != here {
				t.Errorf("reach %v of %v: place %d is %d, want %v", r, running, i, got[i], here)
			}
		}
	}
}

// Neighbours of selected positions are those of the batch, and zeros where there is none that is selected, for selections made of all
// positions and of others, with unused slots.
// Caught when planted: the neighbour in the list for that in the sequence; the sequence before; an unused slot that has neighbours; the
// last slot for positions that are not selected.
func TestNeighboursAgreeWithLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var every []place
	x := make([][][]float64, selectionRows)
	for b := range selectionRows {
		for m := range selectionLength {
			p := place{b, m}
			every, x[b] = append(every, p), append(x[b], []float64{value(p, 0), value(p, 1)})
		}
	}
	const before, after = 3, 2
	for round := range 30 {
		first := draw(rng, every, []float64{0.3, 0.6, 0.9}[round%3])
		all, _ := runningPlaces(first)
		second := draw(rng, all, 0.7)
		a, b := capacityFor(first, round%2), capacityFor(second, round%4)
		b = Capacity{min(a.Positions, b.Positions), min(a.Rows, b.Rows), min(a.Longest, b.Longest)}
		if b == a || b == (Capacity{selectionRows * selectionLength, selectionRows, selectionLength}) {
			continue // the same positions go on
		}
		exec := MustNewExec(enginetest.Backend(t), func(one *Node) []*Node {
			s, picked := selectAll(Const(one.Graph(), first)).narrow(Const(one.Graph(), first), a, Const(one.Graph(), x))
			s, picked = s.narrow(Const(one.Graph(), second), b, picked)
			return s.Neighbours(picked, before, after)
		})
		out := exec.MustCall(1.0)
		exec.Finalize()
		selected, _ := runningPlaces(second)
		for r, tensor := range out {
			offset, got := r-before, tensors.MustCopyFlatData[float64](tensor)
			if offset == 0 {
				got = got[:len(selected)*selectionWidth] // the values themselves, whatever unused slots hold
			}
			var want []float64
			for _, p := range selected {
				if m := p.column + offset; m >= 0 && m < selectionLength && second[p.row][m] {
					want = append(want, value(place{p.row, m}, 0), value(place{p.row, m}, 1))
				} else {
					want = append(want, 0, 0)
				}
			}
			want = append(want, make([]float64, len(got)-len(want))...)
			if !slices.Equal(got, want) {
				t.Errorf("%s: neighbours at %d: %v, want %v", fmt.Sprint("round ", round), offset, got, want)
			}
		}
	}
}

// The demand counts the positions in the reach of running ones, by hand: the fifth of six real positions runs two steps, which with one
// position before and two after it are three; the second of seven is in the middle of four.
// Caught when planted: padding that is computed; a reach that only Overflow or only the selection knows.
func TestDemandCountsTheReach(t *testing.T) {
	updates := [][]int32{{1, 1, 1, 1, 2, 1, 0}, {1, 2, 1, 1, 1, 1, 1}}
	exec := MustNewExec(enginetest.Backend(t), func(n *Node) []*Node {
		o := Outcome{State: n, Updates: n, Remainders: n, Reach: Reach{Before: 1, After: 2}}
		fits := Capacities{{13, 2, 7}, {7, 2, 4}}
		short := Capacities{{13, 2, 7}, {6, 2, 4}}
		return []*Node{o.Demand(2), ConvertDType(Stack([]*Node{o.Overflow(fits), o.Overflow(short)}, 0), dtypes.Int32)}
	})
	defer exec.Finalize()
	out := exec.MustCall(updates)
	if got, want := tensors.MustCopyFlatData[int32](out[0]), []int32{13, 2, 7, 7, 2, 4, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("demand %v, want %v", got, want)
	}
	if got := tensors.MustCopyFlatData[int32](out[1]); !slices.Equal(got, []int32{0, 1}) {
		t.Errorf("overflows %v", got)
	}
}
