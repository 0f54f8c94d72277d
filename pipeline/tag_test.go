package pipeline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/baseline/lstm"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/task/tags"
	"universal-transformer/viewer"
)

// taggedNumbers is sentences of numbers, whose tags say whether a number is odd.
func taggedNumbers(t *testing.T) string {
	t.Helper()
	var rows strings.Builder
	for i := range 200 {
		for k := range 1 + i%13 {
			fmt.Fprintf(&rows, "%d %s\n", i+k, []string{"O", "B-ODD"}[(i+k)%2])
		}
		rows.WriteString("\n")
	}
	path := filepath.Join(t.TempDir(), "tags.conll")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// taggers are the kinds of models for tags.
func taggers(step experiment.Universal) map[string]experiment.ModelKind {
	transformer, adaptive := step, step
	transformer.UntiedLayers = true
	adaptive.Halting.Value = halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01}}
	return map[string]experiment.ModelKind{
		"fixed": experiment.Tagger{Universal: step}, "Transformer": experiment.Tagger{Universal: transformer}, "adaptive": experiment.Tagger{Universal: adaptive},
		"LSTM": experiment.LSTMTagger{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: step.Width, Layers: 1}}},
	}
}

// Sentences are tagged together as each is alone and as its trace says, by Universal Transformers of fixed and adaptive depth,
// Transformers and LSTMs; a sentence that cannot be read has an error of its own. Training chooses the checkpoint by the F1 of spans.
// Caught when planted: tags of another sentence, a trace with the tags of the last word only.
func TestTag(t *testing.T) {
	path := taggedNumbers(t)
	r := brief(t, pairs())
	for name, kind := range taggers(r.Model.Value.(experiment.UniversalKind).Step()) {
		r.Task.Value = tags.Tags{Path: path, Affixes: 1, HeldOut: 0.3}
		r.Model.Value, r.Training.Decoded, r.Training.BestByMeasure = kind, 20, true
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		checkTags(t, name, m)
		checkMeasuredTags(t, name, m)
	}
}

func checkTags(t *testing.T, name string, m *pipeline.Model) {
	t.Helper()
	sentences := []string{"1", "", "2 3 4 5", "new words"}
	all, err := m.Tag(t.Context(), sentences, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, text := range sentences {
		alone, err := m.Tag(t.Context(), []string{text}, 0)
		if err != nil || text == "" {
			if err != nil || all[i].Err == nil || alone[0].Err == nil {
				t.Errorf("%s, %q: %v, %+v", name, text, err, all[i])
			}
			continue
		}
		if words := strings.Fields(text); !slices.Equal(all[i].Input.Labels, words) || len(all[i].Tags) != len(words) || !slices.Equal(all[i].Tags, alone[0].Tags) {
			t.Errorf("%s, %q: %+v together, %+v alone", name, text, all[i], alone[0])
		}
		for k, classes := range all[i].Classes {
			sum := 0.0
			for j, c := range classes {
				sum += c.Probability
				if math.Abs(c.Probability-alone[0].Classes[k][j].Probability) > 1e-4 {
					t.Errorf("%s, %q: %+v together, %+v alone", name, text, classes, alone[0].Classes[k])
				}
			}
			if math.Abs(sum-1) > 1e-5 || len(classes) != 2 || classes[0].Name != all[i].Tags[k] {
				t.Errorf("%s, %q: %+v", name, text, classes)
			}
		}
		if !slices.Equal(all[i].Spans, score.Spans(all[i].Tags)) {
			t.Errorf("%s, %q: spans %v of %q", name, text, all[i].Spans, all[i].Tags)
		}
		checkTrace(t, name, m, text, all[i].Tags)
	}
	if !slices.Equal(all[3].Input.Unknown, []string{"new", "words"}) {
		t.Errorf("%s: unknown words %q", name, all[3].Input.Unknown)
	}
}

func checkTrace(t *testing.T, name string, m *pipeline.Model, text string, tags []string) {
	t.Helper()
	trace, err := m.Trace(t.Context(), text)
	if name == "LSTM" {
		if err == nil || !strings.Contains(err.Error(), "nothing to trace") {
			t.Errorf("an LSTM is traced: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("%s, %q: %v", name, text, err)
	}
	if !slices.Equal(trace.Output, tags) || !slices.Equal(trace.Source, strings.Fields(text)) || trace.Encoder == nil || trace.Decoder != nil {
		t.Errorf("%s: the trace of %q answers %q, not %q", name, text, trace.Output, tags)
	}
	for i, r := range trace.Readouts {
		if r.Answer != tags[i] || r.Written != nil {
			t.Errorf("%s, %q: the readout of word %d answers %q, not %q", name, text, i+1, r.Answer, tags[i])
		}
	}
	if len(trace.Readouts) != len(tags) {
		t.Errorf("%s, %q: %d readouts", name, text, len(trace.Readouts))
	}
	if adaptive := len(trace.Encoder.Weights) > 0; adaptive != (name == "adaptive") {
		t.Errorf("%s: %d steps with weights", name, len(trace.Encoder.Weights))
	}
	if err := viewer.WriteHTML(&strings.Builder{}, trace); err != nil {
		t.Error(err)
	}
}

// checkMeasuredTags evaluates, exports, and asks for what a tagger does not do.
func checkMeasuredTags(t *testing.T, name string, m *pipeline.Model) {
	t.Helper()
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{})
	if err != nil || e.Metrics[0].Name != "span F1" || e.Metrics[3].Name != "token accuracy" || e.Confusion == nil {
		t.Fatalf("%s: %+v, %v", name, e.Row, err)
	}
	if adaptive := e.Encoder.Average() > 0; adaptive != (name == "adaptive") {
		t.Errorf("%s: %v steps", name, e.Encoder.Average())
	}
	path, err := m.Export()
	if err != nil {
		t.Fatal(err)
	}
	file, err := runlog.ReadExport(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	shapes := map[string]string{}
	for _, tensor := range file.Tensors {
		shapes[tensor.Name] = fmt.Sprint(tensor.Shape)
	}
	if shapes["readout.weight"] != "[8 4]" || shapes["embedding.mask"] != "[4 8]" || shapes["embedding.target"] != "" {
		t.Errorf("%s: the export has %v", name, shapes)
	}
	_, decoded := m.Decode(t.Context(), []string{"1"}, pipeline.DecodeOptions{})
	_, classified := m.ClassifyAll(t.Context(), []string{"1"}, 0)
	_, scored := m.Score(t.Context(), []pipeline.Pair{{Source: "1 2", Target: "O B-ODD O"}}, 0)
	for what, err := range map[string]error{"decode": decoded, "classify": classified, "score": scored} {
		if err == nil || !strings.Contains(err.Error(), "a tag for each word") {
			t.Errorf("%s: %s: %v", name, what, err)
		}
	}
}
