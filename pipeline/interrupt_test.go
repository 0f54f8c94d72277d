package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// endsWhenAsked is a context that ends when it is asked for the n-th time after left was set to n.
type endsWhenAsked struct {
	context.Context
	cancel context.CancelFunc
	left   atomic.Int64
}

func (c *endsWhenAsked) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// The end of the context ends the decoding of a validation between two tokens. The update before it is saved, no row of metrics is
// written, and the run that continues has the checkpoint and the metrics of one that was left alone.
// Caught when planted: decoding that goes on when its context has ended.
func TestInterruptWhileAValidationDecodes(t *testing.T) {
	r := brief(t, pairs())
	r.Training.Decoded = 4
	alone, dir := filepath.Join(t.TempDir(), "alone"), filepath.Join(t.TempDir(), "interrupted")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, alone, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	inner, cancel := context.WithCancel(t.Context())
	ctx := &endsWhenAsked{Context: inner, cancel: cancel}
	summary, err := pipeline.Train(ctx, enginetest.Backend(t), r, dir, pipeline.Callbacks{Progress: func(p training.Progress) {
		if p.Step == 4 {
			ctx.left.Store(12) // once before the validation, once before its batch, twice for each token
		}
	}})
	if err != nil || summary.Stopped != "interrupted" || summary.Step != 4 || ctx.left.Load() > 0 {
		t.Fatalf("%+v, %v, %d calls left", summary, err, ctx.left.Load())
	}
	rows := func(dir string) string {
		data, err := os.ReadFile(filepath.Join(dir, "metrics.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if n := strings.Count(rows(dir), `"split":"validation"`); n != 1 {
		t.Errorf("%d validations in the metrics after an interruption in the second", n)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	if got, want := rows(dir), rows(alone); got != want || strings.Count(want, "decoded_") == 0 {
		t.Errorf("the metrics are\n%s\nalone\n%s", got, want)
	}
	got, want := lastCheckpoint(t, dir), lastCheckpoint(t, alone)
	if !reflect.DeepEqual(got.Tensors, want.Tensors) {
		t.Error("the checkpoint is not that of the run that was left alone")
	}
}
