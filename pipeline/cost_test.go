package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/training"
)

// of is a batch of rows without padding.
func of(rows, source, target int) batch.Batch {
	return batch.Batch{
		Rows: rows, Examples: rows, SourceLength: source, TargetLength: target,
		Source: slices.Repeat([]vocab.ID{3}, rows*source), Target: slices.Repeat([]vocab.ID{4}, rows*target),
	}
}

// Memory is that of the typical or of the largest batch, whichever needs more, and operations are those of the typical one.
func TestCountOfTwoBatches(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	shallow := m.Run.Model.Value.(experiment.EncoderDecoder)
	shallow.Halting.Value = halting.Fixed{Steps: 1}
	graph := shallow.Build(m.Vocabularies, 1)
	count := func(typical, largest batch.Batch) Estimate {
		t.Helper()
		e := Estimate{Batches: 3}
		if _, err := e.count(m.Run, graph, typical, largest); err != nil {
			t.Fatal(err)
		}
		return e
	}
	typical := of(4, 6, 5)
	alone := count(typical, typical)
	for _, other := range []batch.Batch{of(9, 6, 5), of(4, 14, 5), of(4, 6, 15), of(1, 2, 2)} {
		got := count(typical, other)
		if more := float64(got.WorkBytes) / float64(alone.WorkBytes); other.Rows > 1 && more < 1.2 || other.Rows == 1 && math.Abs(more-1) > 0.05 {
			t.Errorf("with a batch of %d rows of %d and %d positions the work needs %v times the memory", other.Rows, other.SourceLength, other.TargetLength, more)
		}
		if got.WorkBytes = alone.WorkBytes; got != alone {
			t.Errorf("with a batch of %d rows of %d and %d positions: %+v, want %+v", other.Rows, other.SourceLength, other.TargetLength, got, alone)
		}
	}
}

// A measurement makes at least two updates, for at least the time that is given, with as many rows as 4e10 operations a second allow, but at
// least one; it ends with its context.
func TestMeasuredUpdates(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e := Estimate{Batches: 1, Ranks: 1, Operations: 8e9, Updates: 10}
	measure := func(ctx context.Context, o EstimateOptions, perRow float64, rows int) (*Speed, error) {
		b := of(4, 3, 3)
		b.Source, b.Target = b.Source[:rows*3], b.Target[:rows*3] // the others are not used
		return e.measure(ctx, m.backend, m.Run, m.trained, training.Cost{Operations: 4 * perRow}, b, o)
	}
	for _, c := range []struct {
		time   time.Duration
		perRow float64
		rows   int
	}{{time.Nanosecond, 1e9, 1}, {time.Nanosecond, 12, 3}, {20 * time.Millisecond, 1, 4}} { // 40 operations are 3 rows of 12
		told := 0
		o := EstimateOptions{Measure: c.time, Progress: func(elapsed, whole time.Duration) {
			if told++; whole != c.time || elapsed <= 0 {
				t.Errorf("after %v of %v", elapsed, whole)
			}
		}}
		s, err := measure(t.Context(), o, c.perRow, c.rows)
		if err != nil {
			t.Fatal(err)
		}
		if s.MeasuredRows != c.rows || s.MeasuredUpdates != told || s.MeasuredSeconds < c.time.Seconds() || told < 2 || c.time == time.Nanosecond && told > 2 {
			t.Errorf("%+v: %+v, told %d times", c, s, told)
		}
		rate := c.perRow * float64(c.rows*told) / s.MeasuredSeconds
		if d := s.OperationsPerSecond/rate - 1; d < -1e-9 || d > 1e-9 {
			t.Errorf("%+v: %v operations a second, want %v", c, s.OperationsPerSecond, rate)
		}
	}
	if _, err := measure(t.Context(), EstimateOptions{Measure: 1}, 1, 4); err != nil { // nobody is told
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if s, err := measure(ended, EstimateOptions{Measure: 1}, 1, 4); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%+v, %v", s, err)
	}
	b := e
	b.Batches = 0
	if _, err := b.measure(t.Context(), m.backend, m.Run, m.trained, training.Cost{Operations: 4}, batch.Batch{Rows: 4, SourceLength: 2000, Source: make([]vocab.ID, 8000)}, EstimateOptions{Measure: 1}); err == nil {
		t.Error("a batch without targets is measured")
	}
}

// What is not asked for is not estimated; a configuration counts one batch and one rank where it says nothing.
func TestEstimateOfWhatIsAsked(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	r := m.Run
	r.Training.Accumulate = 0
	e, err := NewEstimate(t.Context(), m.backend, r, EstimateOptions{Assumed: Assumed{Vocabulary: 12, Length: 4}})
	if err != nil || e.Batches != 1 || e.Ranks != 1 || e.Stated != nil || e.Measured != nil || e.ExchangeSeconds != 0 || !e.Adaptive {
		t.Errorf("%+v, %v", e, err)
	}
	if e.Experiment != "copier" || e.Model != m.Describe() || e.Updates != 4000 || e.Parameters != m.Parameters() {
		t.Errorf("%+v of %d parameters", e, m.Parameters())
	}
	slow, err := NewEstimate(t.Context(), m.backend, r, EstimateOptions{Assumed: Assumed{Vocabulary: 12, Length: 4}, FLOPS: 0.5})
	if err != nil || slow.Stated == nil || slow.Stated.OperationsPerSecond != 0.5 {
		t.Errorf("at half an operation a second: %+v, %v", slow.Stated, err)
	}
	if _, err := NewEstimate(t.Context(), m.backend, r, EstimateOptions{Assumed: Assumed{Vocabulary: 12, Length: 4}, Ranks: -1}); err == nil {
		t.Error("-1 ranks are estimated")
	}
	r.Training.Steps = -1
	_, err = NewEstimate(t.Context(), m.backend, r, EstimateOptions{Assumed: Assumed{Vocabulary: 12, Length: 4}})
	refused(t, "a configuration with an error", err, "training.steps is -1")
}
