package sweep

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"universal-transformer/training"
)

// 100 updates in 50 seconds are 2 a second, so 300 that are left take 150 seconds; but a run that alone makes half an update a
// second and has 200 of them left takes 400. Updates of runs that were begun before are not counted.
func TestEstimate(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	e := newEstimate(start, 4)
	e.finish("done before")
	for _, name := range []string{"a", "b", "c"} {
		e.add(name, 200)
	}
	if p := e.progress(at(10)); p != (Progress{Done: 1, Cells: 4}) {
		t.Errorf("before the first update: %+v", p)
	}
	for i := range 100 {
		e.update("a", training.Progress{Step: int64(i + 101), Steps: 200}, at(i/2))
	}
	e.finish("a")
	e.runs["b"].left = 100
	if p := e.progress(at(50)); p != (Progress{Done: 2, Cells: 4, Updates: 100, Rate: 2, Left: 150 * time.Second}) {
		t.Errorf("%+v", p)
	}
	e.update("b", training.Progress{Step: 1, Steps: 202}, at(50))
	e.update("b", training.Progress{Step: 2, Steps: 202}, at(52))
	if p := e.progress(at(52)); p.Left != 400*time.Second {
		t.Errorf("%+v", p)
	}
}

// No time is left for updates that a failed run will not make; an interrupted run goes on.
// Caught when planted: failed runs kept, interrupted ones removed, failed ones counted as done.
func TestEstimateWithoutFailedRuns(t *testing.T) {
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		err  error
		left time.Duration
	}{{errors.New("a loss of NaN"), 0}, {fmt.Errorf("saved: %w", ErrInterrupted), 99 * time.Second}} {
		var last Progress
		w := work{Runner: Runner{Now: func() time.Time { return start.Add(time.Second) }, Progress: func(p Progress) { last = p }}, estimate: newEstimate(start, 2)}
		cell := Cell{Recipe: "a"}
		w.estimate.add(cell.Name(), 100)
		w.estimate.update(cell.Name(), training.Progress{Step: 1, Steps: 100}, start)
		w.finished(Outcome{Cell: cell, Err: c.err})
		if last != (Progress{Cells: 2, Updates: 1, Rate: 1, Left: c.left}) {
			t.Errorf("after %v: %+v", c.err, last)
		}
	}
}

// A time longer than a duration can be is the longest duration. Caught when planted: a conversion that overflows.
func TestEstimateForEver(t *testing.T) {
	start := time.Unix(1000, 0)
	e := newEstimate(start, 1)
	e.add("a", math.MaxInt64)
	e.update("a", training.Progress{Step: 1, Steps: math.MaxInt64}, start)
	if p := e.progress(start.Add(time.Second)); p.Left != math.MaxInt64 {
		t.Errorf("%v are left", p.Left)
	}
}
