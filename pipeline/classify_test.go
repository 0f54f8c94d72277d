package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/labels"
)

// A class is the most probable one, the first of several.
func TestMostProbable(t *testing.T) {
	for _, c := range []struct {
		probabilities []float64
		want          vocab.ID
	}{
		{[]float64{0.5, 0.3, 0.2}, 2}, {[]float64{0.5, 0.3, 0.1, 0.05, 0.05}, 2}, {[]float64{0.5, 0.3, 0.1, 0.1}, 2}, {[]float64{0.5, 0.3, 0.05, 0.15}, 3}, {[]float64{0, 0, 0.2, 0.4, 0.4}, 3}, {[]float64{0, 0, 0.2, 0.3, 0.5}, 4},
	} {
		if got := bestClass(c.probabilities[vocab.End+1:]); got != c.want {
			t.Errorf("%v: class %d, want %d", c.probabilities, got, c.want)
		}
	}
}

// untrained is a classifier with random weights: tokens a and b, classes x, y and z.
func untrained(t *testing.T) *Model {
	t.Helper()
	copier, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(copier.Close)
	m := &Model{
		Run: runOn(labels.Labels{Path: "labels.tsv"}), Vocabularies: task.Vocabularies{Source: vocabulary(t, "a b"), Target: vocabulary(t, "x y z")},
		backend: copier.backend, store: model.NewStore(), log: copier.log, checkpoint: copier.checkpoint,
	}
	m.Run.Model.Value = experiment.Classifier{Universal: copier.Run.Model.Value.(experiment.EncoderDecoder).Universal, Pool: experiment.MeanPool}
	m.graph = m.Run.Model.Value.Build(m.Vocabularies, 1)
	m.queue = queue.New(m.decoding)
	return m
}

// reading reads every text as the same input.
type reading struct {
	task.Reader
	in task.Input
}

func (r reading) Read(string) (task.Input, error) { return r.in, nil }

// The trace of a classification names the right class if the text tells it.
func TestReferenceOfAClassification(t *testing.T) {
	m := untrained(t)
	for _, answer := range [][]vocab.ID{nil, {3, vocab.End}} {
		m.reader = reading{in: task.Input{Source: []vocab.ID{2, 3, 2}, Labels: []string{"a", "b", "a"}, Answer: answer}}
		c, err := m.Classify(t.Context(), "aba")
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if answer != nil {
			want = []string{"y"}
		}
		if !slices.Equal(c.Trace.Reference, want) || !slices.Equal(c.Trace.Output, []string{c.Answer}) || !slices.Equal(c.Trace.Source, []string{"a", "b", "a"}) || c.Answer != c.Classes[0].Name || len(c.Classes) != 3 || len(c.Attention) != 3 {
			t.Errorf("%+v, %+v", c, c.Trace)
		}
	}
}

// What computes scores and classes keeps its graphs, lets others compute in between, and passes on which examples fail.
func TestInTurns(t *testing.T) {
	m := untrained(t)
	defer m.Close()
	var failed []int
	problem := errors.New("problem")
	err := m.inTurns(t.Context(), func(i int, err error) {
		if failed = append(failed, i); !errors.Is(err, problem) {
			t.Errorf("example %d: %v", i, err)
		}
	}, func(e *evaluation.Evaluator) error {
		if e.Kept == nil || e.Kept != m.kept {
			t.Error("graphs are not kept")
		}
		used := make(chan error)
		go func() {
			err := m.queue.Acquire(t.Context())
			if err == nil {
				m.queue.Release()
			}
			used <- err
		}()
		for done := false; !done; {
			e.Pause()
			select {
			case err := <-used:
				if done = true; err != nil {
					t.Error(err)
				}
			default:
			}
		}
		e.Failed(7, problem)
		return problem
	})
	if !errors.Is(err, problem) || !slices.Equal(failed, []int{7}) {
		t.Errorf("examples %v fail, %v", failed, err)
	}
}

// A context that ends while the last batch is computed ends the call: nothing is returned as if it were complete.
// Caught when planted: the error of the computation alone.
func TestContextThatEndsInTheLastBatch(t *testing.T) {
	m, err := Load("testdata/copier", enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	ctx, cancel := context.WithCancel(t.Context())
	err = m.inTurns(ctx, nil, func(*evaluation.Evaluator) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
