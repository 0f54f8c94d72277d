package decoding

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// reorder gives each new row a slot: that of its parent, or, where an earlier row has that already, a free one of the same source, into
// which the parent's row is copied. Where there is none, or fewer rows are enough by now, all tensors are gathered anew.
func (c *Cached) reorder(parents []int) error {
	size := rowsFor(len(parents))
	if c.d.few { // rows of no use cost less than a graph without them
		size = max(size, len(c.sources))
	}
	from := make([]int, len(parents))
	used := make([]bool, len(c.sources))
	for r, parent := range parents {
		if parent < 0 || parent >= len(c.slots) {
			return fmt.Errorf("decoding: row %d continues row %d of %d", r, parent, len(c.slots))
		}
		from[r] = c.slots[parent]
		used[from[r]] = true
	}
	slots, enough := c.place(from, used)
	if size == len(c.sources) && enough && (c.d.shared || slices.Equal(slots, from)) {
		c.slots = slots
		return c.copyRows(from, slots)
	}
	if err := c.gatherRows(from, size); err != nil {
		return err
	}
	for r := range slots {
		slots[r] = r
	}
	c.slots = slots
	return nil
}

// place chooses a slot for each new row: that which it comes from if it is the first that does, or else the first slot of the same
// source that no row comes from. It tells whether there was one for each.
func (c *Cached) place(from []int, used []bool) (slots []int, enough bool) {
	slots = slices.Clone(from)
	taken := make([]bool, len(used))
	for r, slot := range from {
		if !taken[slot] {
			taken[slot] = true
			continue
		}
		free := 0
		for free < len(used) && (used[free] || c.sources[free] != c.sources[slot]) {
			free++
		}
		if free == len(used) {
			return slots, false
		}
		slots[r], used[free] = free, true
	}
	return slots, true
}

// copyRows copies rows of the cache from slots to slots, in memory. None that is written is read.
func (c *Cached) copyRows(from, to []int) error {
	if slices.Equal(from, to) {
		return nil
	}
	for _, t := range c.cache {
		buffer, err := t.Buffer(c.d.backend, 0)
		if err != nil {
			return err
		}
		flat, err := buffer.Data() // the tensor's own memory; MutableBytes would copy it there and back
		if err != nil {
			return err
		}
		data := dtypes.UnsafeByteSliceFromAny(flat)
		row := len(data) / len(c.sources)
		for r, slot := range to {
			if slot != from[r] {
				copy(data[slot*row:(slot+1)*row], data[from[r]*row:])
			}
		}
	}
	return nil
}

// gatherRows makes new tensors of the given number of rows from those in slots, the last repeated.
func (c *Cached) gatherRows(slots []int, size int) error {
	from, sources := make([]int, size), make([]int, size)
	for i := range from {
		from[i] = slots[min(i, len(slots)-1)]
		sources[i] = c.sources[from[i]]
	}
	index := integers(from)
	defer free(index)
	for _, list := range []*[]*tensors.Tensor{&c.cache, &c.source} {
		if len(*list) == 0 || list == &c.source && slices.Equal(sources, c.sources) {
			continue
		}
		args := []any{index}
		for _, t := range *list {
			args = append(args, t)
		}
		gathered, err := c.d.gather.Call(args...)
		if err != nil {
			return err
		}
		free(*list...)
		*list = gathered
	}
	c.sources = sources
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
