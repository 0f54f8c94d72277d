package batch

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"universal-transformer/task"
)

// Default lengths of rectangles: the first, then each a quarter more than the previous one. From 8 on, rounding up to them adds at
// most a fifth of a row, and lengths up to 400 need 20 shapes.
const (
	firstBoundary = 8
	growth        = 1.25
)

// Bounds, far above any use: numbers within them can be added and multiplied without overflow, and windows fit into memory.
const (
	maxTokens = 1 << 30 // positions of a batch or of a row
	maxRows   = 1 << 20 // rows of a batch
	maxWindow = 1 << 24 // examples that are sorted together
)

// A Plan determines the shapes of rectangles. There are few, because every shape needs a compiled graph.
type Plan struct {
	Tokens            int   `json:"tokens,omitempty"`              // maximum number of positions of the longer rectangle: rows = max(1, Tokens/max(M, N))
	Rows              int   `json:"rows,omitempty"`                // number of rows, whatever the lengths; excludes Tokens
	Boundaries        []int `json:"boundaries,omitempty"`          // lengths of rows without the target's End, increasing; empty means 8, 10, 12, 15, 18, ...
	MaxSource         int   `json:"max_source,omitempty"`          // maximum length of a source in ids; 0: there are no sources
	MaxTarget         int   `json:"max_target,omitempty"`          // maximum length of a target, including End
	TokensPerPosition int   `json:"tokens_per_position,omitempty"` // ids at each position of a source; 0 means 1. Lengths above are in positions, MaxSource is in ids
	Aligned           bool  `json:"aligned,omitempty"`             // a target has as many tokens as its source has positions, without End: both rows have the same length
	Window            int   `json:"window,omitempty"`              // number of examples that are sorted by length together; 0 means 256 of the longest batches

	// Check returns an error if an example that a [Stream] has drawn is invalid; nil: all are valid.
	Check func(task.Example) error `json:"-"`
	// RoundUp returns the number of rows, at least n, of a batch that has n rows by Tokens, if that number is computed anyway. nil
	// means n.
	RoundUp func(n int) int `json:"-"`
	// Partial returns the number of rows, at least n, of a batch of Chunk that has only n examples, fewer than fit. nil means the rows of
	// a full batch, of which there are fewer shapes.
	Partial func(n int) int `json:"-"`
}

// Validate returns an error that names the first field out of range.
func (p Plan) Validate() error {
	switch {
	case p.Rows < 0:
		return fmt.Errorf("rows is %d: it must be positive, or 0 to go by tokens", p.Rows)
	case p.Tokens < 0:
		return fmt.Errorf("tokens is %d: it must be positive", p.Tokens)
	case p.Rows > maxRows:
		return fmt.Errorf("rows is %d: it must be at most %d", p.Rows, maxRows)
	case p.Tokens > maxTokens:
		return fmt.Errorf("tokens is %d: it must be at most %d", p.Tokens, maxTokens)
	case p.Rows == 0 && p.Tokens == 0:
		return fmt.Errorf("rows and tokens are both 0: give only one of them")
	case p.MaxSource < 0:
		return fmt.Errorf("max_source is %d: it must not be negative", p.MaxSource)
	case p.MaxTarget < 0:
		return fmt.Errorf("max_target is %d: it must not be negative", p.MaxTarget)
	case p.TokensPerPosition < 0:
		return fmt.Errorf("tokens_per_position is %d: it must be positive, or 0 for 1", p.TokensPerPosition)
	case p.MaxSource%p.words() != 0:
		return fmt.Errorf("max_source is %d: it must be whole positions of %d ids", p.MaxSource, p.TokensPerPosition)
	case p.Window > maxWindow:
		return fmt.Errorf("window is %d: it must be at most %d", p.Window, maxWindow)
	case p.Window < 0:
		return fmt.Errorf("window is %d: it must be positive, or 0 for 256 of the longest batches", p.Window)
	}
	for i, b := range p.Boundaries {
		if b <= 0 || i > 0 && b <= p.Boundaries[i-1] {
			return fmt.Errorf("boundaries are %v: they must be positive and increasing", p.Boundaries)
		}
		if b > maxTokens {
			return fmt.Errorf("boundaries are %v: they must be at most %d", p.Boundaries, maxTokens)
		}
	}
	return nil
}

func (p Plan) words() int { return max(p.TokensPerPosition, 1) }

// A shape is the lengths of a source and a target row.
type shape struct{ source, target int }

// shape returns the smallest rows for an example with these lengths. Target rows have one more position, for End. Otherwise End would
// move half of the targets that are as long as their sources to the next boundary, and double the number of shapes.
func (p Plan) shape(source, target int) shape {
	positions := min(p.round((source+p.words()-1)/p.words()), p.MaxSource/p.words())
	if p.Aligned {
		return shape{positions * p.words(), positions}
	}
	return shape{positions * p.words(), min(p.round(target-1)+1, p.MaxTarget)}
}

// round returns the first boundary that is at least length or, beyond the last given boundary, a length sufficient for all examples.
func (p Plan) round(length int) int {
	if n := len(p.Boundaries); n > 0 {
		if i := sort.SearchInts(p.Boundaries, length); i < n {
			return p.Boundaries[i]
		}
		return math.MaxInt - 1
	}
	boundary := firstBoundary
	for boundary < length {
		boundary = int(float64(boundary) * growth)
	}
	return boundary
}

// rows returns the number of rows of a rectangle with this shape.
func (p Plan) rows(s shape) int {
	if p.Rows > 0 {
		return p.Rows
	}
	n := max(1, p.Tokens/max(s.source/p.words(), s.target, 1))
	if p.RoundUp != nil {
		return p.RoundUp(n)
	}
	return n
}

// rowsFor returns the number of rows of the rectangle of a group.
func (p Plan) rowsFor(g group) int {
	rows, n := p.rows(g.shape), len(g.members)
	if p.Partial == nil || n == rows {
		return rows
	}
	return min(rows, p.Partial(n))
}

// window returns the number of examples that are sorted together.
func (p Plan) window() int {
	if p.Window > 0 {
		return p.Window
	}
	return 256 * p.rows(shape{p.MaxSource, p.MaxTarget})
}

// A group is the indices of the examples that form one rectangle.
type group struct {
	shape   shape
	members []int
}

// groups splits examples of the given lengths into groups: sorted by shape, then split into full rectangles. The remaining examples
// of a shape move to the next larger one, so that few groups are incomplete. Members keep their order.
func (p Plan) groups(lengths []shape) []group {
	buckets := map[shape][]int{}
	for i, l := range lengths {
		s := p.shape(l.source, l.target)
		buckets[s] = append(buckets[s], i)
	}
	var groups []group
	shapes := sortedShapes(buckets)
	for k, s := range shapes {
		members, rows := buckets[s], p.rows(s)
		for len(members) >= rows {
			groups = append(groups, group{s, members[:rows]})
			members = members[rows:]
		}
		if len(members) == 0 {
			continue
		}
		up := slices.IndexFunc(shapes[k+1:], func(larger shape) bool {
			return larger.source >= s.source && larger.target >= s.target
		})
		if up < 0 {
			groups = append(groups, group{s, members})
			continue
		}
		larger := shapes[k+1+up]
		buckets[larger] = slices.Concat(members, buckets[larger])
	}
	return groups
}

func sortedShapes(buckets map[shape][]int) []shape {
	shapes := make([]shape, 0, len(buckets))
	for s := range buckets {
		shapes = append(shapes, s)
	}
	slices.SortFunc(shapes, func(a, b shape) int {
		if a.source != b.source {
			return a.source - b.source
		}
		return a.target - b.target
	})
	return shapes
}
