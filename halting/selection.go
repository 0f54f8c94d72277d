package halting

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// A Selection is the set of positions that a step computes: all of a batch, or a list of the running ones and those in their reach, in
// the order of the batch.
// Values of all positions are [B, M, ...]. Those of a list are one row of A slots, [1, A, ...].
//
// Attention needs the positions of a sequence next to each other. For that, the slots are folded into a grid [R, C, ...] of R
// sequences with C cells each. If all positions are selected, their values already are that grid.
//
// A list has a fixed number of slots, rows and cells. Unused slots repeat another position, and their results are never added to
// anything.
type Selection struct {
	batch, length int // B, M
	capacity      Capacity

	// The following are nil if all positions are selected:
	index *Node // [A, 1] int32: the position in a slot, counted through the batch
	used  *Node // [1, A] bool: the slot holds a position
	slot  *Node // [B*M] int32: the slot that holds a position; A if it is not selected
	cell  *Node // [A, 1] int32: the cell of the grid that a slot goes to
	grid  *Node // [R*C, 1] int32: the slot that goes to a cell
	rows  *Node // [R, 1] int32: the sequence of a row of the grid

	neighbours map[int]neighbour // by offset; of selected positions
}

// A neighbour says where the positions are that have an offset from those of the slots.
type neighbour struct {
	slot  *Node // [A, 1] int32
	there *Node // [1, A] bool: the slot holds a position, and so does the other
}

// selectAll selects all positions of a batch with the shape of mask [B, M].
func selectAll(mask *Node) *Selection {
	dims := mask.Shape().Dimensions
	return &Selection{batch: dims[0], length: dims[1], capacity: Capacity{Positions: dims[0] * dims[1], Rows: dims[0], Longest: dims[1]}}
}

// IsAll reports whether all positions are selected. That is also the case for a nil selection.
func (s *Selection) IsAll() bool { return s == nil || s.index == nil }

// shapeOf returns the shape of the selected positions of a tensor [B, M, ...].
func (s *Selection) shapeOf(all shapes.Shape) shapes.Shape {
	if s.IsAll() {
		return all
	}
	selected := all.Clone()
	selected.Dimensions[0], selected.Dimensions[1] = 1, s.index.Shape().Dimensions[0]
	return selected
}

// Pick returns the selected positions of x [B, M, ...].
func (s *Selection) Pick(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return InsertAxes(Gather(s.flat(x), s.index), 0)
}

// PickColumns returns the selected positions of x [1, M, ...], which is the same for all sequences.
func (s *Selection) PickColumns(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return InsertAxes(Gather(Squeeze(x, 0), ModScalar(s.index, s.length)), 0)
}

// Add adds values of the selected positions to x [B, M, ...], those of all positions. Slots that hold no position must be zero.
func (s *Selection) Add(x, selected *Node) *Node {
	if s.IsAll() {
		return Add(x, selected)
	}
	return Reshape(ScatterSum(s.flat(x), s.index, Squeeze(selected, 0), false, false), x.Shape().Dimensions...)
}

// zeroUnused sets x, which has one number per slot, to zero in unused slots.
func (s *Selection) zeroUnused(x *Node) *Node {
	if s.IsAll() {
		return x
	}
	return Where(s.used, x, ZerosLike(x))
}

// Fold arranges values of the selected positions in a grid [R, C, ...].
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

// Neighbours returns the values of x [1, A, C], which are those of selected positions, from before to after places away in the same
// sequence: a list of values of that shape. They are zero where the neighbour is not selected, and in unused slots. The values are
// constants to differentiation.
func (s *Selection) Neighbours(x *Node, before, after int) (list []*Node) {
	x = StopGradient(x)
	for offset := -before; offset <= after; offset++ {
		if offset == 0 {
			list = append(list, x)
			continue
		}
		n := s.neighbour(offset)
		moved := InsertAxes(Gather(Squeeze(x, 0), n.slot), 0)
		list = append(list, selectState(n.there, moved, ZerosLike(moved)))
	}
	return list
}

// neighbour finds the positions that are offset places after those of the slots.
func (s *Selection) neighbour(offset int) neighbour {
	if n, ok := s.neighbours[offset]; ok {
		return n
	}
	other := AddScalar(s.index, offset) // [A, 1]
	column := AddScalar(ModScalar(s.index, s.length), offset)
	inside := LogicalAnd(GreaterOrEqual(column, ZerosLike(column)), LessThan(column, Scalar(column.Graph(), column.DType(), s.length)))
	slot := Gather(InsertAxes(s.slot, -1), ClipScalar(other, 0, float64(s.batch*s.length-1)))
	slots := s.capacity.Positions
	there := LogicalAnd(inside, LessThan(slot, Scalar(slot.Graph(), slot.DType(), slots)))
	n := neighbour{slot: MinScalar(slot, slots-1), there: LogicalAnd(s.used, Reshape(there, 1, slots))}
	if s.neighbours == nil {
		s.neighbours = map[int]neighbour{}
	}
	s.neighbours[offset] = n
	return n
}

// Rows returns, for every row of the grid, the values of its sequence in x [B, ...]: [R, ...].
func (s *Selection) Rows(x *Node) *Node {
	if s.IsAll() || s.capacity.Rows == s.batch {
		return x
	}
	return Gather(x, s.rows)
}

// Columns returns, for every cell of the grid, the index of its position in its sequence, from 0: [R, C] int32.
func (s *Selection) Columns(g *Graph) *Node {
	return s.Fold(s.Pick(Iota(g, shapes.Make(dtypes.Int32, s.batch, s.length), 1)))
}

// flat reshapes [B, M, ...] to [B*M, ...], counting positions through the batch.
func (s *Selection) flat(x *Node) *Node {
	return Reshape(x, append([]int{s.batch * s.length}, x.Shape().Dimensions[2:]...)...)
}

// narrow selects positions [B, M] among those of s, up to the capacity, and picks their states. It returns s itself if the capacity is
// that of s.
func (s *Selection) narrow(positions *Node, capacity Capacity, state *Node) (*Selection, *Node) {
	if capacity == s.capacity {
		return s, state
	}
	n := newSelection(positions, capacity)
	if s.IsAll() {
		return n, n.Pick(state)
	}
	return n, InsertAxes(Gather(Squeeze(state, 0), MinScalar(Gather(InsertAxes(s.slot, -1), n.index), s.capacity.Positions-1)), 0)
}

// newSelection assigns positions [B, M] to slots, and to cells of a grid. Sequences without such positions get no row.
func newSelection(positions *Node, capacity Capacity) *Selection {
	s := selectAll(positions)
	s.capacity = capacity
	slots, rows, cells := capacity.Positions, capacity.Rows, capacity.Rows*capacity.Longest
	one := ConvertDType(positions, dtypes.Float32) // sums are far below 2^24 and thus exact
	before := sumBefore(one)                       // [B, M]: number of earlier positions of the sequence
	count := ReduceSum(one, -1)                    // [B]
	busy := GreaterThan(count, ZerosLike(count))
	row := sumBefore1D(ConvertDType(busy, dtypes.Float32)) // [B]
	if rows == s.batch {
		row = Iota(row.Graph(), row.Shape(), 0) // every sequence keeps its row
	}
	fits := LogicalAnd(positions, LessThan(before, Scalar(before.Graph(), before.DType(), capacity.Longest)))
	slot := s.flat(places(fits, Add(before, InsertAxes(sumBefore1D(count), -1)), slots))
	cell := s.flat(places(fits, Add(before, InsertAxes(MulScalar(row, capacity.Longest), -1)), cells))

	s.slot = slot
	s.index = inverse(slot, slots)
	s.used = InsertAxes(LessThan(Iota(slot.Graph(), shapes.Make(dtypes.Int32, slots), 0), toInt32(ReduceAllSum(count))), 0)
	s.cell = MinScalar(Gather(InsertAxes(cell, -1), s.index), cells-1)
	s.grid = MinScalar(Gather(InsertAxes(slot, -1), inverse(cell, cells)), slots-1)
	s.rows = inverse(places(busy, row, rows), rows)
	return s
}

// places returns place where fits is true and place is below size, and size elsewhere.
func places(fits, place *Node, size int) *Node {
	place = MinScalar(toInt32(place), size)
	return Where(fits, place, Scalar(place.Graph(), place.DType(), size))
}

// inverse returns the list [size, 1] of the index that has each place, given place [N] with values from 0 to size. It has 0 for
// places that do not occur. Indices with place size are ignored.
func inverse(place *Node, size int) *Node {
	g := place.Graph()
	index := Iota(g, place.Shape(), 0)
	found := Scatter(InsertAxes(place, -1), index, shapes.Make(dtypes.Int32, size+1), false, false)
	return InsertAxes(Slice(found, AxisRange(0, size)), -1)
}

// sumBefore returns y_i = sum over j < i of x_j along the last axis of x [B, M]. A product with a triangular matrix is much faster
// than GoMLX's CumSum, which sums windows.
func sumBefore(x *Node) *Node {
	g, rows, n := x.Graph(), x.Shape().Dimensions[0], x.Shape().Dimensions[1]
	if n > 2*sumBlock { // memory would grow with the square
		blocks := (n + sumBlock - 1) / sumBlock
		x = Pad(x, ScalarZero(g, x.DType()), PadAxis{}, PadAxis{End: blocks*sumBlock - n})
		x = Reshape(x, rows*blocks, sumBlock)
		earlier := Reshape(sumBefore(Reshape(ReduceSum(x, -1), rows, blocks)), rows, blocks, 1)
		sums := Add(Reshape(sumBefore(x), rows, blocks, sumBlock), earlier)
		return Slice(Reshape(sums, rows, blocks*sumBlock), AxisRange(), AxisRange(0, n))
	}
	square := shapes.Make(dtypes.Int32, n, n)
	earlier := LessThan(Iota(g, square, 0), Iota(g, square, 1))
	return Dot(x, ConvertDType(earlier, x.DType())).Product()
}

// sumBlock is the number of elements of a block of sumBefore.
const sumBlock = 256

func sumBefore1D(x *Node) *Node { return Squeeze(sumBefore(InsertAxes(x, 0)), 0) }

func toInt32(x *Node) *Node { return ConvertDType(x, dtypes.Int32) }
