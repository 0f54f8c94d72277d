package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/universal"
)

// renamed is a transition of another module whose code is changed: its parameters are in a scope of a name that config.json does not record.
type renamed struct{ universal.FeedForward }

var renamedScope = "before"

func (r renamed) Apply(scope *model.Scope, x *graph.Node, c universal.TransitionContext) *graph.Node {
	return r.FeedForward.Apply(scope.At("%s", renamedScope), x, c)
}

// Parameters that do not fit may be due to the code of a type of another module, of which config.json records the fields only.
// Caught when planted: a type that is not named.
func TestResumeNamesCodeThatMayHaveChanged(t *testing.T) {
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	m := r.Model.Value.(experiment.EncoderDecoder)
	m.Transition = experiment.Transition{Value: renamed{universal.FeedForward{Filter: 8}}}
	r.Model.Value = m
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	renamedScope = "after"
	defer func() { renamedScope = "before" }()
	mine := pipeline.Callbacks{Extensions: experiment.Extensions{Transitions: []universal.Transition{renamed{}}}}
	_, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, mine, "training.steps=8")
	if err == nil || !strings.Contains(err.Error(), "does not belong to the model that config.json describes") ||
		!strings.HasSuffix(err.Error(), "; the code of transition pipeline_test.renamed may have changed") {
		t.Errorf("%v", err)
	}
}

// ahead is a transition of another module that also reads the next position.
type ahead struct{ universal.FeedForward }

func (a ahead) Apply(scope *model.Scope, x *graph.Node, c universal.TransitionContext) *graph.Node {
	if n := x.Shape().Dimensions[1]; n > 1 {
		next := graph.Concatenate([]*graph.Node{graph.SliceAxis(x, 1, graph.AxisRange(1)), graph.SliceAxis(x, 1, graph.AxisElem(n-1))}, 1)
		x = graph.Add(x, next)
	}
	return a.FeedForward.Apply(scope, x, c)
}

// A decoder that sees what it is to predict is refused before training, in which it would be right without having learned anything.
// Caught when planted: no check.
func TestTrainRefusesADecoderThatLooksAhead(t *testing.T) {
	r, dir := brief(t, pairs()), filepath.Join(t.TempDir(), "run")
	m := r.Model.Value.(experiment.EncoderDecoder)
	m.Transition = experiment.Transition{Value: ahead{universal.FeedForward{Filter: 8}}}
	r.Model.Value = m
	_, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{})
	if err == nil || !strings.HasPrefix(err.Error(), "the model with pipeline_test.ahead: token ") {
		t.Errorf("%v", err)
	}
}
