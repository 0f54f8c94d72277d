package serve

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/generated"
)

// A model of a task that another module defines is served with its value, and refused without. Caught when planted: models loaded without types.
func TestExtensions(t *testing.T) {
	double := generated.Task{Name: "double", Vocabulary: []string{"a", "b"}, MaxLength: 4, MaxTarget: 9, Draw: func(rng *rand.Rand, length int) (source, target []string) {
		for range length {
			source = append(source, []string{"a", "b"}[rng.IntN(2)])
		}
		return source, append(source, source...)
	}}
	r := experiment.Defaults()
	r.Name, r.Task = "double", experiment.Task{Value: double}
	r, err := r.Set("model.width=8", "model.heads=2", "training.steps=1", "training.evaluate_every=1", "training.validation=4", "training.batch.rows=2")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "double")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	var missing *experiment.MissingTypeError
	if _, err := Open([]string{dir}, enginetest.Backend(t), Options{}); !errors.As(err, &missing) {
		t.Errorf("without the type: %v", err)
	}
	s, web := opened(t, Options{Extensions: experiment.Extensions{Tasks: []task.Definition{double}}}, dir)
	if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"model": "double", "prompt": "ab"}`); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if err := s.Reload(); err != nil {
		t.Error(err)
	}
	if status, text := send(t, web, http.MethodPost, "/v1/completions", `{"model": "double", "prompt": "b"}`); status != http.StatusOK {
		t.Errorf("after a reload: %d %s", status, text)
	}
}
