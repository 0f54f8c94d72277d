package universal

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// Counting says by which numbers the tokens of a source are known to the coordinates. The paper counts 1, 2, 3, ...: [FromStart].
// The others are extensions for sequences longer than those of training: they tell a model which target belongs to which source,
// as a whole or for each number of a sum, and RESULTS.md and the configuration say which one a model was given. A target is always
// counted 1, 2, 3, ..., so none of them uses the length of an answer.
//
// A source may consist of segments that end in a separator, the last one in End (id 1) or with the source. A separator belongs to
// the segment that it ends. Where a segment has n tokens before its separator, the k-th is counted k from the start and n+1-k from
// the end, and the separator n+1 in both: the number after the last, as the End of a target has it.
//
// Its implementations are [FromStart], [FromEnd], [Restarting] and [BothEnds].
type Counting interface {
	// Resolve looks separators up in the vocabulary of the source. One that is not there never occurs, so it is left out.
	Resolve(id func(token string) (int32, bool)) Counting
	// Highest is the largest number that a token of the source gets, without its padding; 0 if it is empty.
	Highest(source []int32) int
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error

	// shares says how the width is divided among the numbers of a token.
	shares(width int) []share
	// numbers gives the numbers [B, M] of the tokens [B, M], one for each of shares.
	numbers(tokens *Node) []*Node
}

// share is the channels that one number of a token gets.
type share struct {
	channels int
	// place tells that the number is a place in a sequence, for which training draws a position; otherwise it is the number of a
	// segment, which the target has not: 0 there.
	place bool
}

// FromStart counts 1, 2, 3, ...: the paper's.
type FromStart struct{}

// Resolve changes nothing.
func (c FromStart) Resolve(func(string) (int32, bool)) Counting { return c }

// Highest is the length of the source.
func (FromStart) Highest(source []int32) int { return len(source) }

// Validate finds nothing wrong.
func (FromStart) Validate() error { return nil }

func (FromStart) shares(width int) []share { return []share{{width, true}} }

func (FromStart) numbers(tokens *Node) []*Node { return []*Node{ranks(tokens)} }

// FromEnd counts a source backwards: token k of n is n+1-k, and End n+1. What a reversal writes at a place then stands at that place:
// position coupling (Cho et al., 2024).
type FromEnd struct{}

// Resolve changes nothing.
func (c FromEnd) Resolve(func(string) (int32, bool)) Counting { return c }

// Highest is the length of the source, whose only separator is End.
func (FromEnd) Highest(source []int32) int { return Segments{}.Highest(source) }

// Validate finds nothing wrong.
func (FromEnd) Validate() error { return nil }

func (FromEnd) shares(width int) []share { return []share{{width, true}} }

func (FromEnd) numbers(tokens *Node) []*Node {
	_, fromEnd, _ := countSegments(tokens, nil)
	return []*Node{fromEnd}
}

// Segments are what a source consists of: Separators are the tokens that end one, besides End.
type Segments struct {
	Separators []string `json:"separators"`

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

// Highest is the length of the longest segment, with its separator.
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

// Validate rejects separators that are empty or there twice.
func (s Segments) Validate() error {
	for i, token := range s.Separators {
		if token == "" || slices.Contains(s.Separators[:i], token) {
			return fmt.Errorf("separators are %q: give different tokens", s.Separators)
		}
	}
	return nil
}

// Restarting counts every segment from its start, and numbers the segments: digits of the same place value have the same number, as with
// Abacus embeddings (McLeish et al., 2024) and position coupling. An eighth of the channels has the number of the segment.
type Restarting struct{ Segments }

// Resolve looks separators up.
func (c Restarting) Resolve(id func(string) (int32, bool)) Counting { return Restarting{c.resolve(id)} }

func (Restarting) shares(width int) []share {
	return []share{{width - eighth(width), true}, {eighth(width), false}}
}

func (c Restarting) numbers(tokens *Node) []*Node {
	fromStart, _, segment := countSegments(tokens, c.ids)
	return []*Node{fromStart, segment}
}

// BothEnds gives every token two counts, from the start and from the end of its segment, and the number of the segment: one rule for
// copying, reversing and adding, which leaves it to the model which of the counts matters. An eighth of the channels has the
// number of the segment, the counts share the rest.
type BothEnds struct{ Segments }

// Resolve looks separators up.
func (c BothEnds) Resolve(id func(string) (int32, bool)) Counting { return BothEnds{c.resolve(id)} }

func (BothEnds) shares(width int) []share {
	rest := width - eighth(width)
	second := rest / 4 * 2
	return []share{{rest - second, true}, {second, true}, {eighth(width), false}}
}

func (c BothEnds) numbers(tokens *Node) []*Node {
	fromStart, fromEnd, segment := countSegments(tokens, c.ids)
	return []*Node{fromStart, fromEnd, segment}
}

// eighth is about an eighth of the width, and even, since sines and cosines come in pairs.
func eighth(width int) int { return max(2, width/16*2) }

// endToken is the id of End in all vocabularies; 0 is padding.
const endToken = 1

// countSegments counts the tokens [B, M] within their segments, from both ends, and the segments; all [B, M], from 1. Padding gets some
// number in range.
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
	start := ReduceMax(pairs(before, j, number(0)), 2) // tokens in front of the segment, [B, M]
	fromStart = Sub(own, start)
	segment = AddScalar(ReduceSum(pairs(before, number(1), number(0)), 2), 1)
	real := ReduceAndKeep(ConvertDType(Mask(tokens), int32Type), ReduceSum, -1) // [B, 1]
	beyond := InsertAxes(AddScalar(real, 1), -1)                                // [B, 1, 1]
	stop := ReduceMin(pairs(GreaterOrEqual(j, i), j, beyond), 2)                // where the segment ends
	fromEnd = MaxScalar(Where(ends, fromStart, Sub(stop, own)), 1)
	return fromStart, fromEnd, segment
}

// ranks is 1, 2, 3, ... for tokens [B, M], as [1, M].
func ranks(tokens *Node) *Node {
	return AddScalar(Iota(tokens.Graph(), shapes.Make(int32Type, 1, tokens.Shape().Dimensions[1]), 1), 1)
}
