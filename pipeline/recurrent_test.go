package pipeline_test

import (
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/baseline/neuralgpu"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
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
		if err := m.SetExit(halting.Exit{}); err != nil {
			t.Error(err)
		}
		if err := m.SetExit(halting.Exit{Steps: 2}); err == nil || !strings.Contains(err.Error(), "reads every position once") {
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

// A Neural GPU is trained, decodes and evaluates; what it has not, attention and steps to leave out, is an error that says how it reads.
// Caught when planted: a trace or a diagnosis that is computed; a Neural GPU described as a model that reads every position once.
func TestNeuralGPURun(t *testing.T) {
	r := brief(t, pairs())
	r.Task = experiment.Task{Value: algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 5}}}
	r.Model.Value = experiment.NeuralGPU{Model: neuralgpu.Model{Width: 8}}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := m.Decode(t.Context(), []string{"123", "4"}, pipeline.DecodeOptions{Details: true}); err != nil {
		t.Error(err)
	}
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Count: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if d, err := m.Diagnose(t.Context(), e); err != nil || d.Wrong == 0 || d.OverTraced != 0 || d.Attention != nil {
		t.Errorf("a diagnosis: %+v, %v", d, err)
	}
	_, trace := m.Trace(t.Context(), "123")
	_, depth := m.DepthExits([]string{"fixed"}, 0)
	for name, err := range map[string]error{"nothing to trace": trace, "an exit": m.SetExit(halting.Exit{Steps: 2}), "depth": depth} {
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "as many steps as its source has tokens") || strings.Contains(err.Error(), "once") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
