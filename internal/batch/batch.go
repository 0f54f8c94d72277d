// Package batch makes padded rectangles of examples. It is the last place that knows examples and the first
// that knows shapes; what comes after it is tensors. Padding is id 0, at the right of a row, and whole rows of
// it at the bottom.
//
// Letters: B rows, M source positions, N target positions.
package batch

import (
	"fmt"

	"universal-transformer/internal/vocab"
	"universal-transformer/task"
)

// A Batch is two rectangles of ids, row after row.
type Batch struct {
	Rows              int        // B, empty ones included
	SourceLength      int        // M
	TargetLength      int        // N
	TokensPerPosition int        // ids at one position of the source; 0 counts as 1
	Source            []vocab.ID // [B*M]
	Target            []vocab.ID // [B*N]
	Examples          int        // rows that hold an example, at the top; the others are padding throughout
	Index             []int      // Chunk: which of its examples stands in each of the first Examples rows; else nil
}

// Pad puts examples into rows of the given lengths. More examples than rows, and an example longer than its row, are
// errors that name it.
func Pad(examples []task.Example, rows, sourceLength, targetLength int) (Batch, error) {
	if rows < 0 || sourceLength < 0 || targetLength < 0 {
		return Batch{}, fmt.Errorf("batch of %d rows, lengths %d and %d: none may be negative", rows, sourceLength, targetLength)
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

// SourcePositions is how many positions a source row has: SourceLength, unless positions hold several ids.
func (b Batch) SourcePositions() int { return b.SourceLength / max(b.TokensPerPosition, 1) }

// SourceRow is the i-th source with its padding, a part of Source.
func (b Batch) SourceRow(i int) []vocab.ID { return b.Source[i*b.SourceLength : (i+1)*b.SourceLength] }

// TargetRow is the i-th target with its padding, a part of Target.
func (b Batch) TargetRow(i int) []vocab.ID { return b.Target[i*b.TargetLength : (i+1)*b.TargetLength] }

// Tokens counts what is no padding: the denominators of losses and of tokens per second.
func (b Batch) Tokens() (source, target int) { return count(b.Source), count(b.Target) }

func count(ids []vocab.ID) int {
	n := 0
	for _, id := range ids {
		if id != vocab.Padding {
			n++
		}
	}
	return n
}
