package halting

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Selection is the positions that a step computes: all of a batch, or a list of those that still run, in the order of the batch.
// Values of all positions are [B, M, ...]. Those of a list are one row of A slots, [1, A, ...].
//
// Attention needs the positions of one sequence side by side. For it the slots are folded into a grid [R, C, ...] of R
// sequences with C cells each. If all positions are selected, their values are that grid already.
//
// A list has a fixed number of slots, rows and cells. Slots that no position takes repeat another position, and what is computed
// there is never added to anything.
type Selection struct {
	batch, length int // B, M
	capacity      Capacity

	// nil if all positions are selected:
	index *Node // [A, 1] int32: the position that a slot holds, counted through the batch
	used  *Node // [1, A] bool: the slot holds a position
	slot  *Node // [B*M] int32: the slot that holds a position, if it is selected
	cell  *Node // [A, 1] int32: the grid's cell that a slot goes to
	grid  *Node // [R*C, 1] int32: the slot that a cell comes from
	rows  *Node // [R, 1] int32: the sequence that a row of the grid belongs to
}

// selectAll selects all positions of a batch like mask [B, M].
func selectAll(mask *Node) *Selection {
	dims := mask.Shape().Dimensions
	return &Selection{batch: dims[0], length: dims[1], capacity: Capacity{Positions: dims[0] * dims[1], Rows: dims[0], Longest: dims[1]}}
}

// IsAll tells whether all positions are selected, as they are by a nil selection.
func (s *Selection) IsAll() bool { return s == nil || s.index == nil }

// Pick takes the selected positions out of x [B, M, ...].
func (s *Selection) Pick(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return InsertAxes(Gather(s.flat(x), s.index), 0)
}

// PickColumns takes out of x [1, M, ...], which is the same for all sequences, what belongs to the selected positions.
func (s *Selection) PickColumns(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return InsertAxes(Gather(Squeeze(x, 0), ModScalar(s.index, s.length)), 0)
}

// Add adds values of the selected positions to those of all, x [B, M, ...]. Slots that hold no position must be zero.
func (s *Selection) Add(x, selected *Node) *Node {
	if s.IsAll() {
		return Add(x, selected)
	}
	return Reshape(ScatterSum(s.flat(x), s.index, Squeeze(selected, 0), false, false), x.Shape().Dimensions...)
}

// zeroUnused zeroes x, one number a slot, where the slot holds no position.
func (s *Selection) zeroUnused(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return Where(s.used, x, ZerosLike(x))
}

// Fold lays values of the selected positions out as a grid [R, C, ...].
func (s *Selection) Fold(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	cells := Gather(Squeeze(x, 0), s.grid) // [R*C, ...]
	return Reshape(cells, append([]int{s.capacity.Rows, s.capacity.Longest}, x.Shape().Dimensions[2:]...)...)
}

// Unfold is the inverse of Fold.
func (s *Selection) Unfold(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	dims := x.Shape().Dimensions
	cells := Reshape(x, append([]int{dims[0] * dims[1]}, dims[2:]...)...)
	return InsertAxes(Gather(cells, s.cell), 0)
}

// Rows gives for every row of the grid the values of its sequence, x [B, ...]: [R, ...].
func (s *Selection) Rows(x *Node) *Node {
	if s.IsAll() || s.capacity.Rows == s.batch {
		return x
	}
	return Gather(x, s.rows)
}

// Columns gives for every cell of the grid the place of its position in its sequence, from 0: [R, C] int32.
func (s *Selection) Columns(g *Graph) *Node {
	return s.Fold(s.Pick(Iota(g, shapes.Make(dtypes.Int32, s.batch, s.length), 1)))
}

// flat counts positions through the batch: [B, M, ...] to [B*M, ...].
func (s *Selection) flat(x *Node) *Node {
	return Reshape(x, append([]int{s.batch * s.length}, x.Shape().Dimensions[2:]...)...)
}

// narrow selects the running positions [B, M] among those of s, up to the capacity, and picks their states. It gives s itself if
// the capacity is that of s.
func (s *Selection) narrow(running *Node, capacity Capacity, state *Node) (*Selection, *Node) {
	if capacity == s.capacity {
		return s, state
	}
	n := selectRunning(running, capacity)
	if s.IsAll() {
		return n, n.Pick(state)
	}
	return n, InsertAxes(Gather(Squeeze(state, 0), Gather(InsertAxes(s.slot, -1), n.index)), 0)
}

// selectRunning gives the running positions [B, M] slots, and cells of a grid. Sequences without any get no row.
func selectRunning(running *Node, capacity Capacity) *Selection {
	s := selectAll(running)
	s.capacity = capacity
	slots, rows, cells := capacity.Positions, capacity.Rows, capacity.Rows*capacity.Longest
	one := ConvertDType(running, dtypes.Float32) // integers far below 2^24: exact
	before := sumBefore(one)                     // [B, M]: earlier running positions of the sequence
	count := ReduceSum(one, -1)                  // [B]
	busy := GreaterThan(count, ZerosLike(count))
	row := sumBefore1D(ConvertDType(busy, dtypes.Float32)) // [B]
	if rows == s.batch {
		row = Iota(row.Graph(), row.Shape(), 0) // every sequence keeps its place
	}
	fits := LogicalAnd(running, LessThan(before, Scalar(before.Graph(), before.DType(), capacity.Longest)))
	slot := s.flat(places(fits, Add(before, InsertAxes(sumBefore1D(count), -1)), slots))
	cell := s.flat(places(fits, Add(before, InsertAxes(MulScalar(row, capacity.Longest), -1)), cells))

	s.slot = MinScalar(slot, slots-1)
	s.index = inverse(slot, slots)
	s.used = InsertAxes(LessThan(Iota(slot.Graph(), shapes.Make(dtypes.Int32, slots), 0), toInt32(ReduceAllSum(count))), 0)
	s.cell = MinScalar(Gather(InsertAxes(cell, -1), s.index), cells-1)
	s.grid = MinScalar(Gather(InsertAxes(s.slot, -1), inverse(cell, cells)), slots-1)
	s.rows = inverse(places(busy, row, rows), rows)
	return s
}

// places is the place of those who fit, from 0; the others, and those beyond the number of places, get the number of places.
func places(fits, place *Node, size int) *Node {
	place = MinScalar(toInt32(place), size)
	return Where(fits, place, Scalar(place.Graph(), place.DType(), size))
}

// inverse turns places [N], each from 0 to size, into the list [size, 1] of the index at each place: 0 where there is none. Those at
// size are left out.
func inverse(place *Node, size int) *Node {
	g := place.Graph()
	index := Iota(g, place.Shape(), 0)
	found := Scatter(InsertAxes(place, -1), index, shapes.Make(dtypes.Int32, size+1), false, false)
	return InsertAxes(Slice(found, AxisRange(0, size)), -1)
}

// sumBefore sums what comes before along the last axis: y_i = sum over j < i of x_j. x: [B, M]. A product with a triangle
// takes a hundredth of the time of GoMLX's CumSum, which sums windows (B = 32; M = 64, 400, 1600).
func sumBefore(x *Node) *Node {
	n := x.Shape().Dimensions[1]
	square := shapes.Make(dtypes.Int32, n, n)
	earlier := LessThan(Iota(x.Graph(), square, 0), Iota(x.Graph(), square, 1))
	return Dot(x, ConvertDType(earlier, x.DType())).Product()
}

func sumBefore1D(x *Node) *Node { return Squeeze(sumBefore(InsertAxes(x, 0)), 0) }

func toInt32(x *Node) *Node { return ConvertDType(x, dtypes.Int32) }
