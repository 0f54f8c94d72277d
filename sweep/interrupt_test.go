package sweep

import (
	"context"
	"errors"
	"testing"
)

// A cell whose context ends while its data are read is interrupted, like one that ends while it trains, and runs later. The clock may be left out.
// Caught when planted: the error of the context, and a cell that counts as ended.
func TestInterruptWhileReading(t *testing.T) {
	cells := smallCells(t, t.TempDir())[:1]
	ctx, cancel := context.WithCancel(context.Background())
	run, got := runner(1)
	run.Now = nil
	run.Log = func(string) { cancel() } // the cell starts
	if err := run.Run(ctx, cells); !errors.Is(err, ErrInterrupted) || err.Error() != "interrupted" || got["one-seed4"].Err != ErrInterrupted {
		t.Errorf("%v, the cell: %v", err, got["one-seed4"].Err)
	}
	run.Log = nil
	if err := run.Run(context.Background(), cells); err != nil || got["one-seed4"].Result.Step != 60 {
		t.Errorf("%v, %d updates", err, got["one-seed4"].Result.Step)
	}
}
