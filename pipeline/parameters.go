package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// checkParameters returns an error unless a checkpoint's parameters are exactly those of a run's model: none has another shape, none is
// missing, and there are no others. described says where the run comes from, as for compareParameters.
func checkParameters(backend compute.Backend, r experiment.Run, v task.Vocabularies, c *runlog.Checkpoint, described string) error {
	want, err := declared(backend, r.Model.Value.Build(v, r.Seed), v.Positions())
	if err != nil {
		return err
	}
	if err := compareParameters(training.Parameters(c.Tensors), want, described); err != nil {
		return fmt.Errorf("checkpoint of update %d: %w", c.Step, err)
	}
	return nil
}

// withOwnTypes adds to an error about the parameters of a run which of its Go types, whose code is not recorded, may have changed.
func withOwnTypes(err error, r experiment.Run) error {
	x := r.Extensions()
	for _, t := range x.Transitions {
		err = fmt.Errorf("%w; the code of transition %T may have changed", err, t)
	}
	for _, p := range x.Halting {
		err = fmt.Errorf("%w; the code of halting policy %T may have changed", err, p)
	}
	return err
}

// checkOwnTypes returns an error if a model with types of another module does not decode as it is trained. A model of this module does.
func checkOwnTypes(r experiment.Run, m universal.Model, perPosition int) error {
	x := r.Extensions()
	decoded, ok := m.(decoding.Model)
	if !ok || len(x.Transitions)+len(x.Halting)+len(x.Positions) == 0 {
		return nil
	}
	backend, err := engine.New("") // products of other precisions would round too much
	if err != nil {
		return err
	}
	defer backend.Finalize()
	if err := decoding.CheckCache(backend, decoded, perPosition); err != nil {
		own := slices.Concat(typeNames(x.Transitions), typeNames(x.Halting), typeNames(x.Positions))
		return fmt.Errorf("the model with %s: %w", strings.Join(own, ", "), err)
	}
	return nil
}

// typeNames returns the names of the types of values.
func typeNames[T any](values []T) (names []string) {
	for _, v := range values {
		names = append(names, fmt.Sprintf("%T", v))
	}
	return names
}

// compareParameters returns an error unless parameters have exactly the names and shapes of want; described says where those come from.
func compareParameters(have []safetensors.Tensor, want map[string][]int, described string) error {
	for _, p := range have {
		shape, ok := want[p.Name]
		switch {
		case !ok:
			return fmt.Errorf("parameter %s does not belong to the model that %s", p.Name, described)
		case !slices.Equal(shape, p.Shape):
			return fmt.Errorf("parameter %s has shape %v, but %s %v", p.Name, p.Shape, described, shape)
		}
		delete(want, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("parameter %s of the model that %s is missing", name, described)
	}
	return nil
}

// declared returns the names and shapes of a model's parameters, which are the same on every backend. perPosition is the number of ids of a
// source position.
func declared(backend compute.Backend, m universal.Model, perPosition int) (map[string][]int, error) {
	shapes := map[string][]int{}
	return shapes, build(backend, m, perPosition, func(store *model.Store, _ func() error) error {
		for v := range store.IterVariables() {
			shapes[universal.Name(v.Path())] = v.Shape().Dimensions
		}
		return nil
	})
}

// initialValues returns the parameters that a new run begins with, by name.
func initialValues(backend compute.Backend, r experiment.Run, v task.Vocabularies) (map[string]safetensors.Tensor, error) {
	named := map[string]safetensors.Tensor{}
	return named, build(backend, r.Model.Value.Build(v, r.Seed), v.Positions(), func(store *model.Store, run func() error) error {
		if err := run(); err != nil {
			return err
		}
		list, err := training.Exported(store)
		for _, p := range list {
			named[p.Name] = p
		}
		return err
	})
}

// build builds a model once and passes use its variables, which have their initial values after run.
func build(backend compute.Backend, m universal.Model, perPosition int, use func(store *model.Store, run func() error) error) error {
	if engine.CompilesSlowly(backend) {
		quick, err := engine.New("")
		if err != nil {
			return err
		}
		defer quick.Finalize()
		backend = quick
	}
	store := model.NewStore()
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, ids *graph.Node) *graph.Node {
		return m.Forward(scope, universal.Inputs{Source: ids, Target: ids}, universal.Options{}).Logits
	})
	if err != nil {
		return err
	}
	defer exec.Finalize()
	ids := tensors.FromFlatDataAndDimensions(make([]int32, 2*perPosition), 1, 2*perPosition)
	if _, err := exec.Compile(ids.Shape()); err != nil {
		return engine.Plain(err)
	}
	return use(store, func() error {
		_, err := exec.Call(ids)
		return engine.Plain(err)
	})
}
