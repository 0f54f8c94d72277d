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
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/task/labels"
)

// Texts are classified together as each is alone, by Universal Transformers, Transformers and LSTMs: the probabilities of all classes sum to 1,
// and a text that cannot be read has an error of its own.
// Caught when planted: probabilities of padding and end, classes of another text.
func TestClassifyAll(t *testing.T) {
	var rows strings.Builder
	for i := range 300 {
		fmt.Fprintf(&rows, "text %d %s\t%s\n", i, strings.Repeat("x ", i%5), []string{"a", "b", "c"}[i%3])
	}
	path := filepath.Join(t.TempDir(), "labels.tsv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	texts := []string{"text 1", "", "text 2 x x x x x x", "text 299 x"}
	for name, change := range map[string]func(*experiment.Universal){
		"Universal Transformer": func(*experiment.Universal) {}, "Transformer": func(u *experiment.Universal) { u.UntiedLayers = true }, "LSTM": nil,
	} {
		r := brief(t, pairs())
		r.Task.Value = labels.Labels{Path: path, Tokenizer: vocab.Whitespace}
		r.Training.Decoded, r.Training.BestByMeasure = 0, false
		step := r.Model.Value.(experiment.UniversalKind).Step()
		if r.Model.Value = (experiment.LSTMClassifier{Recurrent: experiment.Recurrent{Config: lstm.Config{Width: step.Width, Layers: 1}}, Pool: experiment.LastPool}); change != nil {
			change(&step)
			r.Model.Value = experiment.Classifier{Universal: step, Pool: experiment.MeanPool}
		}
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		m, err := pipeline.Load(dir, enginetest.Backend(t))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		checkClasses(t, name, m, texts)
	}
}

func checkClasses(t *testing.T, name string, m *pipeline.Model, texts []string) {
	t.Helper()
	all, err := m.ClassifyAll(t.Context(), texts, 0)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i, text := range texts {
		alone, err := m.Classify(t.Context(), text)
		if text == "" {
			if err == nil || all[i].Err == nil || all[i].Classes != nil {
				t.Errorf("%s: an empty text: %v, %+v", name, err, all[i])
			}
			continue
		}
		if err != nil || all[i].Err != nil {
			t.Fatalf("%s: %v, %v", name, err, all[i].Err)
		}
		sum, names := 0.0, []string(nil)
		for k, c := range all[i].Classes {
			sum, names = sum+c.Probability, append(names, c.Name)
			if other := alone.Classes[k]; math.Abs(other.Probability-c.Probability) > 1e-4 {
				t.Errorf("%s, %q: %+v together, %+v alone", name, text, all[i].Classes, alone.Classes)
			}
		}
		slices.Sort(names)
		if math.Abs(sum-1) > 1e-5 || !slices.Equal(names, []string{"a", "b", "c"}) || all[i].Classes[0].Name != alone.Answer || !slices.Equal(all[i].Steps, alone.Steps) {
			t.Errorf("%s, %q: %+v, %q after %d steps alone", name, text, all[i], alone.Answer, alone.Steps)
		}
	}
}
