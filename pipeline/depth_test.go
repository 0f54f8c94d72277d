package pipeline_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

// exitsOf returns the exits as text.
func exitsOf(list []pipeline.DepthExit) (exits []string) {
	for _, e := range list {
		exits = append(exits, e.String())
	}
	return exits
}

// Each rule has the exits that the model can take: an adaptive model has limits and thresholds below the trained one, a model of fixed
// depth has neither, and a model whose steps have weights of their own no more steps than that.
// Caught when planted: thresholds for a model of fixed depth; one step too few.
func TestDepthExits(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t)) // adaptive, at most 3 steps
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for rules, want := range map[string][]string{
		"fixed": {"", "1 fixed step", "2 fixed steps", "3 fixed steps", "4 fixed steps", "5 fixed steps", "6 fixed steps"},
		"limit": {"", "at most 1 step", "at most 2 steps"}, "unchanged": {"", "answer unchanged for 1 step", "answer unchanged for 2 steps", "answer unchanged for 3 steps"},
	} {
		list, err := m.DepthExits([]string{rules}, 0)
		if err != nil || !slices.Equal(exitsOf(list), want) {
			t.Errorf("%s: %q, %v", rules, exitsOf(list), err)
		}
	}
	if list, err := m.DepthExits([]string{"threshold"}, 0); err != nil || len(list) != 11 || list[1].Threshold != 0.1 || list[10].Threshold != 0.95 {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := m.DepthExits([]string{"speed"}, 0); err == nil || !strings.Contains(err.Error(), `rule "speed" is unknown`) {
		t.Error(err)
	}

	r := brief(t, pairs())
	u := r.Model.Value.(experiment.EncoderDecoder)
	for name, c := range map[string]struct {
		model experiment.ModelKind
		want  string
		wrong string // for 3 steps
	}{
		"fixed":         {u, "[ 1 fixed step 2 fixed steps]", "<nil>"},
		"learned steps": {learned(u), "[ 1 fixed step]", "give at most 1"},
		"LSTM":          {experiment.LSTMEncoderDecoder{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: 8, Layers: 1}}}, "[]", "reads every position once"},
	} {
		r.Model.Value = c.model
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatal(err)
		}
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		list, _ := m.DepthExits([]string{"fixed", "limit", "threshold"}, 0)
		if got := fmt.Sprint(exitsOf(list)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if _, err := m.DepthExits([]string{"fixed"}, 3); !strings.Contains(fmt.Sprint(err), c.wrong) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

func learned(m experiment.EncoderDecoder) experiment.EncoderDecoder {
	m.LearnedSteps = true
	return m
}

// A point is the evaluation with its exit, after which the one before applies again; exits do not add up.
// Caught when planted: an exit that remains; an exit on top of the one before; no steps for a model of fixed depth.
func TestEvaluateAt(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	list, err := m.DepthExits([]string{"fixed", "confidence"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	p := pipeline.Protocol{Selection: task.Selection{Count: 20}}
	var trained pipeline.DepthPoint
	for i, e := range append(list, list[0]) {
		point, found, err := m.EvaluateAt(t.Context(), e, "token accuracy", p)
		if err != nil {
			t.Fatal(err)
		}
		if point.Quality != found.Metrics[0].Value || point.Exit != e.String() || len(found.Examples) != 20 {
			t.Errorf("%+v of %+v", point, found.Row)
		}
		switch e.Rule {
		case "trained":
			if point.Seconds = 0; i == 0 {
				trained = point
			} else if fmt.Sprint(point) != fmt.Sprint(trained) {
				t.Errorf("as trained %+v, after other exits %+v", trained, point)
			}
		case "fixed":
			if point.Steps != e.Setting || point.Encoder != e.Setting || point.Operations != 0 {
				t.Errorf("%+v", point)
			}
		case "confidence":
			if point.Steps > trained.Steps || point.Encoder != trained.Encoder || point.Readouts != point.Steps-1 || point.Operations <= 0 {
				t.Errorf("%+v, as trained %+v", point, trained)
			}
		}
	}
	if err := m.SetExit(list[1].Exit); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.EvaluateAt(t.Context(), list[2], "", p); err != nil {
		t.Error(err)
	}
	if trace, err := m.Trace(t.Context(), "12"); err != nil || trace.Exit != list[1].String() || list[1].Exit == list[2].Exit {
		t.Errorf("the exit that was set is %q after an evaluation with another, %v", trace.Exit, err)
	}
	if _, _, err := m.EvaluateAt(t.Context(), list[0], "BLEU", p); err == nil || !strings.Contains(err.Error(), `metric "BLEU" is unknown: choose from token accuracy, sequence accuracy`) {
		t.Error(err)
	}
}
