package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
)

// LSTMs are used as other models are: loaded, decoded, scored, measured, exported; traced if there is attention. What they cannot do is
// refused in a line that says why.
// Caught when planted: a trace without attention that is given; an exit that is ignored; conventions of other models.
func TestRecurrentRun(t *testing.T) {
	for _, attention := range []bool{true, false} {
		r := brief(t, pairs())
		width := r.Model.Value.Channels()
		r.Model.Value = experiment.LSTMEncoderDecoder{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: width, Layers: 1, ScaleEmbedding: true}}, Attention: attention}
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatal(err)
		}
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		if _, err := m.Decode(t.Context(), []string{"123", "4"}, pipeline.DecodeOptions{}); err != nil {
			t.Error(err)
		}
		if scored, err := m.Score(t.Context(), []pipeline.Pair{{Source: "12", Target: "12"}}, 0); err != nil || len(scored[0].LogProbs) != 3 {
			t.Errorf("scores: %v, %v", scored, err)
		}
		for _, forced := range []bool{false, true} {
			if row, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Validation: true, Count: 5}, TeacherForced: forced}); err != nil || row.Encoder != nil {
				t.Errorf("teacher forcing %v: %v, %v", forced, row.Row, err)
			}
		}
		trace, err := m.Trace(t.Context(), "123")
		if attention && (err != nil || len(trace.Decoder.CrossAttention) != 1 || len(trace.Decoder.CrossAttention[0][0][0]) != 3) {
			t.Errorf("a trace with attention: %+v, %v", trace, err)
		}
		if !attention && (err == nil || !strings.Contains(err.Error(), "nothing to trace")) {
			t.Errorf("a trace without attention: %v", err)
		}
		if m.Traces() != attention {
			t.Errorf("with attention %v, there is something to trace: %v", attention, m.Traces())
		}
		if err := m.Exit(halting.Exit{}); err != nil {
			t.Error(err)
		}
		if err := m.Exit(halting.Exit{Steps: 2}); err == nil || !strings.Contains(err.Error(), "reads every position once") {
			t.Errorf("an exit: %v", err)
		}
		path, err := m.Export()
		if err != nil {
			t.Fatal(err)
		}
		file, err := runlog.ReadExport(path, nil)
		if err != nil || file.Metadata["lstm_gates"] == "" || file.Metadata["norm_epsilon"] != "" {
			t.Errorf("an export: %v, %v", file.Metadata, err)
		}
	}
}

// Answers of a Neural GPU are diagnosed without its attention, of which it has none. Caught when planted: a recording of its steps.
func TestDiagnoseNeuralGPU(t *testing.T) {
	r, err := copier().Set(`model={"neural_gpu": {"width": 8}}`, "training.steps=2", "training.evaluate_every=2", "training.checkpoint_every=2", "training.validation=8")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Count: 4}})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := m.Diagnose(t.Context(), e); err != nil || d.OverTraced != 0 || d.Wrong == 0 {
		t.Errorf("%+v, %v", d, err)
	}
}
