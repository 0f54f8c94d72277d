package decoding

import (
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/vocab"
	"universal-transformer/universal"
)

// Cached is a batch that is decoded with a cache. The rows of a source are adjacent, so that they share its keys and values. If a row
// has two continuations, it is copied over a row that has none. The tensors are reallocated if there is no such row, or if a smaller
// size of Rows suffices for the remaining sources.
type Cached struct {
	d         *Decoder
	prompts   [][]vocab.ID      // of a language model
	source    []*tensors.Tensor // of the model, [B, ...]
	cache     []*tensors.Tensor // of the model, [R, ...], R = B perSource
	sources   []int             // index of the source at each of the B places
	perSource int               // rows of the cache per source
	slots     []int             // slots[r] is the row of the cache that holds row r
	width     int               // positions of a source, including padding
	capacity  int               // maximum number of tokens in the cache
	length    int               // number of tokens in the cache
	expected  int               // tokens for which there is room at the start; see Expect
	logP      []float64         // of the last tokens, [R][V], where lastLogP is not kept
	lastLogP  *tensors.Tensor   // the same, if its memory is shared
	steps     []int             // of the last position of each source; nil: they are not counted
}

// rows returns the number of rows of the cache, used or not.
func (c *Cached) rows() int { return len(c.sources) * c.perSource }

// Start encodes sources and prepares their decoding. The caller must close the result.
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
			return nil, engine.Plain(err)
		}
		c.width, c.prompts = width, nil
	}
	c.sources, c.perSource = make([]int, Rows(len(sources))), 1
	for r := range c.sources {
		c.sources[r] = min(r, len(sources)-1)
	}
	return c, nil
}

// Expect makes room for that many tokens of answers at the start, at most 32, instead of growing to it. Call it before the first Next.
func (c *Cached) Expect(tokens int) { c.expected = min(tokens, maxExpected) }

// maxExpected limits the memory of answers that end long before their limits.
const maxExpected = 32

// Close frees the tensors.
func (c *Cached) Close() {
	free(c.source...)
	free(c.cache...)
	c.source, c.cache = nil, nil
	c.forgetLogP()
}

// Bytes returns the size of the cache in bytes.
func (c *Cached) Bytes() int {
	bytes := 0
	for _, t := range slices.Concat(c.source, c.cache) {
		bytes += int(t.Shape().ByteSize())
	}
	return bytes
}

// Rest returns the tokens of each prompt beyond the length of the shortest prompt, up to which all are read together.
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

// Next implements [Next] for the searches.
func (c *Cached) Next(parents []int, tokens []vocab.ID) ([][]float64, error) {
	if tokens == nil {
		return c.start(parents)
	}
	if err := c.reorder(parents); err != nil {
		return nil, err
	}
	last := make([]vocab.ID, c.rows())
	for i := range last {
		last[i] = vocab.End // of unused rows
	}
	for r, slot := range c.slots {
		last[slot] = tokens[r]
	}
	return c.read(last, 1)
}

// start reads the first tokens: the start token, and prompts up to the length of the shortest.
func (c *Cached) start(sources []int) ([][]float64, error) {
	c.slots = make([]int, len(c.sources))
	for i := range c.slots {
		c.slots[i] = i
	}
	common := shortest(c.prompts)
	c.capacity = c.d.capacityFor(common + max(1, c.expected))
	c.cache = nil
	c.length = 0
	if err := c.reorder(sources); err != nil {
		return nil, err
	}
	for _, shape := range c.d.model.CacheShapes(c.rows(), c.capacity, c.width) {
		zeros, err := tensors.FromShapeForBackend(c.d.backend, 0, shape)
		if err != nil {
			return nil, err
		}
		c.cache = append(c.cache, zeros)
	}
	var logP [][]float64
	at := 0
	for _, n := range c.d.chunks(common + 1) {
		chunk := make([]vocab.ID, c.rows()*n)
		for r := range c.rows() {
			for i := range n {
				if at+i > 0 {
					chunk[r*n+i] = c.prompts[c.sources[r/c.perSource]][at+i-1]
				}
			}
		}
		var err error
		if logP, err = c.read(chunk, n); err != nil {
			return nil, err
		}
		at += n
	}
	return logP, nil
}

// chunks splits a number of tokens into those that are read at once: the largest power of two that fits, or power of eight on backends
// that compile slowly, so that there are few shapes.
func (d *Decoder) chunks(tokens int) (list []int) {
	factor := 2
	if d.fewGraphs {
		factor = 8
	}
	for tokens > 0 {
		n := 1
		for n*factor <= min(tokens, longestChunk) {
			n *= factor
		}
		list, tokens = append(list, n), tokens-n
	}
	return list
}

// longestChunk is the maximum number of prompt tokens that are read at once.
const longestChunk = 64

// read reads n more tokens of each row of the tensors and returns the log-probabilities after them.
func (c *Cached) read(tokens []vocab.ID, n int) ([][]float64, error) {
	for c.length+n > c.capacity && len(c.cache) > 0 {
		grown, err := callDonating(c.d, c.d.grow.Call, nil, c.cache)
		if err != nil {
			return nil, err
		}
		c.cache, c.capacity = grown, nextCapacity(c.capacity)
	}
	c.forgetLogP()
	input := tensors.FromFlatDataAndDimensions(tokens, c.rows(), n)
	defer free(input)
	args := []any{input, int32(c.length)}
	for _, t := range c.source {
		args = append(args, t)
	}
	call := c.d.next.Call
	if c.steps != nil {
		call = c.d.counted.Call
	}
	out, err := callDonating(c.d, call, args, c.cache)
	if err != nil {
		return nil, err
	}
	if c.cache = out[1:]; c.steps != nil {
		c.count(out[1])
		c.cache = out[2:]
	}
	c.length += n
	all, err := c.logProbabilities(out[0])
	if err != nil {
		return nil, err
	}
	logP := make([][]float64, len(c.slots))
	for r, slot := range c.slots {
		logP[r] = all[slot]
	}
	return logP, nil
}

// count reads the steps of the last positions, [R], and frees the tensor.
func (c *Cached) count(t *tensors.Tensor) {
	defer free(t)
	all := tensors.MustCopyFlatData[int32](t)
	for _, slot := range c.slots {
		c.steps[c.sources[slot/c.perSource]] = int(all[slot])
	}
}

// callDonating calls a graph with arguments, and with tensors whose memory it may reuse for its results.
func callDonating(d *Decoder, call func(...any) ([]*tensors.Tensor, error), args []any, give []*tensors.Tensor) ([]*tensors.Tensor, error) {
	for _, t := range give {
		given, err := DonateTensorBuffer(t, d.backend, 0)
		if err != nil {
			return nil, err
		}
		args = append(args, given)
	}
	out, err := call(args...)
	return out, engine.Plain(err)
}

// cacheSourceGraph computes the part of sources [R, M] that all tokens read.
func (d *Decoder) cacheSourceGraph(scope *model.Scope, nodes []*Node) []*Node {
	scope.Store().SetTraining(nodes[0].Graph(), false)
	return d.model.CacheSource(scope, nodes[0])
}

// nextGraph computes the log-probabilities [R, V] after tokens [R, N], in float64 if memory is shared, and the updated cache. Its inputs
// are the tokens, the number of tokens read before (a scalar), the results of cacheSourceGraph, and the cache.
func (d *Decoder) nextGraph(scope *model.Scope, nodes []*Node) []*Node {
	logP, cache := d.nextTokens(scope, nodes)
	return append([]*Node{logP}, cache.Tensors...)
}

// countedGraph is nextGraph with the steps of the last positions, [R], after the log-probabilities; 0 for models without steps.
func (d *Decoder) countedGraph(scope *model.Scope, nodes []*Node) []*Node {
	logP, cache := d.nextTokens(scope, nodes)
	updates := Zeros(logP.Graph(), shapes.Make(dtypes.Int32, logP.Shape().Dimensions[0]))
	if cache.Updates != nil {
		updates = ConvertDType(Squeeze(SliceAxis(cache.Updates, 1, AxisElem(-1)), 1), dtypes.Int32)
	}
	return append([]*Node{logP, updates}, cache.Tensors...)
}

func (d *Decoder) nextTokens(scope *model.Scope, nodes []*Node) (logP *Node, updated *universal.Cache) {
	tokens, length, rest := nodes[0], nodes[1], nodes[2:]
	scope.Store().SetTraining(tokens.Graph(), false)
	source := len(d.model.SourceCacheShapes(1, 1))
	cache := &universal.Cache{Length: length, Source: rest[:source], Tensors: slices.Clone(rest[source:])}
	logP = LogSoftmax(d.model.DecodeStep(scope, tokens, cache))
	if d.shared {
		logP = ConvertDType(logP, dtypes.Float64) // as the searches read it
	}
	return logP, cache
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
