package tabular

import (
	"slices"
	"testing"
)

// A row at a share itself is on the far side of it.
// Caught when planted: a bound that is included; the two shares exchanged.
func TestSplit(t *testing.T) {
	const unit = 1 << 63 // half of all hashes
	rows := []uint64{0, unit/4 - 1<<20, unit / 4, unit/2 - 1<<20, unit / 2, unit, 1<<64 - 1}
	toTrain, toValidate, toEvaluate := Split(rows, func(h uint64) uint64 { return h }, 0.125, 0.25)
	if !slices.Equal(toValidate, rows[:2]) || !slices.Equal(toEvaluate, rows[2:4]) || !slices.Equal(toTrain, rows[4:]) {
		t.Errorf("training %v, validation %v, evaluation %v", toTrain, toValidate, toEvaluate)
	}
	if toTrain, toValidate, toEvaluate = Split(rows, func(h uint64) uint64 { return h }, 0.5, 0.5); len(toValidate) != 5 || len(toEvaluate) != 0 || len(toTrain) != 2 {
		t.Errorf("equal shares: training %v, validation %v, evaluation %v", toTrain, toValidate, toEvaluate)
	}
}
