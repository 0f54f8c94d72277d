package decoding

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"universal-transformer/engine"
)

// reorder gives each new row a slot: that of its parent or, if an earlier row already has that, a free one of the same source, into
// which the parent's row is copied. If a source has too few slots, or fewer sources suffice now, all tensors are gathered anew.
func (c *Cached) reorder(parents []int) error {
	from := make([]int, len(parents))
	var live []int // places of the sources that rows belong to
	rows := make([]int, len(c.sources))
	for r, parent := range parents {
		if parent < 0 || parent >= len(c.slots) {
			return fmt.Errorf("decoding: row %d continues row %d of %d", r, parent, len(c.slots))
		}
		from[r] = c.slots[parent]
		place := from[r] / c.perSource
		if rows[place] == 0 {
			live = append(live, place)
		}
		rows[place]++
	}
	size, most := Rows(len(live)), slices.Max(rows)
	if c.d.fewGraphs { // unused rows cost less than another graph
		size, most = max(size, len(c.sources)), max(most, c.perSource)
	}
	if size == len(c.sources) && most <= c.perSource {
		if slots := c.place(from); c.d.shared || slices.Equal(slots, from) {
			c.slots = slots
			return c.copyRows(from, slots)
		}
	}
	return c.gatherRows(from, live, size, most)
}

// place chooses a slot for each new row: its parent's if it is the parent's first continuation, otherwise the first slot of the same
// source that no row continues.
func (c *Cached) place(from []int) []int {
	slots := slices.Clone(from)
	used, taken := make([]bool, c.rows()), make([]bool, c.rows())
	for _, slot := range from {
		used[slot] = true
	}
	for r, slot := range from {
		if !taken[slot] {
			taken[slot] = true
			continue
		}
		free := slot / c.perSource * c.perSource
		for used[free] {
			free++
		}
		slots[r], used[free] = free, true
	}
	return slots
}

// copyRows copies rows of the cache between slots, in memory. No slot is both read and written.
func (c *Cached) copyRows(from, to []int) error {
	if slices.Equal(from, to) {
		return nil
	}
	for i, t := range c.cache {
		flat, err := c.d.memory(t)
		if err != nil {
			return err
		}
		blocks, used := c.usedPart(i, t.Shape())
		data := dtypes.UnsafeByteSliceFromAny(flat)
		row := len(data) / c.rows()
		for r, slot := range to {
			if slot == from[r] {
				continue
			}
			dst, src := data[slot*row:][:row], data[from[r]*row:][:row]
			for b := range blocks {
				copy(dst[b*row/blocks:][:used], src[b*row/blocks:])
			}
		}
	}
	return nil
}

// usedPart returns of how many blocks a row of tensor i of the cache consists, and how many bytes of each hold tokens: what is behind the
// tokens read so far is not copied.
func (c *Cached) usedPart(i int, shape shapes.Shape) (blocks, used int) {
	row := int(shape.ByteSize()) / c.rows()
	axis := c.d.model.CacheCapacityAxis(i)
	if axis < 0 {
		return 1, row
	}
	blocks = 1
	for _, d := range shape.Dimensions[1:axis] {
		blocks *= d
	}
	return blocks, row / blocks / shape.Dimensions[axis] * c.length
}

// gatherRows makes new tensors from the rows in slots, for the sources at the given places, the last one repeated up to size, with room
// for perSource rows each. Unused slots get the first row of their source.
func (c *Cached) gatherRows(slots, places []int, size, perSource int) error {
	kept, sources := make([]int, size), make([]int, size)
	rows := make([]int, size*perSource)
	for i := range size {
		kept[i] = places[min(i, len(places)-1)]
		sources[i] = c.sources[kept[i]]
		for k := range perSource {
			rows[i*perSource+k] = kept[i] * c.perSource
		}
	}
	moved, count := make([]int, len(slots)), make([]int, size)
	for r, slot := range slots {
		i := slices.Index(places, slot/c.perSource)
		moved[r] = i*perSource + count[i]
		rows[moved[r]] = slot
		count[i]++
	}
	if err := c.d.gatherAll(&c.cache, rows, c.rows()); err != nil {
		return err
	}
	if err := c.d.gatherAll(&c.source, kept, len(c.sources)); err != nil {
		return err
	}
	c.sources, c.perSource, c.slots = sources, perSource, moved
	return nil
}

// gatherAll replaces tensors of n rows by the listed rows of them.
func (d *Decoder) gatherAll(list *[]*tensors.Tensor, rows []int, n int) error {
	same := len(rows) == n
	for i, row := range rows {
		same = same && row == i
	}
	if same || len(*list) == 0 {
		return nil
	}
	index := integers(rows)
	defer free(index)
	args := []any{index}
	for _, t := range *list {
		args = append(args, t)
	}
	gathered, err := d.gather.Call(args...)
	if err != nil {
		return engine.Plain(err)
	}
	free(*list...)
	*list = gathered
	return nil
}

// gatherGraph gathers the rows that the first node lists from all others.
func gatherGraph(nodes []*Node) []*Node {
	gathered := make([]*Node, len(nodes)-1)
	for i, x := range nodes[1:] {
		gathered[i] = Gather(x, InsertAxes(nodes[0], -1))
	}
	return gathered
}
