package batch_test

import (
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// Rows of several ids a position are whole positions long; boundaries, tokens and limits count positions.
// Caught when planted: boundaries of ids, rows counted by ids, a batch that does not say its words.
func TestWordsOfAPosition(t *testing.T) {
	source := func(i int64) task.Example {
		return task.Example{Source: slices.Repeat([]vocab.ID{2, 3, 0}, 1+int(i%11)), Target: []vocab.ID{2}}
	}
	plan := batch.Plan{Tokens: 24, TokensPerPosition: 3, Boundaries: []int{4, 8}, MaxSource: 33, MaxTarget: 1, Window: 110}
	s, err := batch.NewStream(source, plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[[2]int]bool{}
	var examples []task.Example
	for s.Position().Window == 0 {
		b := next(t, s)
		shapes[[2]int{b.SourcePositions(), b.Rows}] = true
		if b.SourceLength != 3*b.SourcePositions() || b.TargetLength != 1 {
			t.Fatalf("%d ids, %d positions, %d targets", b.SourceLength, b.SourcePositions(), b.TargetLength)
		}
		examples = append(examples, source(int64(b.Examples)))
	}
	for _, want := range [][2]int{{4, 6}, {8, 3}, {11, 2}} {
		if !shapes[want] {
			t.Errorf("no batch of %d positions and %d rows among %v", want[0], want[1], shapes)
		}
	}
	if len(shapes) != 3 {
		t.Errorf("shapes are %v", shapes)
	}
	for _, b := range batch.Chunk(examples, plan) {
		if b.SourceLength != 3*b.SourcePositions() || b.SourcePositions() > 11 {
			t.Errorf("a chunk has %d ids, %d positions", b.SourceLength, b.SourcePositions())
		}
	}
	for want, bad := range map[string]batch.Plan{
		"tokens_per_position is -1": {Rows: 1, TokensPerPosition: -1},
		"max_source is 31":          {Rows: 1, TokensPerPosition: 3, MaxSource: 31},
	} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
