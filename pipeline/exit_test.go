package pipeline_test

import (
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
)

// flat is a rule of another module that forgets the axis of positions.
type flat struct{ halting.Confidence }

func (f flat) Ends(logP []*graph.Node) *graph.Node {
	return graph.ReduceLogicalOr(f.Confidence.Ends(logP), -1)
}

// A rule whose result has a wrong shape is refused where it is set, and the exit remains as it was.
// Caught when planted: a rule that is not built.
func TestExitRefusesARuleOfAWrongShape(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	err = m.SetExit(halting.Exit{Rule: flat{halting.Confidence{Least: 0.5}}})
	if err == nil || !strings.HasPrefix(err.Error(), "exit rule pipeline_test.flat returned (Bool)[1], want (Bool)[1, ") {
		t.Errorf("%v", err)
	}
	if found, err := m.Decode(t.Context(), []string{"312"}, pipeline.DecodeOptions{}); err != nil || found[0].Err != nil {
		t.Errorf("then it answers %+v, %v", found, err)
	}
	if err := m.SetExit(halting.Exit{Rule: halting.Confidence{Least: 0.5}}); err != nil {
		t.Errorf("a rule as documented: %v", err)
	}
}
