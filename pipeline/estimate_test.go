package pipeline_test

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/pipeline"
)

// assumedRun is an experiment whose data are not there: 8 rows of 10 tokens, 3 batches an update.
func assumedRun(t *testing.T, sets ...string) experiment.Run {
	t.Helper()
	r, err := recipes.MustRun("own-translation").Set(append([]string{
		"model.width=12", "model.embedding_width=0", "model.heads=3", "model.transition.feedforward.filter=20", "model.halting.fixed.steps=4", "model.shared_embedding=false",
		"model.tied_readout=false", "model.pre_norm=false", `training.batch={"rows": 8, "boundaries": [10, 20]}`, "training.accumulate=3", "training.steps=50", "training.muon=0",
	}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func estimate(t *testing.T, r experiment.Run, o pipeline.EstimateOptions) pipeline.Estimate {
	t.Helper()
	e, err := pipeline.NewEstimate(context.Background(), enginetest.Backend(t), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Sizes by hand: two tables of 50 tokens, an encoder, a decoder, a readout, and the products of each.
func TestEstimate(t *testing.T) {
	const d, f, steps, v, rows, m, n = 12, 20, 4, 50, 8, 10, 10
	o := pipeline.EstimateOptions{Assumed: pipeline.Assumed{Vocabulary: v, Length: 10}, FLOPS: 1e9}
	e := estimate(t, assumedRun(t), o)
	if e.Rows != rows || e.Source != m || e.Target != n || e.Batches != 3 || e.Updates != 50 {
		t.Fatalf("%d rows of %d and %d positions, %d batches, %d updates", e.Rows, e.Source, e.Target, e.Batches, e.Updates)
	}
	const transition = d*f + f + f*d + d
	if want := 2*v*d + (4*d*d + transition + 4*d) + (8*d*d + transition + 6*d) + d*v; e.Parameters != want || e.ModelBytes != 4*want {
		t.Errorf("%d parameters of %d bytes, want %d", e.Parameters, e.ModelBytes, want)
	}
	forward := rows * (steps*m*(4*d*d+2*m*d+2*d*f) + 2*m*d*d + steps*n*(6*d*d+2*n*d+2*m*d+2*d*f) + n*d*v)
	if want := 3. * 3 * 2 * float64(forward); e.Operations != want {
		t.Errorf("%v operations an update, want %v", e.Operations, want)
	}
	if s := e.Stated; s == nil || !near(s.Seconds, e.Operations*50/1e9) || !near(s.UpdatesPerSecond, 1e9/e.Operations) || e.Measured != nil {
		t.Errorf("at 1e9 operations a second: %+v; measured %+v", s, e.Measured)
	}

	// Three ranks take a batch each: two thirds of the gradients go out once, the sums of a third once more to two others.
	o.Ranks, o.Network = 3, 1e6
	shared := estimate(t, assumedRun(t), o)
	if want := 2 * 2. / 3 * float64(e.ModelBytes) * 8 / 1e6; !near(shared.ExchangeSeconds, want) {
		t.Errorf("three ranks exchange for %v s, want %v", shared.ExchangeSeconds, want)
	}
	if want := 50 * (e.Operations/3/1e9 + shared.ExchangeSeconds); !near(shared.Stated.Seconds, want) {
		t.Errorf("three ranks take %v s, want %v", shared.Stated.Seconds, want)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

// A measurement says what it is of, and time follows from it.
func TestEstimateMeasures(t *testing.T) {
	said := 0
	o := pipeline.EstimateOptions{Assumed: pipeline.Assumed{Vocabulary: 50, Length: 10}, Measure: time.Millisecond, Progress: func(_, _ time.Duration) { said++ }}
	e := estimate(t, assumedRun(t), o)
	s := e.Measured
	if s == nil || s.MeasuredUpdates < 2 || s.MeasuredUpdates != said || s.MeasuredRows < 1 || s.MeasuredRows > 8 {
		t.Fatalf("measured %+v, said %d times", s, said)
	}
	perRow := e.Operations / 3 / 8
	if rate := perRow * float64(s.MeasuredRows*s.MeasuredUpdates) / s.MeasuredSeconds; !near(s.OperationsPerSecond, rate) || !near(s.Seconds, 50*e.Operations/rate) {
		t.Errorf("%+v, want %v operations a second", s, rate)
	}
}

// Without data the configuration says how many sub-words there are; what cannot be shared or assumed is refused by its flag.
func TestEstimateWithoutData(t *testing.T) {
	e := estimate(t, assumedRun(t, "task.tokenizer_size=300"), pipeline.EstimateOptions{})
	if e.Assumed == nil || e.Assumed.Vocabulary != 300 || e.Source != 32 {
		t.Errorf("assumed %+v, %d positions", e.Assumed, e.Source)
	}
	read := estimate(t, recipes.MustRun("demo"), pipeline.EstimateOptions{})
	if read.Assumed != nil || read.Rows != 64 || read.Source != 16 || !read.Adaptive {
		t.Errorf("the demo's data are made, not assumed: %+v", read)
	}
	for _, name := range []string{"lambada/reading", "agreement/natural-classes", "own-text", "babi-10k-single/task01"} { // of every kind
		r := recipes.MustRun(name)
		e := estimate(t, r, pipeline.EstimateOptions{Assumed: pipeline.Assumed{Vocabulary: 30, Length: 8}})
		if e.Assumed == nil || e.Parameters < 30*r.Model.Value.Channels() || !(e.Operations > 0) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	pairs, err := experiment.Defaults().Set("task.table.path=nothing.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		run  experiment.Run
		o    pipeline.EstimateOptions
		says string
	}{
		{assumedRun(t), pipeline.EstimateOptions{Ranks: 2, Network: 1}, "ranks is 2, which does not divide training.accumulate, 3"},
		{pairs, pipeline.EstimateOptions{}, "needs assumptions about them: vocabulary and length"},
		{pairs, pipeline.EstimateOptions{Assumed: pipeline.Assumed{Length: 9}}, "length requires vocabulary"},
		{pairs, pipeline.EstimateOptions{Assumed: pipeline.Assumed{Vocabulary: 3}}, "vocabulary is 3"},
	} {
		if _, err := pipeline.NewEstimate(context.Background(), enginetest.Backend(t), c.run, c.o); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v, want it to say %q", err, c.says)
		}
	}
}

// A run without a model is refused as training refuses it. Caught when planted: its model described before it is validated.
func TestEstimateOfNothing(t *testing.T) {
	want := experiment.Run{}.Validate()
	if _, err := pipeline.NewEstimate(t.Context(), enginetest.Backend(t), experiment.Run{}, pipeline.EstimateOptions{}); err == nil || err.Error() != want.Error() {
		t.Errorf("%v, want %v", err, want)
	}
}

// The shortest measurement is of two updates of one row; a longer one is of as many rows as 4e10 operations a second allow. Any speed can be
// stated, and a run without accumulation has one batch an update.
// Caught when planted: three updates; all rows; speeds above one only.
func TestShortestMeasurement(t *testing.T) {
	assumed := pipeline.Assumed{Vocabulary: 50, Length: 10}
	e := estimate(t, assumedRun(t), pipeline.EstimateOptions{Assumed: assumed, Measure: 1, FLOPS: 0.5})
	if s := e.Measured; s == nil || s.MeasuredUpdates != 2 || s.MeasuredRows != 1 || e.Stated == nil || e.Stated.OperationsPerSecond != 0.5 {
		t.Errorf("measured %+v, stated %+v", s, e.Stated)
	}
	perRow := e.Operations / 3 / 8
	enough := time.Duration(3.5 * perRow / 4e10 * 1e9) // for three rows and a half
	if s := estimate(t, assumedRun(t), pipeline.EstimateOptions{Assumed: assumed, Measure: enough}).Measured; s == nil || s.MeasuredRows != 3 {
		t.Errorf("in %v, measured %+v", enough, s)
	}
	if alone := estimate(t, assumedRun(t, "training.accumulate=0"), pipeline.EstimateOptions{Assumed: assumed}); alone.Batches != 1 || alone.Ranks != 1 || alone.Measured != nil || alone.Stated != nil {
		t.Errorf("%+v", alone)
	}
}
