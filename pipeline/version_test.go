package pipeline_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
)

// previous holds run directories that version 0.2 wrote, with their data.
const previous = "testdata/version-0.2"

// atPrevious copies the run directories of the previous version to a temporary folder and makes it the working directory,
// because these runs name their data relative to it.
func atPrevious(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(previous)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
}

// Models of the previous version give the log-probabilities that it printed: `ut score RUN --json`, sums over the tokens.
// Caught when planted: the readout of another parameter.
func TestPreviousVersionScores(t *testing.T) {
	atPrevious(t)
	for name, answers := range map[string]map[pipeline.Pair]float64{
		"pairs": {{Source: "513", Target: "513"}: -5.460121, {Source: "20", Target: "20"}: -9.539986, {Source: "1", Target: "4"}: -4.596646},
		"lstm":  {{Source: "513", Target: "513"}: -8.828036, {Source: "20", Target: "20"}: -6.785506, {Source: "1", Target: "4"}: -4.444165},
		"text":  {{Target: "the cat"}: -22.650297, {Target: "home"}: -12.668589},
	} {
		m, err := pipeline.Load(name, enginetest.Backend(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		defer m.Close()
		for pair, want := range answers {
			scored, err := m.Score(context.Background(), []pipeline.Pair{pair}, 0)
			if err != nil {
				t.Errorf("%s: %+v: %v", name, pair, err)
				continue
			}
			got := 0.0
			for _, p := range scored[0].LogProbs {
				got += p
			}
			if math.Abs(got-want) > 1e-4 {
				t.Errorf("%s: log p of %+v is %.6f, want %.6f", name, pair, got, want)
			}
		}
	}
}

// Runs of the previous version continue, and learn what they learned there: cross entropies of validation after 60 updates.
// Caught when planted: moments of the optimizer that are not restored.
func TestPreviousVersionResumes(t *testing.T) {
	atPrevious(t)
	for name, want := range map[string]float64{"pairs": 1.9795640563964845, "text": 3.1793053150177} {
		summary, err := pipeline.Resume(context.Background(), enginetest.Backend(t), name, pipeline.Callbacks{}, "training.steps=60")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := summary.Validation.CrossEntropy(); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s: cross entropy %.6f after %d updates, want %.6f", name, got, summary.Step, want)
		}
		config, err := os.ReadFile(filepath.Join(name, "config.json"))
		var steps struct{ Training struct{ Steps int64 } }
		if err != nil || json.Unmarshal(config, &steps) != nil || steps.Training.Steps != 60 {
			t.Errorf("%s: %v, config.json: %s", name, err, config)
		}
	}
}
