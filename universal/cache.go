package universal

import (
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
)

// KVCache is what a causal stack keeps of the tokens that it has read, so that one more token costs the work of one position.
//
// A causal position never depends on later ones, and halting does not change what others see of a step, so the keys and
// values of every step are final once their token was read; so are the positions that a separable convolution looks back
// on. The weights are shared by all steps but the states are not: each step keeps its own. Steps in which a position
// has halted keep theirs too, because later positions may run them.
type KVCache struct {
	Length  *Node   // how many tokens there are, an int32 scalar
	Tensors []*Node // of the shapes that Config.Kept lists; Continue puts new ones in their place
}

// CacheShapes lists what a decoder keeps of rows sequences with room for capacity tokens: for each step the keys [R, K, D/K, S],
// the values [R, K, S, D/K], and what its transition looks back on. It begins as zeros. S is the capacity.
func (c Config) CacheShapes(rows, capacity, steps int) []shapes.Shape {
	var kept []shapes.Shape
	keep := func(dims ...int) { kept = append(kept, shapes.Make(precision(c.Precision), dims...)) }
	for range steps {
		keep(rows, c.Heads, c.Width/c.Heads, capacity)
		keep(rows, c.Heads, capacity, c.Width/c.Heads)
		for _, w := range c.Transition.LooksBack(c.Width) {
			keep(rows, w.Positions, w.Channels)
		}
	}
	return kept
}

// CacheCapacityAxis is the axis of Kept's i-th value that is as long as the capacity, -1 if it has none.
func (c Config) CacheCapacityAxis(i int) int {
	switch i % (2 + len(c.Transition.LooksBack(c.Width))) {
	case 0:
		return 3
	case 1:
		return 2
	}
	return -1
}

// CrossAttentionCache is what the decoder attends to of an encoded source, the same for all tokens: keys and values, one of each for
// all steps, or one a layer if layers are untied.
type CrossAttentionCache struct {
	Mask   *Node   // [B, M] bool, true at real positions
	Keys   []*Node // [B, K, D/K, M]
	Values []*Node // [B, K, M, D/K]
}

// Tensors lists what the cache holds, as [Config.CrossAttentionCacheOf] takes it.
func (c CrossAttentionCache) Tensors() []*Node {
	return slices.Concat([]*Node{c.Mask}, c.Keys, c.Values)
}

// CrossAttentionCacheOf is the cache of the given tensors, and the rest of the list.
func (c Config) CrossAttentionCacheOf(list []*Node) (cache CrossAttentionCache, rest []*Node) {
	layers := 1
	if c.UntiedLayers {
		layers = c.Halting.Limit(0)
	}
	return CrossAttentionCache{Mask: list[0], Keys: list[1 : 1+layers], Values: list[1+layers : 1+2*layers]}, list[1+2*layers:]
}

// CacheCrossAttention projects an encoded source to keys and values, once.
func (m EncoderDecoder) CacheCrossAttention(scope *model.Scope, memory Memory) CrossAttentionCache {
	s := &stack{Config: m.Config, scope: scope.At("decoder"), memory: &memory}
	s.layer = s.scope
	cache := CrossAttentionCache{Mask: memory.Mask}
	for t := 1; t == 1 || m.UntiedLayers && t <= m.Halting.Limit(0); t++ {
		s.enter(t)
		context := s.lookup("cross_attention", memory.State)
		cache.Keys, cache.Values = append(cache.Keys, channelsFirst(context.key)), append(cache.Values, headsFirst(context.value))
	}
	return cache
}

// DecodeStep reads the next tokens of R sequences and gives the logits [R, V] of the one after them. Position i of the decoder
// reads token i-1, so a sequence begins with padding: tokens [R, N] are 0 and the first N-1 tokens at the start, and one
// token a row later on.
func (m EncoderDecoder) DecodeStep(scope *model.Scope, source CrossAttentionCache, tokens *Node, past *KVCache) *Node {
	s := m.continued(scope, tokens, past)
	s.memory, s.source = &Memory{Mask: source.Mask}, source.Mask
	for i, keys := range source.Keys {
		s.memoryKeys = append(s.memoryKeys, &lookup{key: positionsFirst(keys), value: headsFirst(source.Values[i])})
	}
	return m.readLast(scope, s.run())
}

// DecodeStep is that of [EncoderDecoder] without a source.
func (m Decoder) DecodeStep(scope *model.Scope, tokens *Node, past *KVCache) *Node {
	s := m.continued(scope, tokens, past)
	s.source = s.mask
	return m.readLast(scope, s.run())
}

// continued is a causal stack over positions that follow what it keeps. Padding stands in front of the first token only.
func (c Config) continued(scope *model.Scope, tokens *Node, past *KVCache) *stack {
	inner, g, n := scope.At("decoder"), tokens.Graph(), tokens.Shape().Dimensions[1]
	capacity := past.Tensors[0].Shape().Dimensions[3]
	table := Reshape(c.signals(g, 1, capacity), capacity, c.Width)
	at := Add(Iota(g, shapes.Make(int32Type, 1, n), 1), past.Length) // [1, N], from 0
	s := &stack{
		Config: c, scope: inner, layer: inner, causal: true, pass: &Pass{}, mask: Equal(tokens, tokens), // all are real

		coordinates: coordinates{position: Gather(table, InsertAxes(at, -1)), step: c.stepCoordinates(inner, g)},
		state:       c.embed(scope, c.targetTable(scope), tokens),
	}
	keys := Iota(g, shapes.Make(int32Type, 1, n, 1, capacity), 3)
	s.past = &continuation{KVCache: past, each: 2 + len(c.Transition.LooksBack(c.Width)), seen: LessOrEqual(keys, Reshape(at, 1, n, 1, 1))}
	return s
}

// readLast gives the logits of the last position.
func (c Config) readLast(scope *model.Scope, pass *Pass) *Node {
	last := SliceAxis(pass.State, 1, AxisElem(-1))
	return Squeeze(c.readout(scope, last), 1)
}

// continuation is a stack's access to what it keeps, in the step that it is at.
type continuation struct {
	*KVCache
	each int   // values kept of a step
	t    int   // the step
	back int   // values of this step's transition read so far
	seen *Node // [1, N, 1, S] bool: which positions each of the new ones sees
}

// enter begins a step.
func (p *continuation) enter(t int) { p.t, p.back = t, 0 }

// attend adds the keys and values of the new positions and gives those of all.
func (p *continuation) attend(now *lookup) *lookup {
	keys, values := &p.Tensors[(p.t-1)*p.each], &p.Tensors[(p.t-1)*p.each+1]
	*keys = place(*keys, channelsFirst(now.key), p.Length, 3)
	*values = place(*values, headsFirst(now.value), p.Length, 2)
	return &lookup{key: positionsFirst(*keys), value: headsFirst(*values)}
}

// before puts the last positions in front of x [R, N, C], as many as the transition said that it looks back on.
func (p *continuation) before(x *Node) *Node {
	kept := &p.Tensors[(p.t-1)*p.each+2+p.back]
	p.back++
	positions := (*kept).Shape().Dimensions[1]
	all := Concatenate([]*Node{*kept, x}, 1)
	*kept = SliceAxis(all, 1, AxisRange(all.Shape().Dimensions[1]-positions))
	return all
}

// place writes new into kept from a position on, along an axis.
func place(kept, new, position *Node, axis int) *Node {
	if kept.Graph().Backend().Capabilities().Operations[compute.OpTypeDynamicUpdateSlice] {
		start := make([]*Node, kept.Rank())
		for i := range start {
			start[i] = ScalarZero(kept.Graph(), int32Type)
		}
		start[axis] = position
		return DynamicUpdateSlice(kept, new, start)
	}
	return placeByComparing(kept, new, position, axis)
}

// placeByComparing is place for backends without dynamic slices.
func placeByComparing(kept, new, position *Node, axis int) *Node {
	g, shape := kept.Graph(), shapeAs(kept, int32Type)
	index := Sub(Iota(g, shape, axis), position)
	for i := range new.Shape().Dimensions[axis] {
		one := BroadcastToShape(SliceAxis(new, axis, AxisElem(i)), kept.Shape())
		kept = Where(Equal(index, Scalar(g, int32Type, i)), one, kept)
	}
	return kept
}

// headsFirst turns [B, M, K, C] into [B, K, M, C] and back: what one head reads then lies together.
func headsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 1, 3) }

// channelsFirst turns [B, M, K, C] into [B, K, C, M]: what queries are multiplied with then lies in the order of positions.
func channelsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 3, 1) }

// positionsFirst is the inverse of channelsFirst.
func positionsFirst(x *Node) *Node { return TransposeAllAxes(x, 0, 3, 1, 2) }
