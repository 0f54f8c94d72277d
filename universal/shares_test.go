package universal

import (
	"fmt"
	"testing"
)

// How the width is divided among the numbers of a token: all of it, an eighth, rounded down to an even number, for the segment, and the
// rest in even halves for both ends.
// Caught when planted: more channels than the width has; a segment that counts as a place; odd shares.
func TestSharesOfTheWidth(t *testing.T) {
	for width, want := range map[int][2]string{
		8: {"[{6 true} {2 false}]", "[{4 true} {2 true} {2 false}]"}, 16: {"[{14 true} {2 false}]", "[{8 true} {6 true} {2 false}]"},
		31: {"[{29 true} {2 false}]", "[{15 true} {14 true} {2 false}]"}, 32: {"[{28 true} {4 false}]", "[{14 true} {14 true} {4 false}]"},
		128: {"[{112 true} {16 false}]", "[{56 true} {56 true} {16 false}]"},
	} {
		if got := [2]string{fmt.Sprint(Restarting{}.shares(width)), fmt.Sprint(BothEnds{}.shares(width))}; got != want {
			t.Errorf("width %d: %q, want %q", width, got, want)
		}
		for _, c := range []Counting{FromStart{}, FromEnd{}} {
			if got := fmt.Sprint(c.shares(width)); got != fmt.Sprintf("[{%d true}]", width) {
				t.Errorf("%T of width %d: %s", c, width, got)
			}
		}
	}
}

// The longest segment of a source, with its separator; separators that a vocabulary lacks never occur; and how each counting is described.
// Caught when planted: a separator of its own length; the last segment left out.
func TestHighestOfSegments(t *testing.T) {
	ids := func(token string) (int32, bool) { return map[string]int32{"+": 5}[token], token == "+" }
	both := BothEnds{Segments{Separators: []string{"+", "?"}}}.Resolve(ids)
	for _, c := range []struct {
		source                  []int32
		start, end, bothHighest int
	}{
		{nil, 0, 0, 0}, {[]int32{7}, 1, 1, 1}, {[]int32{7, 7, 5, 7, 1}, 5, 5, 3}, {[]int32{5, 7, 7, 7}, 4, 4, 3}, {[]int32{7, 1, 7, 7, 7}, 5, 3, 3}, {[]int32{5, 5, 5}, 3, 3, 1},
	} {
		if got := [3]int{FromStart{}.Highest(c.source), FromEnd{}.Highest(c.source), both.Highest(c.source)}; got != [3]int{c.start, c.end, c.bothHighest} {
			t.Errorf("%v: %v, want %v", c.source, got, c)
		}
	}
	for want, c := range map[string]Counting{
		"": FromStart{}, "sources counted from their end": FromEnd{}, "sources counted anew after separators": Restarting{}, "sources counted from both ends": BothEnds{},
	} {
		if got := c.Describe(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, separators := range [][]string{{""}, {"a", "b", "a"}} {
		if err := (Segments{Separators: separators}).Validate(); err == nil {
			t.Errorf("separators %q are valid", separators)
		}
	}
}
