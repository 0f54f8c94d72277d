package decoding_test

import (
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"universal-transformer/internal/vocab"
)

// A closed batch has no tensors. Errors name the source as people count, and the row.
// Caught when planted: tensors kept after Close; a row before the first accepted.
func TestCloseAndErrors(t *testing.T) {
	d := decoder(t, models(dtypes.Float32)["halting.Fixed, universal.FeedForward, pre-norm false"], false)
	defer d.Close()
	batch, err := d.Start([][]vocab.ID{{2, 3}, {4}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Next([]int{0, 1}, nil); err != nil || batch.Bytes() == 0 {
		t.Fatalf("%d bytes, %v", batch.Bytes(), err)
	}
	if _, err := batch.Next([]int{0, -1}, []vocab.ID{2, 2}); err == nil || !strings.Contains(err.Error(), "row 1 continues row -1 of 2") {
		t.Errorf("a row before the first: %v", err)
	}
	if batch.Close(); batch.Bytes() != 0 {
		t.Errorf("a closed batch has %d bytes", batch.Bytes())
	}
	if _, err := d.Start([][]vocab.ID{{6}}); err != nil {
		t.Errorf("the last id of the vocabulary: %v", err)
	}
}
