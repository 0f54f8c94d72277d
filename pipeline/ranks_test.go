package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/parallel"
	"universal-transformer/pipeline"
	"universal-transformer/training"
)

// counted is a backend that counts how often it is freed.
type counted struct {
	compute.Backend
	freed *int
}

func (c counted) Finalize() { *c.freed++; c.Backend.Finalize() }

// named makes a backend of a name.
func named(name string) func() (compute.Backend, error) {
	return func() (compute.Backend, error) { return engine.New(name) }
}

// onRanks does what lead does as rank 0 of two, while the other assists. It gives the error of both.
func onRanks(t *testing.T, newBackend func() (compute.Backend, error), lead func(c pipeline.Callbacks) error) (first, second error) {
	t.Helper()
	groups := parallel.Local(2)
	var other sync.WaitGroup
	other.Go(func() {
		defer groups[1].Close()
		second = pipeline.Assist(context.Background(), newBackend, groups[1])
	})
	first = lead(pipeline.Callbacks{Group: groups[0]})
	if err := pipeline.Release(groups[0]); err != nil {
		t.Error(err)
	}
	other.Wait()
	return first, second
}

// One rank trains, resumes and trains another run while the other assists, to the bits of one process; only rank 0 has run directories.
// Caught when planted: a resume that the other rank starts from the beginning; a second run that it does not take.
func TestAssist(t *testing.T) {
	backend := enginetest.Backend(t)
	r := brief(t, pairs())
	r.Training.Accumulate, r.Training.Steps = 2, 10
	straight := filepath.Join(t.TempDir(), "straight")
	if _, err := pipeline.Train(t.Context(), backend, r, straight, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	short := r
	short.Training.Steps = 6
	dir, again := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "again")
	first, second := onRanks(t, named(os.Getenv("UT_BACKEND")), func(c pipeline.Callbacks) error {
		if _, err := pipeline.Train(t.Context(), backend, short, dir, c); err != nil {
			return err
		}
		if _, err := pipeline.Resume(t.Context(), backend, dir, c, "training.steps=10"); err != nil {
			return err
		}
		_, err := pipeline.Train(t.Context(), backend, r, again, c)
		return err
	})
	if first != nil || second != nil {
		t.Fatal(first, second)
	}
	if sessions, err := pipeline.ReadSessions(again); err != nil || len(sessions) != 1 || sessions[0].Ranks != 2 || sessions[0].CPUSeconds <= 0 {
		t.Errorf("%+v, %v", sessions, err)
	}
	want := lastCheckpoint(t, straight)
	for _, dir := range []string{dir, again} {
		got := lastCheckpoint(t, dir)
		if got.Step != 10 || len(got.Tensors) != len(want.Tensors) || got.Meta[training.ConfigurationKey] != want.Meta[training.ConfigurationKey] {
			t.Fatalf("step %d, %d tensors", got.Step, len(got.Tensors))
		}
		for i := range want.Tensors {
			if string(want.Tensors[i].Data) != string(got.Tensors[i].Data) {
				t.Errorf("%s differs", want.Tensors[i].Name)
			}
		}
	}
}

// What a rank cannot assist with is rank 0's error, in one line, and the next run goes well; neither leaves a directory.
// Caught when planted: a directory that is left; a rank that gives up for good.
func TestAssistRefuses(t *testing.T) {
	backend := enginetest.Backend(t)
	odd, even := brief(t, pairs()), brief(t, pairs())
	odd.Training.Accumulate, even.Training.Accumulate = 3, 2
	for name, test := range map[string]struct {
		run     experiment.Run
		backend string
		want    string
	}{
		"three batches":   {odd, os.Getenv("UT_BACKEND"), "training.accumulate is 3, and there are 2 ranks"},
		"another backend": {even, "go", "rank 1: it computes with "},
		"no backend":      {even, "nope", `rank 1: backend "nope" is not known`},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		first, second := onRanks(t, named(test.backend), func(c pipeline.Callbacks) error {
			_, err := pipeline.Train(t.Context(), backend, test.run, dir, c)
			return err
		})
		if first == nil || !strings.HasPrefix(first.Error(), test.want) || strings.Contains(first.Error(), "\n") || second != nil {
			t.Errorf("%s: %v, want %q; the other: %v", name, first, test.want, second)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s leaves a directory", name)
		}
	}
}

// The backend of an assisting rank is made once, for the first run, and freed at the end. Caught when planted: a backend for each run.
func TestAssistFreesItsBackend(t *testing.T) {
	made, freed := 0, 0
	other := func() (compute.Backend, error) {
		b, err := engine.New("go")
		made++
		return counted{b, &freed}, err
	}
	r := brief(t, pairs())
	r.Training.Accumulate = 2
	for runs := range 3 {
		made, freed = 0, 0
		_, second := onRanks(t, other, func(c pipeline.Callbacks) error {
			for range runs {
				if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, filepath.Join(t.TempDir(), "run"), c); err == nil || freed > 0 {
					t.Errorf("ranks with other backends: %v; %d are freed", err, freed)
				}
			}
			return nil
		})
		if want := min(runs, 1); second != nil || made != want || freed != want {
			t.Errorf("%d runs: %d backends are made, %d freed, %v", runs, made, freed, second)
		}
	}
}
