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

// Cached is a batch that is being decoded with a cache. Rows that are given up leave it once a smaller size of rowsFor holds those
// left; else rows are moved only if one goes on in two ways.
type Cached struct {
	d       *Decoder
	prompts [][]vocab.ID // of a language model
	source  []*tensors.Tensor
	kept    []*tensors.Tensor
	slots   []int // where in the tensors each row is
	sources []int // the source of each row of the tensors
	room    int   // tokens that kept has room for
	seen    int   // tokens that it holds
	steps   int
}

// Start reads sources and gives what their decoding starts from. Close it.
func (d *Decoder) Start(sources [][]vocab.ID) (*Cached, error) {
	if err := d.check(sources); err != nil || len(sources) == 0 {
		return &Cached{d: d}, err
	}
	c := &Cached{d: d, prompts: sources, steps: d.config.Halting.Limit(0)}
	if d.model != nil {
		var err error
		if c.source, err = d.encodeSources(d.remember, sources); err != nil {
			return nil, err
		}
		c.steps, c.prompts = d.config.Halting.Limit(c.source[0].Shape().Dimensions[1]), nil
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
	free(c.kept...)
	c.source, c.kept = nil, nil
}

// Bytes is the memory of the cache.
func (c *Cached) Bytes() int {
	bytes := 0
	for _, t := range slices.Concat(c.source, c.kept) {
		bytes += int(t.Shape().ByteSize())
	}
	return bytes
}

// Rest is what is left of the prompts after the tokens that all have, which are read together.
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
		return c.first(parents)
	}
	if err := c.arrange(parents); err != nil {
		return nil, err
	}
	last := make([]vocab.ID, len(c.sources))
	for i := range last {
		last[i] = vocab.End // of rows that nobody reads
	}
	for r, slot := range c.slots {
		last[slot] = tokens[r]
	}
	return c.read(last, 1)
}

// first reads what all rows have in common: the start, and the part of the prompts that all have.
func (c *Cached) first(sources []int) ([][]float64, error) {
	c.slots = make([]int, len(c.sources))
	for i := range c.slots {
		c.slots[i] = i
	}
	common := shortest(c.prompts)
	c.room = capacityFor(common + 1)
	c.kept = nil
	c.seen = 0
	if err := c.arrange(sources); err != nil {
		return nil, err
	}
	for _, shape := range c.d.config.CacheShapes(len(c.sources), c.room, c.steps) {
		c.kept = append(c.kept, tensors.FromShape(shape))
	}
	var logits [][]float64
	for at := 0; at <= common; {
		n := 1 // the largest power of two that is left, so that few shapes occur
		for at+2*n <= common+1 && n < longestChunk {
			n *= 2
		}
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

// longestChunk is how many tokens of a prompt are read at once.
const longestChunk = 64

// read takes n more tokens of each row of the tensors and gives the logits of the rows.
func (c *Cached) read(tokens []vocab.ID, n int) ([][]float64, error) {
	for c.seen+n > c.room {
		grown, err := callDonating(c.d, c.d.grow.Call, nil, c.kept)
		if err != nil {
			return nil, err
		}
		c.kept, c.room = grown, larger(c.room)
	}
	input := tensors.FromFlatDataAndDimensions(tokens, len(c.sources), n)
	defer free(input)
	args := []any{input, int32(c.seen)}
	for _, t := range c.source {
		args = append(args, t)
	}
	out, err := callDonating(c.d, c.d.next.Call, args, c.kept)
	if err != nil {
		return nil, err
	}
	c.kept = out[1:]
	c.seen += n
	all := logitRows(out[0])
	logits := make([][]float64, len(c.slots))
	for r, slot := range c.slots {
		logits[r] = all[slot]
	}
	return logits, nil
}

// callDonating calls a graph with arguments and with tensors that it may write its results over.
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

// arrange gives each new row a place: that of its parent, if no other row took it and the tensors are not too large by now.
// Otherwise all rows are moved.
func (c *Cached) arrange(parents []int) error {
	size := rowsFor(len(parents))
	slots := make([]int, len(parents))
	taken := make([]bool, len(c.sources))
	move := size != len(c.sources)
	for r, parent := range parents {
		if parent < 0 || parent >= len(c.slots) {
			return fmt.Errorf("decoding: row %d goes on with row %d of %d", r, parent, len(c.slots))
		}
		slots[r] = c.slots[parent]
		move = move || taken[slots[r]]
		taken[slots[r]] = true
	}
	if !move {
		c.slots = slots
		return nil
	}
	from, sources := make([]int, size), make([]int, size)
	for i := range from {
		from[i] = slots[min(i, len(slots)-1)]
		sources[i] = c.sources[from[i]]
	}
	index := integers(from)
	defer free(index)
	for _, list := range []*[]*tensors.Tensor{&c.kept, &c.source} {
		if len(*list) == 0 || list == &c.source && slices.Equal(sources, c.sources) {
			continue
		}
		args := []any{index}
		for _, t := range *list {
			args = append(args, t)
		}
		moved, err := c.d.gather.Call(args...)
		if err != nil {
			return err
		}
		free(*list...)
		*list = moved
	}
	c.sources, c.slots = sources, make([]int, len(parents))
	for r := range c.slots {
		c.slots[r] = r
	}
	return nil
}

// rememberGraph gives, of sources [B, M], what the decoder attends to.
func (d *Decoder) rememberGraph(scope *model.Scope, nodes []*Node) []*Node {
	return d.model.CacheCrossAttention(scope, d.encoded(scope, nodes[0])).Tensors()
}

// nextGraph gives the logits [R, V] after tokens [R, N], of which some were seen before, a scalar; then come what is remembered of
// the source, if there is one, and what is kept, which follows the logits.
func (d *Decoder) nextGraph(scope *model.Scope, nodes []*Node) []*Node {
	tokens, seen, rest := nodes[0], nodes[1], nodes[2:]
	scope.Store().SetTraining(tokens.Graph(), false)
	if d.language != nil {
		past := &universal.KVCache{Length: seen, Tensors: slices.Clone(rest)}
		logits := d.language.DecodeStep(scope, tokens, past)
		return append([]*Node{logits}, past.Tensors...)
	}
	source, rest := d.config.CrossAttentionCacheOf(rest)
	past := &universal.KVCache{Length: seen, Tensors: slices.Clone(rest)}
	logits := d.model.DecodeStep(scope, source, tokens, past)
	return append([]*Node{logits}, past.Tensors...)
}

// gatherGraph gives the rows that the first node lists of all others.
func gatherGraph(nodes []*Node) []*Node {
	moved := make([]*Node, len(nodes)-1)
	for i, x := range nodes[1:] {
		moved[i] = rowsOf(x, nodes[0])
	}
	return moved
}

// growGraph gives what is kept with more room.
func (d *Decoder) growGraph(kept []*Node) []*Node {
	grown := make([]*Node, len(kept))
	for i, x := range kept {
		grown[i] = Identity(x)
		if axis := d.config.CacheCapacityAxis(i); axis >= 0 {
			size := x.Shape().Dimensions[axis]
			grown[i] = GrowRight(x, axis, larger(size)-size, 0)
		}
	}
	return grown
}
