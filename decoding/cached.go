package decoding

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Cached is a batch that is being decoded with a cache. The tensors are reordered where a row continues in two ways, or where a
// smaller size of rowsFor holds the rows that are left.
type Cached struct {
	d        *Decoder
	prompts  [][]vocab.ID // of a language model
	source   []*tensors.Tensor
	cache    []*tensors.Tensor // of the model
	slots    []int             // the row of the tensors that holds each row
	sources  []int             // the source of each row of the tensors
	width    int               // positions of a source, padding included
	capacity int               // tokens that the cache can hold
	length   int               // tokens that it holds
}

// Start encodes sources and prepares their decoding. Close the result.
func (d *Decoder) Start(sources [][]vocab.ID) (*Cached, error) {
	if err := d.check(sources); err != nil || len(sources) == 0 {
		return &Cached{d: d}, err
	}
	c := &Cached{d: d, prompts: sources}
	if !d.language {
		ids, rows, width := pad(sources)
		input := tensors.FromFlatDataAndDimensions(ids, rows, width)
		defer free(input)
		var err error
		if c.source, err = d.cacheSource.Call(input); err != nil {
			return nil, err
		}
		c.width, c.prompts = width, nil
	}
	c.sources = make([]int, rowsFor(len(sources)))
	for r := range c.sources {
		c.sources[r] = min(r, len(sources)-1)
	}
	return c, nil
}

// Close frees the tensors.
func (c *Cached) Close() {
	free(c.source...)
	free(c.cache...)
	c.source, c.cache = nil, nil
}

// Bytes is the memory of the cache.
func (c *Cached) Bytes() int {
	bytes := 0
	for _, t := range slices.Concat(c.source, c.cache) {
		bytes += int(t.Shape().ByteSize())
	}
	return bytes
}

// Rest is what is left of the prompts after the length of the shortest, up to which they are read together.
func (c *Cached) Rest() [][]vocab.ID { return rest(c.prompts) }

func rest(prompts [][]vocab.ID) [][]vocab.ID {
	left := make([][]vocab.ID, len(prompts))
	for i, p := range prompts {
		left[i] = p[shortest(prompts):]
	}
	return left
}

func shortest(prompts [][]vocab.ID) int {
	n := 0
	for i, p := range prompts {
		if i == 0 || len(p) < n {
			n = len(p)
		}
	}
	return n
}

// Next is the function that the searches call.
func (c *Cached) Next(parents []int, tokens []vocab.ID) ([][]float64, error) {
	if tokens == nil {
		return c.start(parents)
	}
	if err := c.reorder(parents); err != nil {
		return nil, err
	}
	last := make([]vocab.ID, len(c.sources))
	for i := range last {
		last[i] = vocab.End // of unused rows
	}
	for r, slot := range c.slots {
		last[slot] = tokens[r]
	}
	return c.read(last, 1)
}

// start reads the first tokens: the start, and prompts up to the length of the shortest.
func (c *Cached) start(sources []int) ([][]float64, error) {
	c.slots = make([]int, len(c.sources))
	for i := range c.slots {
		c.slots[i] = i
	}
	common := shortest(c.prompts)
	c.capacity = capacityFor(common + 1)
	c.cache = nil
	c.length = 0
	if err := c.reorder(sources); err != nil {
		return nil, err
	}
	for _, shape := range c.d.model.CacheShapes(len(c.sources), c.capacity, c.width) {
		c.cache = append(c.cache, tensors.FromShape(shape))
	}
	var logits [][]float64
	for at := 0; at <= common; {
		n := c.d.chunk(common + 1 - at)
		chunk := make([]vocab.ID, len(c.sources)*n)
		for r, source := range c.sources {
			for i := range n {
				if at+i > 0 {
					chunk[r*n+i] = c.prompts[source][at+i-1]
				}
			}
		}
		var err error
		if logits, err = c.read(chunk, n); err != nil {
			return nil, err
		}
		at += n
	}
	return logits, nil
}

// chunk is how many of the tokens of a prompt that are left are read at once: the largest power of two that there are, or, where graphs
// should be few, of eight, so that few shapes occur.
func (d *Decoder) chunk(left int) int {
	n, factor := 1, 2
	if d.few {
		factor = 8
	}
	for n*factor <= min(left, longestChunk) {
		n *= factor
	}
	return n
}

// longestChunk is how many tokens of a prompt are read at once, at most.
const longestChunk = 64

// read reads n more tokens of each row of the tensors and gives the logits of the rows.
func (c *Cached) read(tokens []vocab.ID, n int) ([][]float64, error) {
	for c.length+n > c.capacity && len(c.cache) > 0 {
		grown, err := callDonating(c.d, c.d.grow.Call, nil, c.cache)
		if err != nil {
			return nil, err
		}
		c.cache, c.capacity = grown, nextCapacity(c.capacity)
	}
	input := tensors.FromFlatDataAndDimensions(tokens, len(c.sources), n)
	defer free(input)
	args := []any{input, int32(c.length)}
	for _, t := range c.source {
		args = append(args, t)
	}
	out, err := callDonating(c.d, c.d.next.Call, args, c.cache)
	if err != nil {
		return nil, err
	}
	c.cache = out[1:]
	c.length += n
	all := logitRows(out[0])
	logits := make([][]float64, len(c.slots))
	for r, slot := range c.slots {
		logits[r] = all[slot]
	}
	return logits, nil
}

// callDonating calls a graph with arguments and with tensors whose memory it may use for its results.
func callDonating(d *Decoder, call func(...any) ([]*tensors.Tensor, error), args []any, give []*tensors.Tensor) ([]*tensors.Tensor, error) {
	for _, t := range give {
		given, err := DonateTensorBuffer(t, d.backend, 0)
		if err != nil {
			return nil, err
		}
		args = append(args, given)
	}
	return call(args...)
}

// reorder gives each new row a slot: that of its parent, unless two rows have the same parent or fewer rows are enough by now. Then
// the tensors are gathered anew.
func (c *Cached) reorder(parents []int) error {
	size := rowsFor(len(parents))
	if c.d.few { // rows of no use cost less than a graph without them
		size = max(size, len(c.sources))
	}
	slots := make([]int, len(parents))
	taken := make([]bool, len(c.sources))
	gather := size != len(c.sources)
	for r, parent := range parents {
		if parent < 0 || parent >= len(c.slots) {
			return fmt.Errorf("decoding: row %d continues row %d of %d", r, parent, len(c.slots))
		}
		slots[r] = c.slots[parent]
		gather = gather || taken[slots[r]]
		taken[slots[r]] = true
	}
	if !gather {
		c.slots = slots
		return nil
	}
	if err := c.gatherRows(slots, size); err != nil {
		return err
	}
	c.slots = make([]int, len(parents))
	for r := range c.slots {
		c.slots[r] = r
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

// cacheSourceGraph gives what all tokens read of sources [R, M].
func (d *Decoder) cacheSourceGraph(scope *model.Scope, nodes []*Node) []*Node {
	scope.Store().SetTraining(nodes[0].Graph(), false)
	return d.model.CacheSource(scope, nodes[0])
}

// nextGraph gives the logits [R, V] after tokens [R, N], and the updated cache. Its inputs are the tokens, how many were read before, a
// scalar, what cacheSourceGraph gave, and the cache.
func (d *Decoder) nextGraph(scope *model.Scope, nodes []*Node) []*Node {
	tokens, length, rest := nodes[0], nodes[1], nodes[2:]
	scope.Store().SetTraining(tokens.Graph(), false)
	source := len(d.model.SourceCacheShapes(1, 1))
	cache := &universal.Cache{Length: length, Source: rest[:source], Tensors: slices.Clone(rest[source:])}
	logits := d.model.DecodeStep(scope, tokens, cache)
	return append([]*Node{logits}, cache.Tensors...)
}

// gatherGraph gathers the rows that the first node lists from all others.
func gatherGraph(nodes []*Node) []*Node {
	gathered := make([]*Node, len(nodes)-1)
	for i, x := range nodes[1:] {
		gathered[i] = Gather(x, InsertAxes(nodes[0], -1))
	}
	return gathered
}

// growGraph extends a cache to the next capacity.
func (d *Decoder) growGraph(cache []*Node) []*Node {
	grown := make([]*Node, len(cache))
	for i, x := range cache {
		grown[i] = Identity(x)
		if axis := d.model.CacheCapacityAxis(i); axis >= 0 {
			size := x.Shape().Dimensions[axis]
			grown[i] = GrowRight(x, axis, nextCapacity(size)-size, 0)
		}
	}
	return grown
}
