package batch_test

import (
	"slices"
	"testing"

	"universal-transformer/batch"
)

// Empty rows come at the bottom, no more of them than are needed, and the batch they are added to stays as it is.
func TestWithRowsMultipleOf(t *testing.T) {
	b := batch.Batch{Rows: 3, SourceLength: 2, TargetLength: 1, Source: []int32{5, 6, 7, 0, 8, 9}, Target: []int32{2, 3, 4}, Examples: 3, TokensPerPosition: 2}
	b.Source, b.Target = slices.Grow(b.Source, 100), slices.Grow(b.Target, 100)
	for n, rows := range map[int]int{1: 3, 2: 4, 3: 3, 4: 4, 5: 5, 8: 8} {
		wide := b.WithRowsMultipleOf(n)
		if wide.Rows != rows || wide.Examples != 3 || wide.SourcePositions() != 1 || len(wide.Source) != 2*rows || len(wide.Target) != rows {
			t.Errorf("a multiple of %d: %+v", n, wide)
		}
		if !slices.Equal(wide.Source[:6], b.Source) || !slices.Equal(wide.Target[:3], b.Target) || slices.ContainsFunc(slices.Concat(wide.Source[6:], wide.Target[3:]), func(id int32) bool { return id != 0 }) {
			t.Errorf("a multiple of %d: source %v, target %v", n, wide.Source, wide.Target)
		}
		for i := range wide.Source[6:] {
			wide.Source[6+i] = 99
		}
	}
	if hidden := b.Source[:100]; slices.Contains(hidden, 99) {
		t.Error("rows were added to the memory of the batch itself")
	}
}
