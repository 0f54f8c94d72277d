package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// fits is an error if a checkpoint's parameters are not exactly those that a model has: another shape, one missing, one
// too many; or if it was trained under another configuration.
func (r Run) fits(backend compute.Backend, m universal.Model, c *runlog.Checkpoint) error {
	want, err := declared(backend, m, r.Model.TokensPerPosition)
	if err != nil {
		return err
	}
	for _, have := range parameters(c) {
		shape, ok := want[have.Name]
		switch {
		case !ok:
			return fmt.Errorf("checkpoint of step %d: parameter %s is not of the model that config.json describes", c.Step, have.Name)
		case !slices.Equal(shape, have.Shape):
			return fmt.Errorf("checkpoint of step %d: parameter %s has shape %v, but config.json asks for %v", c.Step, have.Name, have.Shape, shape)
		}
		delete(want, have.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("checkpoint of step %d: parameter %s of the model that config.json describes is missing", c.Step, name)
	}
	if c.Meta[training.FingerprintKey] != r.fingerprint() {
		return fmt.Errorf("checkpoint of step %d was trained under another config.json: its task, model or seed has been changed since", c.Step)
	}
	return nil
}

// fingerprint stands for what weights depend on and a resumed run may not change: task, model, seed. Where a task's files lie
// does not matter; what is in them shows in the vocabulary.
func (r Run) fingerprint() string {
	if r.Task.Table != nil {
		moved := *r.Task.Table
		moved.Path, moved.HeldOutPath = "", ""
		r.Task.Table = &moved
	}
	if r.Task.Babi != nil {
		moved := *r.Task.Babi
		moved.Path = ""
		if moved.StandIn != "" {
			moved.StandIn = filepath.Base(moved.StandIn)
		}
		r.Task.Babi = &moved
	}
	sum := sha256.Sum256(Run{Task: r.Task, Model: r.Model, Seed: r.Seed}.JSON())
	return hex.EncodeToString(sum[:])
}

// parameters are a checkpoint's tensors that belong to the model.
func parameters(c *runlog.Checkpoint) (kept []safetensors.Tensor) {
	for _, tensor := range c.Tensors {
		if training.Trained(universal.Path(tensor.Name)) {
			kept = append(kept, tensor)
		}
	}
	return kept
}

// declared builds a model once, without running it, to learn its parameters' names and shapes. words is the ids of a source position.
func declared(backend compute.Backend, m universal.Model, words int) (map[string][]int, error) {
	store := model.NewStore()
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, ids *graph.Node) *graph.Node {
		return m.Forward(scope, universal.Inputs{Source: ids, Target: ids}, universal.Options{}).Logits
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	ids := tensors.FromFlatDataAndDimensions(make([]int32, 2*max(words, 1)), 1, 2*max(words, 1))
	if _, err := exec.Compile(ids.Shape()); err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for v := range store.IterVariables() {
		shapes[universal.Name(v.Path())] = v.Shape().Dimensions
	}
	return shapes, nil
}
