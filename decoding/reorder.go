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
	size, slots := Rows(len(live)), slices.Max(rows)
	if c.d.fewGraphs { // unused rows cost less than another graph
		size, slots = max(size, len(c.sources)), max(slots, c.perSource)
	}
	if size == len(c.sources) && slots <= c.perSource {
		if slots := c.place(from); c.d.shared || slices.Equal(slots, from) {
			c.slots = slots
			return c.copyRows(from, slots)
		}
	}
	return c.gatherRows(from, live, size, slots)
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
		data, err := c.d.bytesOf(t)
		if err != nil {
			return err
		}
		part := c.usedPart(i, t.Shape())
		for r, slot := range to {
			if slot != from[r] {
				part.copyRow(data, data, slot, from[r])
			}
		}
	}
	return nil
}

// newCache replaces the tensors of the cache by new ones with the listed rows of them, in memory.
func (c *Cached) newCache(rows []int) error {
	for i, old := range c.cache {
		part, shape := c.usedPart(i, old.Shape()), old.Shape().Clone()
		shape.Dimensions[0] = len(rows)
		t, err := tensors.FromShapeForBackend(c.d.backend, 0, shape)
		if err != nil {
			return err
		}
		src, err := c.d.bytesOf(old)
		if err != nil {
			return err
		}
		dst, err := c.d.bytesOf(t)
		if err != nil {
			return err
		}
		for to, from := range rows {
			part.copyRow(dst, src, to, from)
		}
		free(old)
		c.cache[i] = t
	}
	return nil
}

// bytesOf returns the memory of a tensor; see [Decoder.memory].
func (d *Decoder) bytesOf(t *tensors.Tensor) ([]byte, error) {
	flat, err := d.memory(t)
	if err != nil {
		return nil, err
	}
	return dtypes.UnsafeByteSliceFromAny(flat), nil
}

// A rowPart is what is copied of a row of a tensor, in bytes: the beginnings of equal blocks.
type rowPart struct{ row, block, used int }

// usedPart returns the part of a row of tensor i of the cache that holds tokens: what is behind the tokens read so far is not copied.
func (c *Cached) usedPart(i int, shape shapes.Shape) rowPart {
	part := rowPart{row: int(shape.ByteSize()) / shape.Dimensions[0]}
	part.block, part.used = part.row, part.row
	axis := c.d.model.CacheCapacityAxis(i)
	if axis < 0 {
		return part
	}
	for _, d := range shape.Dimensions[1:axis] {
		part.block /= d
	}
	part.used = part.block / shape.Dimensions[axis] * c.length
	return part
}

// copyRow copies the part of a row of one tensor to a row of another.
func (p rowPart) copyRow(dst, src []byte, to, from int) {
	dst, src = dst[to*p.row:][:p.row], src[from*p.row:][:p.row]
	for at := 0; at < p.row; at += p.block {
		copy(dst[at:][:p.used], src[at:])
	}
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
	if err := c.gatherCache(rows); err != nil {
		return err
	}
	if err := c.d.gatherAll(&c.source, kept, len(c.sources)); err != nil {
		return err
	}
	c.sources, c.perSource, c.slots = sources, perSource, moved
	return nil
}

// gatherCache replaces the tensors of the cache by the listed rows of them.
func (c *Cached) gatherCache(rows []int) error {
	if !c.d.shared {
		return c.d.gatherAll(&c.cache, rows, c.rows())
	}
	if allInOrder(rows, c.rows()) {
		return nil
	}
	return c.newCache(rows)
}

// allInOrder reports whether a list of rows is all n of them in order.
func allInOrder(rows []int, n int) bool {
	for i, row := range rows {
		if row != i {
			return false
		}
	}
	return len(rows) == n
}

// gatherAll replaces tensors of n rows by the listed rows of them.
func (d *Decoder) gatherAll(list *[]*tensors.Tensor, rows []int, n int) error {
	if allInOrder(rows, n) || len(*list) == 0 {
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
