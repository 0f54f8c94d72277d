package training_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/score"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// watched positions report every draw.
type watched struct {
	universal.Positions
	drawn func()
}

func (w watched) Draw(rng *rand.Rand, length int) []int32 {
	w.drawn()
	return w.Positions.Draw(rng, length)
}

// decodes gives a trainer a measure of decoded answers.
func decodes(tr *training.Trainer) *training.Trainer {
	tr.Decoded = func(ctx context.Context, _ *model.Store) ([]score.Metric, error) {
		return []score.Metric{score.Figure("measure", 3)}, ctx.Err()
	}
	return tr
}

// endInside makes a trainer call cancel in the validation after an update, at the draw of a row, counted from 1, or, for row 0, before
// answers are decoded. It counts the rows that this validation draws.
func endInside(tr *training.Trainer, after int64, row int, cancel func()) (rows *int) {
	rows = new(int)
	validating := tr.From != nil && tr.From.Step == after
	inner := tr.Positions.Positions
	if w, ok := inner.(watched); ok { // of an earlier start
		inner = w.Positions
	}
	tr.Positions.Positions = watched{inner, func() {
		if !validating {
			return
		}
		if *rows++; *rows == row {
			cancel()
		}
	}}
	tr.OnProgress = func(p training.Progress) { validating = p.Step == after }
	measure := decodes(tr).Decoded
	tr.Decoded = func(ctx context.Context, s *model.Store) ([]score.Metric, error) {
		if validating && row == 0 {
			cancel()
		}
		return measure(ctx, s)
	}
	return rows
}

// drawnUntil is how many of 24 rows, in batches of 4, a validation draws that is told to end at a row.
func drawnUntil(row int) int {
	if row == 0 {
		return 24
	}
	return (row + 3) / 4 * 4
}

// The end of the context ends a validation between two batches, and in decoding. The update before it is saved, with the plans of before,
// and the run that continues makes the validation: it comes to the bits, rows and plans of one that was left alone, also if it is
// interrupted in the same validation again, or in the last one.
// Caught when planted: a context that batches do not get; plans of a validation that did not end; such a validation that is not due any
// more.
func TestInterruptInsideAValidation(t *testing.T) {
	begun := func(tr *training.Trainer) *training.Trainer {
		tr.PlanFreely()
		return decodes(tr)
	}
	alone := begun(trainer(t, config(17)))
	want := finish(t, alone)
	type stop struct {
		after int64
		row   int
	}
	for _, stops := range [][]stop{{{5, 10}, {10, 0}, {10, 1}, {17, 10}}, {{15, 0}, {17, 0}}} {
		tr, total := begun(trainer(t, config(17))), 0
		for _, s := range stops {
			ctx, cancel := context.WithCancel(t.Context())
			rows := endInside(tr, s.after, s.row, cancel)
			report, err := tr.Run(ctx)
			if err != nil || report.Stopped != "interrupted" || report.Step != s.after || *rows != drawnUntil(s.row) {
				t.Fatalf("%+v: stopped at update %d because of %q after %d rows, %v", s, report.Step, report.Stopped, *rows, err)
			}
			if step, _ := tensorsOf(t, tr); step != s.after {
				t.Errorf("%+v: the last checkpoint is of update %d", s, step)
			}
			if total = validations(t, tr); total != int(s.after-1)/5 {
				t.Errorf("%+v: %d validations in the metrics", s, total)
			}
			tr = begun(resumed(t, tr))
		}
		if err := want.equal(finish(t, tr)); err != nil {
			t.Errorf("%+v: %v", stops, err)
		}
		if got, want := stateOf(t, tr), stateOf(t, alone); got != want {
			t.Errorf("%+v keeps\n%s\nalone\n%s", stops, got, want)
		}
	}
}

// All ranks stop where rank 0, which validates, is interrupted. If another rank is, meanwhile, all stop after the next update. The run
// goes on, with any number of ranks, to the bits of one that was left alone.
// Caught when planted: other ranks that go on with the next update; plans of a validation that did not end kept by rank 0.
func TestRanksStopInsideAValidation(t *testing.T) {
	m := universal.EncoderDecoder{Config: tiny()}
	want, state := finishTogether(t, decodes(leader(t, m)), 1)
	tr := leader(t, m)
	for _, s := range []struct {
		ranks, told int
		after       int64
		row         int
		stop        int64
	}{{2, 0, 5, 10, 5}, {4, 0, 10, 0, 10}, {2, 1, 10, 1, 11}, {2, 0, 13, 1, 13}} {
		cancels := make([]func(), s.ranks)
		reports, errs := together(t, tr, s.ranks, func(rank int, tr *training.Trainer, cancel func()) {
			if cancels[rank] = cancel; rank == 0 {
				endInside(tr, s.after, s.row, func() { cancels[s.told]() })
			}
		})
		for rank := range errs {
			if errs[rank] != nil || reports[rank].Stopped != "interrupted" || reports[rank].Step != s.stop {
				t.Fatalf("%+v: rank %d ended with %+v, %v", s, rank, reports[rank], errs[rank])
			}
		}
		tr = resumed(t, tr)
		feedWith(t, tr, copying(11), ragged)
	}
	got, kept := finishTogether(t, decodes(tr), 1)
	if err := want.equal(got); err != nil {
		t.Error(err)
	}
	if kept != state {
		t.Errorf("it keeps\n%s\nnot\n%s", kept, state)
	}
}
