package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/experiment/recipes"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
)

// The first picture comes after a minute, and another one after a tenth more time if earlier ones took at most half a percent of it.
// Caught when planted: a budget that is not kept, a first picture at once.
func TestPictureBudget(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		trained, spent time.Duration
		want           bool
	}{
		{59 * time.Second, 0, false}, {time.Minute, 0, true}, {time.Minute, 301 * time.Millisecond, false}, {time.Minute, 300 * time.Millisecond, true},
		{time.Hour, 18 * time.Second, true}, {time.Hour, 19 * time.Second, false},
	} {
		b := pictureBudget{began: began, next: firstPicture, spent: c.spent}
		if got := b.due(began.Add(c.trained)); got != c.want {
			t.Errorf("after %v, of which %v for pictures: %v", c.trained, c.spent, got)
		}
	}
	b := pictureBudget{began: began, next: firstPicture}
	b.drawn(began.Add(100*time.Second), began.Add(100*time.Second+200*time.Millisecond))
	if b.due(began.Add(109*time.Second)) || !b.due(began.Add(111*time.Second)) || b.spent != 200*time.Millisecond {
		t.Errorf("after a picture: %+v", b)
	}
}

// Every kind of model is pictured while it is trained, with attention where it has some and ponder times if its depth is adaptive, and the next
// one is not due. Training does not change by it.
// Caught when planted: a classifier's class as the input of a decoder, the first example that fits instead of the longest.
func TestPicturesOfEveryModel(t *testing.T) {
	folder := t.TempDir()
	text := filepath.Join(folder, "text.txt")
	labels := filepath.Join(folder, "labels.tsv")
	tags := filepath.Join(folder, "tags.tsv")
	for path, line := range map[string]string{text: "the cat sat on the mat\n", labels: "good day %d\tyes\nbad day %d\tno\n", tags: "the\tD\ncat\tN\n%d\tM\n\n"} {
		if err := os.WriteFile(path, []byte(numbered(line, 100)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		recipe string
		sets   []string
		want   string
	}{
		"encoder-decoder": {"algorithmic/reverse", []string{"model.heads=2"}, "attention/encoder attention/decoder attention/decoder to encoder"},
		"adaptive":        {"algorithmic/reverse", []string{`model.halting={"frozen": {"max_steps": 3}}`}, "attention/encoder ponder/encoder attention/decoder attention/decoder to encoder ponder/decoder"},
		"language model":  {"own-text", []string{"task.path=" + text}, "attention/decoder"},
		"classifier":      {"own-labels", []string{"task.path=" + labels, "task.held_out=0.5"}, "attention/encoder"},
		"tagger":          {"own-tags", []string{"task.path=" + tags, "task.held_out=0.5"}, "attention/encoder"},
		"LSTM":            {"algorithmic/reverse", []string{`model={"lstm_encoder_decoder": {"width": 16}}`}, ""},
		"Neural GPU":      {"algorithmic/reverse", []string{`model={"neural_gpu": {"width": 8}}`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			recipe, err := recipes.Named(c.recipe)
			if err != nil {
				t.Fatal(err)
			}
			r, err := recipe.Run().Set(append(c.sets, "training.steps=2", "training.evaluate_every=2", "training.checkpoint_every=2", "training.log_every=1", "training.validation=8")...)
			if err != nil {
				t.Fatal(err)
			}
			drawn := map[bool][]runlog.Row{}
			for _, pictures := range []bool{false, true} {
				drawn[pictures] = trainPictured(t, r, pictures, c.want)
			}
			for i, row := range drawn[true] {
				if row["loss"] != drawn[false][i]["loss"] {
					t.Errorf("row %d with pictures: %v, without: %v", i, row, drawn[false][i])
				}
			}
		})
	}
}

// numbered repeats a text, with the number of each where it has %d.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// trainPictured trains a run, with pictures at every validation if asked, and returns its metrics.
func trainPictured(t *testing.T, r experiment.Run, draw bool, want string) []runlog.Row {
	t.Helper()
	backend := enginetest.Backend(t)
	o := openRun{backend: backend, run: r, reading: r, callbacks: Callbacks{Log: func(line string) {
		if strings.Contains(line, "TensorBoard") {
			t.Error(line)
		}
	}}}
	if err := o.readData(t.Context()); err != nil {
		t.Fatal(err)
	}
	var err error
	if o.log, err = runlog.Create(filepath.Join(t.TempDir(), "run"), r); err != nil {
		t.Fatal(err)
	}
	defer o.log.Close()
	trainer, err := newTrainer(backend, r, o.data)
	if err != nil {
		t.Fatal(err)
	}
	trainer.Log, trainer.Notify = o.log, o.callbacks.Log
	if err := o.addValidation(trainer); err != nil {
		t.Fatal(err)
	}
	if draw {
		pictureNow(t, &o, trainer)
	}
	if _, err := trainer.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := o.log.Events()
	if err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, e := range events {
		for _, i := range e.Images {
			tags = append(tags, i.Tag)
			if len(i.PNG) == 0 || i.Width < 8 || i.Height < 8 {
				t.Errorf("%s: %d bytes, %d x %d", i.Tag, len(i.PNG), i.Width, i.Height)
			}
		}
	}
	if got := strings.Join(tags, " "); draw && got != want || !draw && got != "" {
		t.Errorf("pictures %q, want %q", got, want)
	}
	rows, err := o.log.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// pictureNow makes pictures due at once.
func pictureNow(t *testing.T, o *openRun, trainer *training.Trainer) {
	t.Helper()
	validation, err := o.data.HeldOut(o.run.Seed, task.Selection{Validation: true, Count: o.run.Training.Validation})
	if err != nil {
		t.Fatal(err)
	}
	p := newPictures(o, trainer, validation)
	if (p == nil) != (trainer.Pictures == nil) {
		t.Errorf("the trainer has pictures: %v, want %v", trainer.Pictures != nil, p != nil)
	}
	if p == nil {
		return
	}
	longest := slices.MaxFunc(validation, func(a, b task.Example) int { return len(a.Source) - len(b.Source) })
	if n := len(longest.Source); n <= maxPictured && len(p.example.Source) != n && len(p.example.Source) > 0 {
		t.Errorf("the example has %d tokens, the longest %d", len(p.example.Source), n)
	}
	p.budget.next = 0
	trainer.Pictures = p.draw
}
