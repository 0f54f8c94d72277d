package experiment

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/universal"
)

// fits is an error if the checkpoint's parameters are not exactly those that the configuration asks for: another shape, one
// missing, one too many.
func (t *Trained) fits() error {
	want, err := t.declared()
	if err != nil {
		return err
	}
	for _, have := range t.parameters() {
		shape, ok := want[have.Name]
		switch {
		case !ok:
			return fmt.Errorf("checkpoint of step %d: parameter %s is not of the model that config.json describes", t.Step, have.Name)
		case fmt.Sprint(shape) != fmt.Sprint(have.Shape):
			return fmt.Errorf("checkpoint of step %d: parameter %s has shape %v, but config.json asks for %v", t.Step, have.Name, have.Shape, shape)
		}
		delete(want, have.Name)
	}
	for name := range want {
		return fmt.Errorf("checkpoint of step %d: parameter %s of the model that config.json describes is missing", t.Step, name)
	}
	return nil
}

// declared builds the model once, without running it, to learn its parameters' names and shapes.
func (t *Trained) declared() (map[string][]int, error) {
	store := model.NewStore()
	exec, err := model.NewExec(t.Backend, store, func(scope *model.Scope, ids *graph.Node) *graph.Node {
		return t.Model.Forward(scope, universal.Inputs{Source: ids, Target: ids}, universal.Watch{}).Logits
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	ids := tensors.FromFlatDataAndDimensions(make([]int32, 2), 1, 2)
	if _, err := exec.Compile(ids.Shape()); err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for v := range store.IterVariables() {
		shapes[universal.Name(v.Path())] = v.Shape().Dimensions
	}
	return shapes, nil
}
