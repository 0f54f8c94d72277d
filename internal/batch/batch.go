// Package batch arranges examples in padded rectangles of ids. It does not use tensors, and packages after it do not know examples.
// Padding is id 0, at the end of a row, and in whole rows at the bottom.
//
// Letters: B rows, M source positions, N target positions.
package batch

import (
	"fmt"
	"slices"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Batch is two rectangles of ids, in row order.
type Batch struct {
	Rows              int        // B, including empty rows
	SourceLength      int        // M
	TargetLength      int        // N
	TokensPerPosition int        // ids at each position of the source; 0 means 1
	Source            []vocab.ID // [B*M]
	Target            []vocab.ID // [B*N]
	Examples          int        // number of rows with an example, which come first; the others are padding
	Index             []int      // set by Chunk: index of the example in each of the first Examples rows
}

// Pad puts examples into rows of the given lengths. It returns an error if there are more examples than rows, or if an example is
// longer than its row, which it names.
func Pad(examples []task.Example, rows, sourceLength, targetLength int) (Batch, error) {
	if rows < 0 || sourceLength < 0 || targetLength < 0 {
		return Batch{}, fmt.Errorf("batch of %d rows, lengths %d and %d: none must be negative", rows, sourceLength, targetLength)
	}
	if len(examples) > rows {
		return Batch{}, fmt.Errorf("%d examples do not fit %d rows", len(examples), rows)
	}
	b := Batch{
		Rows: rows, SourceLength: sourceLength, TargetLength: targetLength, Examples: len(examples),
		Source: make([]vocab.ID, rows*sourceLength),
		Target: make([]vocab.ID, rows*targetLength),
	}
	for i, e := range examples {
		if len(e.Source) > sourceLength || len(e.Target) > targetLength {
			return Batch{}, fmt.Errorf("example %d has lengths %d and %d, the rectangles %d and %d",
				i, len(e.Source), len(e.Target), sourceLength, targetLength)
		}
		copy(b.Source[i*sourceLength:], e.Source)
		copy(b.Target[i*targetLength:], e.Target)
	}
	return b, nil
}

// Twice returns a batch in which rows 2i and 2i+1 are both row i. Index is dropped.
func (b Batch) Twice() Batch {
	double := func(ids []vocab.ID, length int) []vocab.ID {
		list := make([]vocab.ID, 0, 2*len(ids))
		for i := range b.Rows {
			row := ids[i*length : (i+1)*length]
			list = append(append(list, row...), row...)
		}
		return list
	}
	b.Source, b.Target = double(b.Source, b.SourceLength), double(b.Target, b.TargetLength)
	b.Rows, b.Examples, b.Index = 2*b.Rows, 2*b.Examples, nil
	return b
}

// SourcePositions returns the number of positions of a source row: SourceLength divided by TokensPerPosition.
func (b Batch) SourcePositions() int { return b.SourceLength / max(b.TokensPerPosition, 1) }

// SourceRow returns the i-th source with its padding, a slice of Source.
func (b Batch) SourceRow(i int) []vocab.ID { return b.Source[i*b.SourceLength : (i+1)*b.SourceLength] }

// TargetRow returns the i-th target with its padding, a slice of Target.
func (b Batch) TargetRow(i int) []vocab.ID { return b.Target[i*b.TargetLength : (i+1)*b.TargetLength] }

// Tokens counts the tokens other than padding: the denominators of losses and of tokens per second.
func (b Batch) Tokens() (source, target int) { return count(b.Source), count(b.Target) }

// Positions counts the positions of the source that hold a token.
func (b Batch) Positions() (n int) {
	for position := range slices.Chunk(b.Source, max(b.TokensPerPosition, 1)) {
		if count(position) > 0 {
			n++
		}
	}
	return n
}

func count(ids []vocab.ID) int {
	n := 0
	for _, id := range ids {
		if id != vocab.Padding {
			n++
		}
	}
	return n
}
