package universal

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// A Counting determines the numbers of source tokens that the coordinates encode. The paper counts 1, 2, 3, ...: [FromStart]. The
// others are extensions for sequences longer than those in training. They tell a model which target token corresponds to which source
// token, in the whole source or in each number of a sum. A target is always counted 1, 2, 3, ..., so no counting uses the length of
// an answer.
//
// A source may consist of segments that end with a separator; the last one ends with End (id 1) or with the source. A separator
// belongs to the segment that it ends. If a segment has n tokens before its separator, the k-th token has number k from the start and
// n+1-k from the end. The separator has number n+1 in both, as the End of a target has.
//
// The implementations are [FromStart], [FromEnd], [Restarting] and [BothEnds].
type Counting interface {
	// Resolve looks separators up in the vocabulary of the source. A separator that is not in the vocabulary never occurs and is
	// ignored.
	Resolve(id func(token string) (int32, bool)) Counting
	// Highest returns the largest number of a token of the source, padding excluded; 0 if it is empty.
	Highest(source []int32) int
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
	// Describe returns how a source is counted, such as "sources counted from their end"; empty for the paper's counting.
	Describe() string

	// shares returns how the width is divided among the numbers of a token.
	shares(width int) []share
	// numbers returns the numbers [B, M] of the tokens [B, M], one node for each of shares.
	numbers(tokens *Node) []*Node
	// separators returns the ids of the tokens that end a segment, besides End.
	separators() []int32
}

// A share is the channels of one number of a token.
type share struct {
	channels int
	// place reports whether the number is a place in a sequence, for which training draws a position. Otherwise it is the number of a
	// segment, which is 0 in the target.
	place bool
}

// FromStart counts 1, 2, 3, ..., as the paper does.
type FromStart struct{}

// Resolve returns c.
func (c FromStart) Resolve(func(string) (int32, bool)) Counting { return c }

// Highest returns the length of the source.
func (FromStart) Highest(source []int32) int { return len(source) }

// Validate returns nil.
func (FromStart) Validate() error { return nil }

// Describe is empty.
func (FromStart) Describe() string { return "" }

func (FromStart) separators() []int32 { return nil }

func (FromStart) shares(width int) []share { return []share{{width, true}} }

func (FromStart) numbers(tokens *Node) []*Node { return []*Node{ranks(tokens)} }

// FromEnd counts a source backwards: token k of n has number n+1-k, and End n+1. A reversal then writes at each place the token with
// the number of that place: position coupling (Cho et al., 2024).
type FromEnd struct{}

// Resolve returns c.
func (c FromEnd) Resolve(func(string) (int32, bool)) Counting { return c }

// Highest returns the length of the source, whose only separator is End.
func (FromEnd) Highest(source []int32) int { return Segments{}.Highest(source) }

// Validate returns nil.
func (FromEnd) Validate() error { return nil }

// Describe names the end.
func (FromEnd) Describe() string { return "sources counted from their end" }

func (FromEnd) separators() []int32 { return nil }

func (FromEnd) shares(width int) []share { return []share{{width, true}} }

func (FromEnd) numbers(tokens *Node) []*Node {
	_, fromEnd, _ := countSegments(tokens, nil)
	return []*Node{fromEnd}
}

// Segments are the parts of a source: Separators lists the tokens that end one, besides End.
type Segments struct {
	Separators []string `json:"separators"` // tokens after which counting begins anew

	ids []int32
}

func (s Segments) resolve(id func(string) (int32, bool)) Segments {
	s.ids = nil
	for _, token := range s.Separators {
		if n, known := id(token); known {
			s.ids = append(s.ids, n)
		}
	}
	return s
}

// Highest returns the length of the longest segment, including its separator.
func (s Segments) Highest(source []int32) int {
	highest, n := 0, 0
	for _, token := range source {
		n++
		highest = max(highest, n)
		if token == endToken || slices.Contains(s.ids, token) {
			n = 0
		}
	}
	return highest
}

func (s Segments) separators() []int32 { return s.ids }

// Validate returns an error if separators are empty or repeated.
func (s Segments) Validate() error {
	for i, token := range s.Separators {
		if token == "" || slices.Contains(s.Separators[:i], token) {
			return fmt.Errorf("separators are %q: give different tokens", s.Separators)
		}
	}
	return nil
}

// Restarting counts every segment from its start, and numbers the segments. Digits with the same place value thus have the same
// number, as with Abacus embeddings (McLeish et al., 2024) and position coupling. An eighth of the channels encodes the number of the
// segment.
type Restarting struct{ Segments }

// Resolve looks separators up in the vocabulary.
func (c Restarting) Resolve(id func(string) (int32, bool)) Counting { return Restarting{c.resolve(id)} }

// Describe names the separators.
func (Restarting) Describe() string { return "sources counted anew after separators" }

func (Restarting) shares(width int) []share {
	return []share{{width - eighth(width), true}, {eighth(width), false}}
}

func (c Restarting) numbers(tokens *Node) []*Node {
	fromStart, _, segment := countSegments(tokens, c.ids)
	return []*Node{fromStart, segment}
}

// BothEnds gives every token three numbers: its places from the start and from the end of its segment, and the number of the segment.
// This single rule serves copying, reversing and adding, as the model learns which number matters. An eighth of the channels encodes
// the number of the segment; the two places share the rest.
type BothEnds struct{ Segments }

// Resolve looks separators up in the vocabulary.
func (c BothEnds) Resolve(id func(string) (int32, bool)) Counting { return BothEnds{c.resolve(id)} }

// Describe names both ends.
func (BothEnds) Describe() string { return "sources counted from both ends" }

func (BothEnds) shares(width int) []share {
	rest := width - eighth(width)
	second := rest / 4 * 2
	return []share{{rest - second, true}, {second, true}, {eighth(width), false}}
}

func (c BothEnds) numbers(tokens *Node) []*Node {
	fromStart, fromEnd, segment := countSegments(tokens, c.ids)
	return []*Node{fromStart, fromEnd, segment}
}

// Blocks returns the channels of each number of a source position, in order, for the given width.
func Blocks(c Counting, width int) (channels []int) {
	for _, s := range c.shares(width) {
		channels = append(channels, s.channels)
	}
	return channels
}

// SeparatorIDs returns the ids of the separators of a resolved counting, besides End.
func SeparatorIDs(c Counting) []int32 { return append([]int32{}, c.separators()...) }

// eighth returns about an eighth of the width. The result is even, since sines and cosines come in pairs.
func eighth(width int) int { return max(2, width/16*2) }

// endToken is the id of End in all vocabularies. The id of padding is 0.
const endToken = 1

// countSegments counts the tokens [B, M] within their segments, from both ends, and the segments; all [B, M], from 1. The numbers of
// padding are arbitrary but in range.
func countSegments(tokens *Node, separators []int32) (fromStart, fromEnd, segment *Node) {
	g, batch, length := tokens.Graph(), tokens.Shape().Dimensions[0], tokens.Shape().Dimensions[1]
	number := func(n int) *Node { return Scalar(g, int32Type, n) }
	ends := Equal(tokens, number(endToken)) // [B, M]
	for _, id := range separators {
		ends = LogicalOr(ends, Equal(tokens, number(int(id))))
	}
	own := ranks(tokens)                           // i, from 1, [1, M]
	i, j := InsertAxes(own, 2), InsertAxes(own, 1) // [1, M, 1], [1, 1, M]
	isEnd := BroadcastToDims(InsertAxes(ends, 1), batch, length, length)
	pairs := func(condition, value, otherwise *Node) *Node { // [B, M, M]
		all := func(x *Node) *Node { return BroadcastToDims(x, batch, length, length) }
		return Where(LogicalAnd(isEnd, all(condition)), all(value), all(otherwise))
	}
	before := LessThan(j, i)
	start := ReduceMax(pairs(before, j, number(0)), 2) // tokens before the segment, [B, M]
	fromStart = Sub(own, start)
	segment = AddScalar(ReduceSum(pairs(before, number(1), number(0)), 2), 1)
	tokenCount := ReduceAndKeep(ConvertDType(Mask(tokens), int32Type), ReduceSum, -1) // [B, 1]
	beyond := InsertAxes(AddScalar(tokenCount, 1), -1)                                // [B, 1, 1]
	stop := ReduceMin(pairs(GreaterOrEqual(j, i), j, beyond), 2)                      // end of the segment
	fromEnd = MaxScalar(Where(ends, fromStart, Sub(stop, own)), 1)
	return fromStart, fromEnd, segment
}

// ranks returns 1, 2, 3, ... for tokens [B, M], as [1, M].
func ranks(tokens *Node) *Node {
	return AddScalar(Iota(tokens.Graph(), shapes.Make(int32Type, 1, tokens.Shape().Dimensions[1]), 1), 1)
}
