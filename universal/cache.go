package universal

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/halting"
)

// A Cache is what a model keeps of the tokens it has read, so that another token costs the work of one position.
//
// Here it holds keys and values. A causal position never depends on later ones, and halting does not change the keys and values of a
// step, so they are final once their token has been read. The same holds for the earlier positions that a separable convolution
// reads. All steps share weights but not states, so each step has its own part of the cache. Positions are cached also in steps after
// they halted, because later positions may run those steps. The same holds for positions that a rule ended: later positions attend to
// them as to positions that halted by themselves under the policy, which with fixed depth is to the copied state.
type Cache struct {
	Length  *Node   // number of tokens read, an int32 scalar
	Source  []*Node // results of CacheSource, the same for all tokens
	Tensors []*Node // of the shapes of CacheShapes; DecodeStep replaces them
	Updates *Node   // number of steps of the new positions, [R, N], set by DecodeStep; nil for models that read every position once
}

// Vocabularies returns the numbers of ids of sources and targets.
func (m EncoderDecoder) Vocabularies() (source, target int) {
	return m.SourceVocabulary, m.TargetVocabulary
}

// Vocabularies returns 0 for sources, which a language model does not have, and the number of ids of texts.
func (m Decoder) Vocabularies() (source, target int) { return 0, m.TargetVocabulary }

// CheckSource returns an error if the depth depends on the source and this one is too long.
func (m EncoderDecoder) CheckSource(positions int) error { return m.CheckSteps(positions) }

// CheckSteps returns an error if the depth depends on the source, and one of this number of positions needs more steps than can be run.
func (c Config) CheckSteps(positions int) error {
	if max(c.Halting.Limit(positions), c.decoderHalting().Limit(positions)) > halting.MaxSteps {
		return fmt.Errorf("the model runs one step per token: at most %d steps can be run", halting.MaxSteps)
	}
	return nil
}

// CheckSource accepts any prompt.
func (m Decoder) CheckSource(int) error { return nil }

// CacheShapes lists the tensors of the cache for rows sequences of at most capacity tokens, for sources with the given number of
// positions.
func (m EncoderDecoder) CacheShapes(rows, capacity, source int) []shapes.Shape {
	return m.cacheShapes(rows, capacity, m.decoderHalting().Limit(source))
}

// CacheShapes is like that of [EncoderDecoder], without a source.
func (m Decoder) CacheShapes(rows, capacity, _ int) []shapes.Shape {
	return m.cacheShapes(rows, capacity, m.Halting.Limit(0))
}

// cacheShapes lists the tensors of the cache, which are initially zero: for each step the keys and the values, both [R, K, S, D/K],
// and the windows of its transition. S is the capacity.
func (c Config) cacheShapes(rows, capacity, steps int) []shapes.Shape {
	var list []shapes.Shape
	add := func(dims ...int) { list = append(list, shapes.Make(precision(c.Precision), dims...)) }
	for range steps {
		add(rows, c.Heads, capacity, c.Width/c.Heads)
		add(rows, c.Heads, capacity, c.Width/c.Heads)
		for _, w := range c.Transition.CacheWindows(c.Width) {
			add(rows, w.Positions, w.Channels)
		}
	}
	return list
}

// CacheCapacityAxis returns the axis of the i-th tensor of CacheShapes whose size is the capacity, or -1 if there is none.
func (c Config) CacheCapacityAxis(i int) int {
	if i%c.cachedPerStep() < 2 { // keys and values
		return 2
	}
	return -1
}

// cachedPerStep returns the number of tensors of a step in the cache: keys, values, and the windows of its transition.
func (c Config) cachedPerStep() int { return 2 + len(c.Transition.CacheWindows(c.Width)) }

// SourceCacheShapes lists the shapes of CacheSource's results: the mask of real positions [B, M], and keys [B, K, D/K, M] and values
// [B, K, M, D/K], one of each for all steps, or one per layer if layers are untied.
func (m EncoderDecoder) SourceCacheShapes(sources, positions int) []shapes.Shape {
	list, dtype := []shapes.Shape{shapes.Make(dtypes.Bool, sources, positions)}, precision(m.Precision)
	for range m.memoryLayers() {
		list = append(list, shapes.Make(dtype, sources, m.Heads, m.Width/m.Heads, positions), shapes.Make(dtype, sources, m.Heads, positions, m.Width/m.Heads))
	}
	return list
}

// SourceCacheShapes returns nil, as there is no source.
func (m Decoder) SourceCacheShapes(int, int) []shapes.Shape { return nil }

// memoryLayers returns how many pairs of keys and values an encoded source has.
func (c Config) memoryLayers() int {
	if c.UntiedLayers {
		return c.decoderHalting().Limit(0)
	}
	return 1
}

// CacheSource encodes sources [B, M] and projects them to the keys and values that all tokens attend to.
func (m EncoderDecoder) CacheSource(scope *model.Scope, source *Node) []*Node {
	memory, _ := m.Encode(scope, Inputs{Source: source}, Options{})
	s := &stack{Config: m.Config, scope: scope.At("decoder"), memory: &memory}
	s.layer = s.scope
	cache := []*Node{memory.Mask}
	for t := 1; t <= m.memoryLayers(); t++ {
		s.begin(t)
		context := s.newContext("cross_attention", memory.State)
		cache = append(cache, channelsFirst(context.key), headsFirst(context.value))
	}
	return cache
}

// CacheSource returns nil, as there is no source.
func (m Decoder) CacheSource(*model.Scope, *Node) []*Node { return nil }

// DecodeStep reads the next tokens of R sequences and returns the logits [R, V] of the token after them. Position i of the decoder
// reads token i-1, so a sequence begins with padding: in the first call, tokens [R, N] are 0 and the first N-1 tokens; in later
// calls, one token per row. Every source has R/B adjacent rows.
func (m EncoderDecoder) DecodeStep(scope *model.Scope, tokens *Node, cache *Cache) *Node {
	s := m.ofDecoder().newCachedStack(scope, tokens, cache)
	s.source = PerRow(cache.Source[0], tokens.Shape().Dimensions[0])
	s.memory = &Memory{Mask: cache.Source[0]}
	for pair := range slices.Chunk(cache.Source[1:], 2) {
		s.memoryContexts = append(s.memoryContexts, &attentionContext{key: positionsFirst(pair[0]), value: headsFirst(pair[1])})
	}
	return s.lastLogits(scope)
}

// PerRow repeats each row of x [B, ...], one per source, for all rows of its source: [R, ...].
func PerRow(x *Node, rows int) *Node {
	dims := x.Shape().Dimensions
	if dims[0] == rows {
		return x
	}
	repeated := slices.Insert(slices.Clone(dims), 1, rows/dims[0])
	return Reshape(BroadcastToDims(InsertAxes(x, 1), repeated...), append([]int{rows}, dims[1:]...)...)
}

// DecodeStep is like that of [EncoderDecoder], without a source.
func (m Decoder) DecodeStep(scope *model.Scope, tokens *Node, cache *Cache) *Node {
	s := m.newCachedStack(scope, tokens, cache)
	s.source = s.mask
	return s.lastLogits(scope)
}

// newCachedStack returns a causal stack of the positions that follow those in the cache. Padding occurs only before the first token.
func (c Config) newCachedStack(scope *model.Scope, tokens *Node, cache *Cache) *stack {
	inner, g, n := scope.At("decoder"), tokens.Graph(), tokens.Shape().Dimensions[1]
	capacity := cache.Tensors[0].Shape().Dimensions[2]
	index := Add(Iota(g, shapes.Make(int32Type, 1, n), 1), cache.Length) // [1, N], from 0
	keys := Iota(g, shapes.Make(int32Type, 1, n, 1, capacity), 3)
	return &stack{
		Config: c, scope: inner, layer: inner, causal: true, pass: &Pass{}, mask: Equal(tokens, tokens), // all count as real

		coordinates: c.targetCoordinates(inner, AddScalar(index, 1), capacity, nil),
		state:       c.embedding().Target(scope, tokens),
		cache:       &stepCache{Cache: cache, perStep: c.cachedPerStep(), mask: LessOrEqual(keys, Reshape(index, 1, n, 1, 1))},
	}
}

// lastLogits runs a cached stack and returns the logits of the last position. A rule reads all positions out.
func (s *stack) lastLogits(scope *model.Scope) *Node {
	e := s.embedding()
	s.readout = func(output *Node) *Node { return e.Readout(scope, output) }
	last := SliceAxis(s.run().State, 1, AxisElem(-1))
	s.cache.Updates = s.pass.Updates
	return Squeeze(s.readout(last), 1)
}

// stepCache is the part of a cache that belongs to the current step.
type stepCache struct {
	*Cache
	perStep int   // number of tensors of a step
	t       int   // the current step
	windows int   // number of this step's windows used so far
	mask    *Node // [1, N, 1, S] bool: the keys that each of the new positions attends to
}

// begin starts step t.
func (c *stepCache) begin(t int) { c.t, c.windows = t, 0 }

// extend adds the keys and values of the new positions to the cache, and returns those of all positions.
func (c *stepCache) extend(context *attentionContext) *attentionContext {
	keys, values := &c.Tensors[(c.t-1)*c.perStep], &c.Tensors[(c.t-1)*c.perStep+1]
	*keys = write(*keys, headsFirst(context.key), c.Length, 2)
	*values = write(*values, headsFirst(context.value), c.Length, 2)
	return &attentionContext{key: headsFirst(*keys), value: headsFirst(*values)}
}

// previous prepends the cached window of positions to x [R, N, C], and caches the last positions of the result.
func (c *stepCache) previous(x *Node) *Node {
	window := &c.Tensors[(c.t-1)*c.perStep+2+c.windows]
	c.windows++
	positions := (*window).Shape().Dimensions[1]
	all := Concatenate([]*Node{*window, x}, 1)
	*window = SliceAxis(all, 1, AxisRange(all.Shape().Dimensions[1]-positions))
	return all
}

// write replaces a part of a tensor by values, from an index along an axis.
func write(tensor, values, index *Node, axis int) *Node {
	if tensor.Graph().Backend().Capabilities().Operations[compute.OpTypeDynamicUpdateSlice] {
		start := make([]*Node, tensor.Rank())
		for i := range start {
			start[i] = ScalarZero(tensor.Graph(), int32Type)
		}
		start[axis] = index
		return DynamicUpdateSlice(tensor, values, start)
	}
	return writeByComparing(tensor, values, index, axis)
}

// writeByComparing is write for backends without dynamic slices.
func writeByComparing(tensor, values, index *Node, axis int) *Node {
	g, shape := tensor.Graph(), shapeAs(tensor, int32Type)
	offset := Sub(Iota(g, shape, axis), index)
	for i := range values.Shape().Dimensions[axis] {
		one := BroadcastToShape(SliceAxis(values, axis, AxisElem(i)), tensor.Shape())
		tensor = Where(Equal(offset, Scalar(g, int32Type, i)), one, tensor)
	}
	return tensor
}

// headsFirst converts [B, M, K, C] to [B, K, M, C] and back. The values that a head reads are then contiguous.
func headsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 1, 3) }

// channelsFirst converts [B, M, K, C] to [B, K, C, M]. A product with queries then runs along positions.
func channelsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 3, 1) }

// positionsFirst is the inverse of channelsFirst.
func positionsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 3, 1, 2) }
