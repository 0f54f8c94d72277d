package recipes_test

import (
	"context"
	"testing"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/feed"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// countParameters returns the number of trained numbers of a run's model: it builds the graph of one row and compiles nothing. The vocabularies
// have that many tokens; with 0 they are those of the run's task, which must need no data.
func countParameters(t *testing.T, r experiment.Run, tokens int) float64 {
	t.Helper()
	var v task.Vocabularies
	if tokens > 0 {
		var err error
		if v, err = experiment.AssumedVocabularies(tokens); err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
	} else {
		opened, err := pipeline.OpenTask(context.Background(), r, nil)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		v = opened.Vocabularies()
	}
	const length = 8
	g := graph.NewGraph(enginetest.Backend(t), r.Name)
	input := func(name string) *graph.Node { return graph.Parameter(g, name, shapes.Make(feed.Integer, 1, length)) }
	var in []*graph.Node
	kind := r.Task.Value.Kind()
	if kind == task.LanguageModeling {
		v.Source = nil
	} else {
		in = append(in, input("source"))
	}
	if kind == task.Classification {
		in = append(in, graph.Parameter(g, "target", shapes.Make(feed.Integer, 1, 1)))
	} else {
		in = append(in, input("target"))
	}
	store := model.NewStore()
	inputs, _ := feed.Inputs(in, len(in) == 2, false)
	r.Model.Value.Build(v, r.Seed).Forward(store.RootScope(), inputs, r.TrainingConfig().Objective.Options())
	parameters := 0
	for v := range store.IterVariables() {
		if v.Trainable {
			parameters += v.Shape().Size()
		}
	}
	return float64(parameters)
}
