package runlog_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
)

func event(step int64) tensorboard.Event {
	return tensorboard.Event{Time: 1.7e9 + float64(step), Step: step, Scalars: []tensorboard.Scalar{{Tag: "training/loss", Value: 1 / float32(step)}}}
}

func appendEvents(t *testing.T, r *runlog.Run, steps ...int64) {
	t.Helper()
	for _, s := range steps {
		if err := r.AppendEvent(event(s)); err != nil {
			t.Fatal(err)
		}
	}
}

// eventFiles are the names of the event files.
func eventFiles(t *testing.T, r *runlog.Run) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(r.Dir(), "events.out.tfevents.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

// values are the steps of the events with values; restarts are those at which processes began to write.
func values(t *testing.T, r *runlog.Run) (steps, restarts []int64) {
	t.Helper()
	all, err := r.Events()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if len(e.Scalars) > 0 {
			steps = append(steps, e.Step)
			if !reflect.DeepEqual(e, event(e.Step)) {
				t.Errorf("step %d is %+v", e.Step, e)
			}
		}
		if e.Restart {
			restarts = append(restarts, e.Step)
		}
	}
	return steps, restarts
}

// Events come back in order; a run that is resumed writes a new file, which repeats nothing of the earlier ones. A file that holds nothing more
// is removed.
// Caught when planted: later events that stay, the event of the step itself that goes, a new file that TensorBoard reads before an older one,
// a restart at the step before.
func TestEvents(t *testing.T) {
	r := create(t)
	if steps, _ := values(t, r); len(steps) != 0 || len(eventFiles(t, r)) != 0 {
		t.Errorf("a new run has events %v in %v", steps, eventFiles(t, r))
	}
	appendEvents(t, r, 2, 4, 4, 6, 8)
	r = reopen(t, r)
	if err := r.Truncate(4); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, r, 5, 6, 7)
	for range 2 { // within the same second
		r = reopen(t, r)
		if err := r.Truncate(6); err != nil {
			t.Fatal(err)
		}
		appendEvents(t, r, 7)
	}
	if steps, restarts := values(t, r); !slices.Equal(steps, []int64{2, 4, 4, 5, 6, 7}) || !slices.Equal(restarts, []int64{2, 5, 7}) {
		t.Errorf("steps %v, restarts %v", steps, restarts)
	}
	names := eventFiles(t, r)
	if len(names) != 3 || !slices.IsSorted(names) {
		t.Errorf("files %v", names)
	}
	if err := r.Truncate(0); err != nil || len(eventFiles(t, r)) != 0 {
		t.Errorf("%v, files %v", err, eventFiles(t, r))
	}
}

// A writer that was killed within an event leaves its beginning, and a damaged one hides those after it. The rest is read, and a resume
// leaves it alone.
func TestEventsOfKilledWriter(t *testing.T) {
	r := create(t)
	appendEvents(t, r, 1, 2, 3)
	path := filepath.Join(r.Dir(), eventFiles(t, r)[0])
	whole := content(t, path)
	for name, damaged := range map[string]string{"cut": whole[:len(whole)-5], "damaged": whole[:len(whole)-5] + "x" + whole[len(whole)-4:]} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if steps, _ := values(t, r); !slices.Equal(steps, []int64{1, 2}) {
			t.Errorf("%s: %v", name, steps)
		}
		r = reopen(t, r)
		if err := r.Truncate(7); err != nil {
			t.Fatal(err)
		}
		appendEvents(t, r, 8)
		if steps, _ := values(t, r); !slices.Equal(steps, []int64{1, 2, 8}) || content(t, path) != damaged {
			t.Errorf("%s, resumed: %v", name, steps)
		}
		if err := r.Truncate(2); err != nil {
			t.Fatal(err)
		}
	}
}

// Only a writer of the run writes events, and other files whose names begin alike are left alone.
func TestEventsOfReader(t *testing.T) {
	r := create(t)
	if err := os.Mkdir(filepath.Join(r.Dir(), "events.out.tfevents.folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	appendEvents(t, r, 1)
	reader, err := runlog.Open(r.Dir())
	if err != nil {
		t.Fatal(err)
	}
	if err := reader.AppendEvent(event(2)); err == nil || !strings.Contains(err.Error(), "open for reading") {
		t.Errorf("AppendEvent of a reader: %v", err)
	}
	if steps, _ := values(t, reader); !slices.Equal(steps, []int64{1}) {
		t.Errorf("a reader sees %v", steps)
	}
	if err := r.Truncate(0); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(r.Dir(), "events.out.tfevents.folder")); errors.Is(err, os.ErrNotExist) {
		t.Error("a folder was removed")
	}
}

// BenchmarkAppend writes what training writes for a line of metrics: the line, and its event.
func BenchmarkAppend(b *testing.B) {
	r, err := runlog.Create(filepath.Join(b.TempDir(), "run"), example)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	names := []string{
		"loss", "cross_entropy", "token_accuracy", "sequence_accuracy", "tokens", "sequences", "encoder_ponder", "decoder_ponder", "learning_rate", "gradient_norm",
		"seconds", "tokens_per_second", "updates_per_second", "compile_share",
	}
	row, e := map[string]any{"step": 1, "split": "training"}, tensorboard.Event{Step: 1, Time: 1}
	for i, name := range names {
		if i < 10 { // the others are in events only
			row[name] = 1 / float64(i+3)
		}
		e.Scalars = append(e.Scalars, tensorboard.Scalar{Tag: "training/" + name, Value: 1 / float32(i+3)})
	}
	for b.Loop() {
		if err := errors.Join(r.AppendMetrics(row), r.AppendEvent(e)); err != nil {
			b.Fatal(err)
		}
	}
}
