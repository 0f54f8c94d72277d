package training_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// eventsOf is the events of a run that have values.
func eventsOf(t *testing.T, tr *training.Trainer) (list []tensorboard.Event) {
	t.Helper()
	all, err := tr.Log.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if len(e.Scalars) > 0 {
			list = append(list, e)
		}
	}
	return list
}

// value is the number with a tag.
func value(e tensorboard.Event, tag string) float64 {
	for _, s := range e.Scalars {
		if s.Tag == tag {
			return float64(s.Value)
		}
	}
	return math.NaN()
}

// Every row of metrics has an event with the same figures, and those of updates say how fast they were.
// Caught when planted: an event of the step before, a figure left out, training and validation exchanged.
func TestEventsAreTheMetrics(t *testing.T) {
	tr := trainer(t, config(13))
	run(t, tr)
	events, rows := eventsOf(t, tr), metrics(t, tr)
	if len(events) != len(rows) || len(rows) != 5+3 {
		t.Fatalf("%d events, %d rows", len(events), len(rows))
	}
	seconds, logged := 0.0, int64(0)
	for i, row := range rows {
		if age := float64(time.Now().Unix()) - events[i].Time; math.Abs(age) > 900 {
			t.Errorf("step %d: the event is %v seconds old", row.Step(), age)
		}
		split := row["split"].(string)
		names := []string{"loss", "cross_entropy", "token_accuracy", "sequence_accuracy", "encoder_ponder", "decoder_ponder"}
		further := 1 // seconds
		if split == "training" {
			names = append(names, "learning_rate", "gradient_norm")
			further = 4
			for _, tag := range []string{"speed/tokens_per_second", "speed/updates_per_second", "speed/compile_share"} {
				if v := value(events[i], tag); !(v > 1e-4) {
					t.Errorf("step %d: %s is %v", row.Step(), tag, v)
				}
			}
			tokens, _ := row.Number("tokens")
			updates := float64(row.Step() - logged)
			if got := value(events[i], "speed/tokens_per_second") / value(events[i], "speed/updates_per_second"); math.Abs(got-tokens/updates) > 1e-5*got {
				t.Errorf("step %d: %v tokens per update, want %v of %v", row.Step(), got, tokens, updates)
			}
			logged = row.Step()
		}
		for _, name := range names {
			want, _ := row.Number(name)
			if got := value(events[i], split+"/"+name); math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("step %d: %s/%s is %v, want %v", row.Step(), split, name, got, want)
			}
		}
		if len(events[i].Scalars) != len(names)+further || events[i].Step != row.Step() {
			t.Errorf("event of step %d: %+v, want that of step %d with %d scalars", events[i].Step, events[i].Scalars, row.Step(), len(names)+further)
		}
		if now := value(events[i], runlog.SecondsTag); !(now > seconds) {
			t.Errorf("%v seconds of training after %v", now, seconds)
		} else {
			seconds = now
		}
	}
}

// A run that is interrupted or dies, and continues, has the events of one that was left alone.
func TestResumedEvents(t *testing.T) {
	steps := func(tr *training.Trainer) (list []string) {
		for _, e := range eventsOf(t, tr) {
			list = append(list, fmt.Sprintf("%d %.6g", e.Step, value(e, "training/loss")))
		}
		return list
	}
	whole := trainer(t, config(13))
	run(t, whole)
	ctx, stop := context.WithCancel(t.Context())
	dead := trainer(t, config(13))
	dead.OnProgress = func(p training.Progress) {
		if p.Step == 10 { // after the checkpoint of update 8
			stop()
		}
	}
	if _, err := dead.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dead.Log.Dir(), "checkpoints", "step-000000010.safetensors")); err != nil {
		t.Fatal(err)
	}
	again := resumed(t, dead)
	run(t, again)
	if got, want := steps(again), steps(whole); !slices.Equal(got, want) {
		t.Errorf("%v\nwant\n%v", got, want)
	}
}

// Events and pictures change no bit of a run, whatever pictures compute. Without events there are no files; scalars come without pictures. Errors
// are reported once, and training continues.
// Caught when planted: pictures that draw a random number from the store, an error that ends training.
func TestEventsChangeNothing(t *testing.T) {
	picture := []tensorboard.Image{{Tag: "attention/encoder", Width: 1, Height: 1, PNG: []byte("png")}}
	for _, c := range []struct {
		events   string
		err      error
		calls    int
		pictures int
		files    int
	}{{"", nil, 3, 3, 1}, {schedule.ScalarEvents, nil, 0, 0, 1}, {schedule.NoEvents, nil, 0, 0, 0}, {"", errors.New("no memory"), 1, 0, 1}} {
		want := finish(t, trainer(t, config(13)))
		settings := config(13)
		settings.Events = c.events
		tr := trainer(t, settings)
		calls, notes, pictures := 0, 0, 0
		tr.Pictures = func(store *model.Store, step int64) ([]tensorboard.Image, error) {
			calls++
			if step%5 != 0 && step != 13 || store == nil {
				t.Errorf("a picture of step %d", step)
			}
			return picture, c.err
		}
		tr.Notify = func(line string) {
			if strings.Contains(line, "no more pictures are drawn for TensorBoard: no memory") {
				notes++
			}
		}
		if err := finish(t, tr).equal(want); err != nil {
			t.Errorf("events %q: %v", c.events, err)
		}
		for _, e := range eventsOf(t, tr) {
			pictures += len(e.Images)
		}
		files, _ := filepath.Glob(filepath.Join(tr.Log.Dir(), "events*"))
		if calls != c.calls || pictures != c.pictures || len(files) != c.files || (notes == 1) != (c.err != nil) {
			t.Errorf("events %q, %v: %d calls, %d pictures, files %v, %d notes", c.events, c.err, calls, pictures, files, notes)
		}
	}
}

// A file that cannot be made costs the events, not the run.
// Caught when planted: an error that ends training.
func TestEventsThatCannotBeWritten(t *testing.T) {
	want, tr := finish(t, trainer(t, config(13))), trainer(t, config(13))
	earlier := tensorboard.Event{Scalars: []tensorboard.Scalar{{Tag: "a", Value: 1}}}
	err := errors.Join(os.WriteFile(filepath.Join(tr.Log.Dir(), "events.out.tfevents.9999999999"), earlier.Record(), 0o600),
		os.Mkdir(filepath.Join(tr.Log.Dir(), "events.out.tfevents.10000000000"), 0o700)) // the name of the next file
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	tr.Notify = func(line string) {
		if strings.Contains(line, "events") {
			notes = append(notes, line)
		}
	}
	if err := finish(t, tr).equal(want); err != nil {
		t.Error(err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "no more events are written for TensorBoard: open ") {
		t.Errorf("notes %q", notes)
	}
}
