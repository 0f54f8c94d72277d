package pipeline_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/table"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
)

// fineTuned is a run that starts from the weights of another one and takes two steps instead of one.
func fineTuned(r experiment.Run, from string) experiment.Run {
	model := r.Model.Value.(experiment.EncoderDecoder)
	model.Halting = experiment.Halting{Value: halting.Fixed{Steps: 2}}
	r.Model.Value = model
	r.Training.Pretrained, r.Seed = from, r.Seed+1
	return r
}

// parameters are those of a checkpoint, by name.
func parameters(c *runlog.Checkpoint) map[string][]byte {
	named := map[string][]byte{}
	for _, p := range training.Parameters(c.Tensors) {
		named[p.Name] = p.Data
	}
	return named
}

// difference is the largest between two parameters of the same name, float32 numbers; infinite if names or shapes differ.
func difference(a, b map[string][]byte) float64 {
	largest := 0.0
	for name := range a {
		if len(a) != len(b) || len(a[name]) != len(b[name]) {
			return math.Inf(1)
		}
		for i := 0; i < len(a[name]); i += 4 {
			number := func(data []byte) float64 { return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))) }
			largest = max(largest, math.Abs(number(a[name])-number(b[name])))
		}
	}
	return largest
}

// With a learning rate that changes nothing, a run ends with the weights it started from: those of the other run's best checkpoint, not the
// newest, also when it was killed before its first checkpoint, when it still has to start from them.
// Caught when planted: random weights, in a new run and after the kill; the newest checkpoint.
func TestPretrained(t *testing.T) {
	from, r := briefly(t)
	markBest(t, from, 4)
	log, err := runlog.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	best, err := log.Best()
	if err != nil {
		t.Fatal(err)
	}
	want := parameters(best)
	if difference(want, parameters(lastCheckpoint(t, from))) < 1e-6 {
		t.Fatal("the best and the newest checkpoint are the same")
	}
	r = fineTuned(r, from)
	r.Training.Schedule.Value = schedule.Constant{LearningRate: 1e-30}
	r.Training.Average, r.Training.WeightDecay, r.Training.Muon = 0, 0, 0
	var lines []string
	note := pipeline.Callbacks{Log: func(line string) { lines = append(lines, line) }}
	dir := filepath.Join(t.TempDir(), "tuned")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, note); err != nil {
		t.Fatal(err)
	}
	if started := fmt.Sprintf("starting from the weights of %s, update 4", from); !slices.Contains(lines, started) {
		t.Errorf("it says %q, and not %q", lines, started)
	}
	if said := strings.Join(lines, "\n"); strings.Contains(said, "were trained with") {
		t.Errorf("it names a difference between equal models: %s", said)
	}
	for _, resumed := range []bool{false, true} {
		if resumed {
			if err := errors.Join(os.RemoveAll(dir+"/checkpoints"), os.RemoveAll(dir+"/best.json"), os.RemoveAll(dir+"/metrics.jsonl")); err != nil {
				t.Fatal(err)
			}
			if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{}); err != nil {
				t.Fatal(err)
			}
		}
		if c := lastCheckpoint(t, dir); c.Step != 6 || difference(parameters(c), want) > 1e-20 {
			t.Errorf("resumed %v: step %d, weights differ from those it started from by %v", resumed, c.Step, difference(parameters(c), want))
		}
	}
}

// A run that is interrupted before its first update goes on from the pretrained weights, to the same result, bit for bit; once it has begun,
// it does not need the other run any more.
// Caught when planted: a resume that starts from the other run again.
func TestPretrainedIsInterrupted(t *testing.T) {
	from, r := briefly(t)
	r = fineTuned(r, from)
	whole, broken := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "broken")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, whole, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	stop := pipeline.Callbacks{Log: func(line string) {
		if strings.HasPrefix(line, "starting from") {
			cancel()
		}
	}}
	if summary, err := pipeline.Train(ctx, enginetest.Backend(t), r, broken, stop); err != nil || summary.Stopped != "interrupted" || summary.Step != 0 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if err := os.RemoveAll(filepath.Join(broken, "checkpoints")); err != nil { // as if it had been killed before it saved them
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	defer func() { cancel() }()
	if summary, err := pipeline.Resume(ctx, enginetest.Backend(t), broken, stop); err != nil || summary.Step != 0 || lastCheckpoint(t, broken).Step != 0 {
		t.Fatalf("%+v, %v", summary, err)
	}
	if err := os.RemoveAll(from); err != nil {
		t.Fatal(err)
	}
	without := filepath.Join(t.TempDir(), "without")
	if err := errors.Join(os.CopyFS(without, os.DirFS(broken)), os.RemoveAll(filepath.Join(without, "checkpoints"))); err != nil {
		t.Fatal(err)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), without, pipeline.Callbacks{}); err == nil || !strings.HasPrefix(err.Error(), "training.pretrained: ") {
		t.Errorf("resumed without the other run before its weights were saved: %v", err)
	}
	if _, err := pipeline.Resume(t.Context(), enginetest.Backend(t), broken, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	if difference(parameters(lastCheckpoint(t, broken)), parameters(lastCheckpoint(t, whole))) != 0 {
		t.Error("it comes to other weights than without the interruption")
	}
}

// A run whose model computes something else from the same parameters begins, and says so.
// Caught when planted: nothing is said; objects that the other run has not are left out.
func TestPretrainedOfAnotherFunction(t *testing.T) {
	from, r := briefly(t)
	for change, want := range map[string]string{
		"model.heads=1": "model.heads=2", "model.scale_embedding=false": "model.scale_embedding=true",
		`model.arrangement={"submitted":{}}`: "model.arrangement={}", `model.coordinates={"tensor2tensor":{}}`: "model.coordinates={}",
	} {
		other, err := fineTuned(r, from).Set(change)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		note := pipeline.Callbacks{Log: func(line string) { lines = append(lines, line) }}
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), other, filepath.Join(t.TempDir(), "tuned"), note); err != nil {
			t.Fatalf("%s: %v", change, err)
		}
		want = "those weights were trained with " + want + ", and this run's model computes something else from them"
		if !slices.Contains(lines, want) {
			t.Errorf("%s: it says %q, not %q", change, lines, want)
		}
	}
}

// What a run cannot start from is refused before anything is written.
// Caught when planted: any of the checks left out; the shapes of the new run said to be those of the other run's config.json.
func TestPretrainedErrors(t *testing.T) {
	from, r := briefly(t)
	letters := filepath.Join(t.TempDir(), "letters.tsv")
	if err := os.WriteFile(letters, []byte(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'j' {
			return r + 10
		}
		return r
	}, pairs())), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*experiment.Run){
		" has shape [8 8], but the new run describes [16 16]; ":     func(r *experiment.Run) { *r = resized(*r) },
		"; set model.width=8 as in that run, or choose another run": func(r *experiment.Run) { *r = resized(*r) },
		`none of its target tokens ("`:                              func(r *experiment.Run) { r.Task = experiment.Task{Value: table.Table{Path: letters, HeldOut: 0.3}} },
		" are whitespace: set task.tokenizer=characters, or choose another run": func(r *experiment.Run) {
			r.Task = experiment.Task{Value: table.Table{Path: letters, HeldOut: 0.3, Tokenizer: vocab.Whitespace}}
		},
		"nowhere is not a run":                      func(r *experiment.Run) { r.Training.Pretrained = "nowhere" },
		filepath.Dir(from) + " is not a run direct": func(r *experiment.Run) { r.Training.Pretrained = filepath.Dir(from) },
	} {
		changed, dir := fineTuned(r, from), filepath.Join(t.TempDir(), "tuned")
		change(&changed)
		_, err := pipeline.Train(t.Context(), enginetest.Backend(t), changed, dir, pipeline.Callbacks{})
		if err == nil || !strings.HasPrefix(err.Error(), "training.pretrained: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q", err, want)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %s was made: %v", want, dir, err)
		}
	}
}

// resized is a run with another width.
func resized(r experiment.Run) experiment.Run {
	model := r.Model.Value.(experiment.EncoderDecoder)
	model.Width = 16
	r.Model.Value = model
	return r
}
