package curves_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"universal-transformer/internal/curves"
	"universal-transformer/internal/tensorboard"
	"universal-transformer/runlog"
)

// write writes rows of training and of validation at every fifth step, with events if asked.
func write(t *testing.T, log *runlog.Run, events bool, from, to int64) {
	t.Helper()
	for step := from; step <= to; step++ {
		for _, split := range []string{"training", "validation"} {
			if split == "validation" && step%5 != 0 {
				continue
			}
			if err := log.AppendMetrics(map[string]any{"step": step, "split": split, "loss": 1 / float64(step), "decoded_bleu": 2.5}); err != nil {
				t.Fatal(err)
			}
			e := tensorboard.Event{Step: step, Scalars: []tensorboard.Scalar{
				{Tag: split + "/loss", Value: 9}, {Tag: runlog.SecondsTag, Value: float32(step) / 2}, {Tag: "speed/tokens_per_second", Value: 1000},
			}}
			if events {
				if err := log.AppendEvent(e); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func create(t *testing.T) *runlog.Run {
	t.Helper()
	log, err := runlog.Create(filepath.Join(t.TempDir(), "run"), map[string]int{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	return log
}

// text is rows in a form to compare.
func text(rows []curves.Row) string {
	var list []string
	for _, r := range rows {
		seconds := "-"
		if r.Seconds != nil {
			seconds = fmt.Sprint(*r.Seconds)
		}
		list = append(list, fmt.Sprintf("%d%s@%s:%.2f", r.Step, r.Split[:1], seconds, r.Values["loss"]))
	}
	return strings.Join(list, " ")
}

// Rows have the figures of metrics.jsonl and the time and the speed of their events; runs of earlier versions have no events.
// Caught when planted: the time of the other split, the loss of the event in place of that of the row.
func TestRead(t *testing.T) {
	log := create(t)
	write(t, log, true, 4, 5)
	rows, err := curves.Read(log.Dir())
	if got, want := text(rows), "4t@2:0.25 5t@2.5:0.20 5v@2.5:0.20"; err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if names := curves.Names(rows); !reflect.DeepEqual(names, []string{"loss", "decoded_bleu", "tokens_per_second"}) {
		t.Errorf("names %v", names)
	}
	old := create(t)
	write(t, old, false, 4, 4)
	if rows, err := curves.Read(old.Dir()); err != nil || text(rows) != "4t@-:0.25" {
		t.Errorf("%s, %v", text(rows), err)
	}
	if _, err := curves.Read(t.TempDir()); err == nil {
		t.Error("an empty folder is read")
	}
}

// A follower gets every row once, also when the writer is killed within a line and resumes from an earlier step.
// Caught when planted: a reset that goes unnoticed when the file has grown beyond its earlier size, half a line that counts as read.
func TestFollow(t *testing.T) {
	log := create(t)
	f, err := curves.Follow(log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	next := func(what, want string, wantAgain bool) {
		t.Helper()
		rows, again, err := f.Next()
		if got := text(rows); err != nil || got != want || again != wantAgain {
			t.Errorf("%s: %s, %v, %v, want %s, %v", what, got, again, err, want, wantAgain)
		}
	}
	next("a new run", "", false)
	write(t, log, true, 3, 4)
	next("two rows", "3t@1.5:0.33 4t@2:0.25", false)
	next("nothing new", "", false)
	write(t, log, true, 6, 6)
	path := filepath.Join(log.Dir(), "metrics.jsonl")
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(`{"step":7,"spl`); err != nil {
		t.Fatal(err)
	}
	next("half a row after a whole one", "6t@3:0.17", false)
	if !f.InUse() {
		t.Error("the run is not in use")
	}
	log.Close()
	if f.InUse() {
		t.Error("the run is in use")
	}
	resume := func(step int64) {
		t.Helper()
		if log, err = runlog.Resume(log.Dir()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		if err := log.Truncate(step); err != nil {
			t.Fatal(err)
		}
	}
	resume(3)
	next("a reset", "3t@1.5:0.33", true)
	write(t, log, true, 4, 4)
	next("after it", "4t@2:0.25", false)
	log.Close()
	resume(0)
	write(t, log, true, 1, 4)
	next("a reset and more rows than before", "1t@0.5:1.00 2t@1:0.50 3t@1.5:0.33 4t@2:0.25", true)
}

// damage changes a text in metrics.jsonl that is there once.
func damage(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, "metrics.jsonl")
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), from) != 1 {
		t.Fatalf("%q is there %d times, %v", from, strings.Count(string(content), from), err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(content), from, to, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Of damaged metrics the rows before the damage are read, by a follower once, until the file is as it was; events that cannot be read leave rows
// without times.
// Caught when planted: no rows at all; all rows at every look; the damage named once only.
func TestDamaged(t *testing.T) {
	log := create(t)
	write(t, log, true, 1, 3)
	f, err := curves.Follow(log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	next := func(what, want string, wantAgain, wantDamage bool) {
		t.Helper()
		rows, again, err := f.Next()
		if got := text(rows); errors.Is(err, runlog.ErrDamaged) != wantDamage || err != nil && !wantDamage || got != want || again != wantAgain {
			t.Errorf("%s: %s, %v, %v, want %s, %v", what, got, again, err, want, wantAgain)
		}
	}
	damage(t, log.Dir(), `"step":3`, `"step":4`)
	rows, err := curves.Read(log.Dir())
	if got, want := text(rows), "1t@0.5:1.00 2t@1:0.50"; !errors.Is(err, runlog.ErrDamaged) || !strings.Contains(err.Error(), "metrics.jsonl:4: ") || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	next("damaged from the start", "1t@0.5:1.00 2t@1:0.50", false, true)
	next("the same again", "", false, true)
	damage(t, log.Dir(), `"step":4`, `"step":3`)
	next("repaired", "3t@1.5:0.33", false, false)
	damage(t, log.Dir(), `"step":2`, `"step":9`)
	next("no look at rows that were read", "", false, false)
	write(t, log, true, 4, 4)
	damage(t, log.Dir(), `"step":4`, `"step":5`)
	next("damage before and behind", "1t@0.5:1.00", true, true)
	events, err := filepath.Glob(filepath.Join(log.Dir(), "events.*"))
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	damage(t, log.Dir(), `"step":9`, `"step":2`)
	if err := errors.Join(os.Remove(events[0]), os.WriteFile(events[0], []byte("no events"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if rows, err := curves.Read(log.Dir()); !errors.Is(err, runlog.ErrDamaged) || text(rows) != "1t@-:1.00 2t@-:0.50 3t@-:0.33" {
		t.Errorf("%s, %v", text(rows), err)
	}
}

// A row that is read before its event waits for it, once; a row without an event comes at the next look.
// Caught when planted: the newest row without its time; a row that waits for ever.
func TestFollowWaitsForTimes(t *testing.T) {
	log := create(t)
	f, err := curves.Follow(log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	next := func(want string) {
		t.Helper()
		if rows, again, err := f.Next(); err != nil || again || text(rows) != want {
			t.Errorf("%s, %v, %v, want %s", text(rows), again, err, want)
		}
	}
	write(t, log, true, 1, 2)
	write(t, log, false, 3, 3)
	next("1t@0.5:1.00 2t@1:0.50")
	if err := log.AppendEvent(tensorboard.Event{Step: 3, Scalars: []tensorboard.Scalar{{Tag: "training/loss", Value: 9}, {Tag: runlog.SecondsTag, Value: 1.5}}}); err != nil {
		t.Fatal(err)
	}
	next("3t@1.5:0.33")
	write(t, log, false, 4, 4)
	next("")
	write(t, log, false, 6, 6)
	next("4t@-:0.25")
	next("6t@-:0.17")
	next("")
}

// Thinned rows are spread evenly and include the last of each split.
func TestThin(t *testing.T) {
	var rows []curves.Row
	for i := range int64(100) {
		rows = append(rows, curves.Row{Step: i, Split: "training"})
		if i%50 == 0 {
			rows = append(rows, curves.Row{Step: i, Split: "validation"})
		}
	}
	var training, validation []int64
	for _, r := range curves.Thin(rows, 4) {
		if r.Split == "training" {
			training = append(training, r.Step)
		} else {
			validation = append(validation, r.Step)
		}
	}
	if fmt.Sprint(training, validation) != "[24 49 74 99] [0 50]" {
		t.Errorf("%v %v", training, validation)
	}
}

// A row of validation that comes after that of training at the same step is new, not a reset. Caught when planted: a step that is not above the last
// one as a reset.
func TestFollowValidation(t *testing.T) {
	log := create(t)
	f, err := curves.Follow(log.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for split, want := range map[string]string{"training": "5t@2.5:0.20", "validation": "5v@2.5:0.20"} {
		if err := log.AppendMetrics(map[string]any{"step": 5, "split": split, "loss": 0.2}); err != nil {
			t.Fatal(err)
		}
		e := tensorboard.Event{Step: 5, Scalars: []tensorboard.Scalar{{Tag: split + "/loss", Value: 0.2}, {Tag: runlog.SecondsTag, Value: 2.5}}}
		if err := log.AppendEvent(e); err != nil {
			t.Fatal(err)
		}
		if rows, again, err := f.Next(); err != nil || text(rows) != want || again {
			t.Errorf("%s: %s, %v, %v, want %s", split, text(rows), again, err, want)
		}
	}
}

// Figures of events that are no numbers are left out, as JSON cannot represent them. Caught when planted: they are values.
func TestFiguresThatAreNoNumbers(t *testing.T) {
	log := create(t)
	if err := log.AppendMetrics(map[string]any{"step": 3, "split": "training", "loss": 0.5}); err != nil {
		t.Fatal(err)
	}
	e := tensorboard.Event{Step: 3, Scalars: []tensorboard.Scalar{
		{Tag: "training/loss", Value: 0.5}, {Tag: runlog.SecondsTag, Value: float32(math.NaN())}, {Tag: "speed/tokens_per_second", Value: float32(math.Inf(1))},
		{Tag: "speed/updates_per_second", Value: 4},
	}}
	if err := log.AppendEvent(e); err != nil {
		t.Fatal(err)
	}
	rows, err := curves.Read(log.Dir())
	if err != nil || len(rows) != 1 || rows[0].Seconds != nil || fmt.Sprint(rows[0].Values) != "map[loss:0.5 updates_per_second:4]" {
		t.Fatalf("%+v, %v", rows, err)
	}
	if _, err := json.Marshal(rows); err != nil {
		t.Error(err)
	}
}
