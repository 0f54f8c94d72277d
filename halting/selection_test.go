package halting

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine/enginetest"
)

const (
	selectionRows, selectionLength = 4, 5 // B, M
	selectionWidth                 = 2
)

// place is a position of a batch: its row and its column.
type place struct{ row, column int }

// runningPlaces lists the positions that run, in the order of the batch, and by row.
func runningPlaces(running [][]bool) (all []place, rows [][]place) {
	for b, row := range running {
		var here []place
		for m, runs := range row {
			if runs {
				here = append(here, place{b, m})
			}
		}
		all, rows = append(all, here...), append(rows, here)
	}
	return all, rows
}

// value is the content of x [B, M, 2] at a position, so that every number occurs once.
func value(p place, k int) float64 { return float64(100*p.row + 10*p.column + k + 1) }

// draw lets each of the given positions run with a probability, at least one of them.
func draw(rng *rand.Rand, among []place, p float64) [][]bool {
	running := make([][]bool, selectionRows)
	for b := range running {
		running[b] = make([]bool, selectionLength)
	}
	for _, at := range among {
		running[at.row][at.column] = rng.Float64() < p
	}
	one := among[rng.IntN(len(among))]
	running[one.row][one.column] = true
	return running
}

// capacityFor is what the running positions need, with some to spare.
func capacityFor(running [][]bool, spare int) Capacity {
	all, rows := runningPlaces(running)
	c := Capacity{Positions: len(all)}
	for _, row := range rows {
		c.Longest = max(c.Longest, len(row))
		if len(row) > 0 {
			c.Rows++
		}
	}
	return Capacity{min(c.Positions+spare, selectionRows*selectionLength), min(c.Rows+spare, selectionRows), min(c.Longest+spare, selectionLength)}
}

// A selection of the running positions, and a narrower one made from it, pick, fold, unfold and add what plain loops do.
// Caught when planted: slots, rows or cells that are off by one; the values of a narrowed selection picked from the batch's places; unused
// slots that are used.
func TestSelectionAgreesWithLoops(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 9))
	var every []place
	for b := range selectionRows {
		for m := range selectionLength {
			every = append(every, place{b, m})
		}
	}
	for round := range 30 {
		first := draw(rng, every, []float64{0.2, 0.5, 0.9}[round%3])
		all, _ := runningPlaces(first)
		second := draw(rng, all, 0.5)
		a, b := capacityFor(first, round%2), capacityFor(second, round/2%2)
		b = Capacity{min(a.Positions, b.Positions), min(a.Rows, b.Rows), min(a.Longest, b.Longest)}
		checkSelection(t, fmt.Sprintf("round %d", round), first, a, nil, Capacity{})
		checkSelection(t, fmt.Sprintf("round %d, narrowed", round), first, a, second, b)
	}
}

// A capacity for everything selects everything, whatever runs, and one that is no smaller than that of a selection changes nothing.
// Caught when planted: rows taken for columns.
func TestFullCapacitySelectsAll(t *testing.T) {
	exec, err := NewExec(enginetest.Backend(t), func(one *Node) *Node {
		running := Const(one.Graph(), [][]bool{{true, false, true}, {false, false, true}})
		state := Ones(one.Graph(), shapes.Make(dtypes.Float64, 2, 3, 1))
		all, kept := selectAll(running).narrow(running, Capacity{6, 2, 3}, state)
		if !all.IsAll() || kept != state {
			t.Error("a capacity of all positions selects some")
		}
		some, picked := all.narrow(running, Capacity{4, 2, 2}, state)
		again, same := some.narrow(running, Capacity{4, 2, 2}, picked)
		if some.IsAll() || again != some || same != picked {
			t.Error("the same capacity selects anew")
		}
		return one
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Call(1.0); err != nil {
		t.Fatal(err)
	}
}

// checkSelection selects the positions that run, and then, if given, some of them.
func checkSelection(t *testing.T, name string, first [][]bool, a Capacity, second [][]bool, b Capacity) {
	t.Helper()
	x := make([][][]float64, selectionRows)
	sums := make([][][]float64, selectionRows) // x, doubled where positions are selected
	y := make([][]float64, selectionRows)
	columns := [][][]float64{make([][]float64, selectionLength)}
	final, c := first, a
	if second != nil {
		final, c = second, b
	}
	for r := range x {
		y[r] = []float64{float64(r + 1), float64(-r)}
		for m := range selectionLength {
			p := place{r, m}
			x[r], sums[r] = append(x[r], []float64{value(p, 0), value(p, 1)}), append(sums[r], []float64{value(p, 0), value(p, 1)})
			if final[r][m] {
				sums[r][m] = []float64{2 * value(p, 0), 2 * value(p, 1)}
			}
			columns[0][m] = []float64{float64(7 * m)}
		}
	}
	exec, err := NewExec(enginetest.Backend(t), func(one *Node) []*Node {
		g := one.Graph()
		state := Const(g, x)
		s, picked := selectAll(Const(g, first)).narrow(Const(g, first), a, state)
		if second != nil {
			s, picked = s.narrow(Const(g, second), b, picked)
		}
		used := OnesLike(Squeeze(Slice(picked, AxisRange(), AxisRange(), AxisRange(0, 1)), -1))
		kept := BroadcastToShape(InsertAxes(s.zeroUnused(used), -1), picked.Shape())
		return []*Node{
			s.Pick(state), picked, s.zeroUnused(used), s.PickColumns(Const(g, columns)), s.Fold(picked), s.Unfold(s.Fold(picked)),
			s.Rows(Const(g, y)), ConvertDType(s.Columns(g), state.DType()), s.Add(state, Mul(picked, kept)),
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Call(1.0)
	if err != nil {
		t.Fatal(err)
	}
	var got [][]float64
	for _, tensor := range out {
		got = append(got, tensors.MustCopyFlatData[float64](tensor))
	}
	if c == (Capacity{selectionRows * selectionLength, selectionRows, selectionLength}) {
		return // everything is selected: nothing is moved
	}
	compareSlots(t, name, got, final, c)
	compareGrid(t, name, got, final, c)
	if want := flatten(sums); !slices.Equal(got[8], want) {
		t.Errorf("%s: added to the batch: %v, want %v", name, got[8], want)
	}
}

// compareSlots checks what is picked: the running positions in the order of the batch; what unused slots hold does not matter.
func compareSlots(t *testing.T, name string, got [][]float64, running [][]bool, c Capacity) {
	t.Helper()
	all, _ := runningPlaces(running)
	for i := range c.Positions {
		used := 0.0
		if i < len(all) {
			used = 1
			for k := range selectionWidth {
				for what, values := range map[string][]float64{"picked": got[0], "handed on": got[1], "unfolded": got[5]} {
					if v := values[i*selectionWidth+k]; v != value(all[i], k) {
						t.Errorf("%s: %s in slot %d: %v, want %v", name, what, i, v, value(all[i], k))
					}
				}
			}
			if v := got[3][i]; v != float64(7*all[i].column) {
				t.Errorf("%s: column of slot %d: %v, want %d", name, i, v, 7*all[i].column)
			}
		}
		if got[2][i] != used {
			t.Errorf("%s: slot %d is used: %v, want %v", name, i, got[2][i], used)
		}
	}
}

// compareGrid checks the grid: each row holds the running positions of one sequence, in order; sequences without any have no row unless
// there is one for each.
func compareGrid(t *testing.T, name string, got [][]float64, running [][]bool, c Capacity) {
	t.Helper()
	_, rows := runningPlaces(running)
	r := 0
	for b, row := range rows {
		if len(row) == 0 && c.Rows < selectionRows {
			continue
		}
		for i, p := range row {
			cell := r*c.Longest + i
			for k := range selectionWidth {
				if v := got[4][cell*selectionWidth+k]; v != value(p, k) {
					t.Errorf("%s: row %d, cell %d: %v, want %v", name, r, i, v, value(p, k))
				}
			}
			if v := got[7][cell]; v != float64(p.column) {
				t.Errorf("%s: row %d, cell %d is of column %v, want %d", name, r, i, v, p.column)
			}
		}
		if want := []float64{float64(b + 1), float64(-b)}; len(row) > 0 && !slices.Equal(got[6][2*r:2*r+2], want) {
			t.Errorf("%s: row %d is of sequence %v, want %v", name, r, got[6][2*r:2*r+2], want)
		}
		r++
	}
}

func flatten(x [][][]float64) (flat []float64) {
	for _, row := range x {
		for _, p := range row {
			flat = append(flat, p...)
		}
	}
	return flat
}

// Sums before an element are exact in one product and in blocks of any number of rows. Caught when planted: a block that counts itself; the
// zeros at the end taken for elements of the next row.
func TestSumsBefore(t *testing.T) {
	for _, n := range []int{1, 5, 2 * sumBlock, 2*sumBlock + 1, 1300, 5 * sumBlock} {
		const rows = 3
		x, want := make([]float32, rows*n), make([]float32, rows*n)
		for i := range x {
			x[i] = float32(i * i % 7)
			if i%n > 0 {
				want[i] = want[i-1] + x[i-1]
			}
		}
		exec := MustNewExec(enginetest.Backend(t), sumBefore)
		out := exec.MustCall(tensors.FromFlatDataAndDimensions(x, rows, n))
		if got := tensors.MustCopyFlatData[float32](out[0]); !slices.Equal(got, want) {
			t.Errorf("%d elements: wrong sums", n)
		}
		exec.Finalize()
	}
}
