package pipeline_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

var update = flag.Bool("update", false, "train testdata/copier anew")

const copierDir = "testdata/copier"

// copier learns to copy up to four digits in about a minute.
func copier() experiment.Run {
	r := experiment.Defaults()
	r.Name = "copier"
	r.Task = experiment.Task{Value: algorithmic.Copy{Digits: algorithmic.Digits{Base: 10, MaxLength: 4}}}
	r.Model = experiment.Model{Value: experiment.EncoderDecoder{Universal: experiment.Universal{
		Config:     universal.Config{Width: 16, Heads: 2, ScaleEmbedding: true},
		Transition: experiment.Transition{Value: universal.FeedForward{Filter: 32}},
		Halting:    experiment.Halting{Value: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 1}}},
		Positions:  experiment.Positions{Value: universal.FromOne{}},
	}}}
	r.Training.Steps, r.Training.Schedule = 4000, experiment.Schedule{Value: schedule.Cosine{Peak: 1e-2, Floor: 1e-4, Warmup: 200}}
	r.Training.Batch = experiment.Batch{Rows: 32, Boundaries: []int{4}}
	r.Training.Keep, r.Training.Stop = 2, schedule.Stop{Accuracy: 1}
	return r
}

// The run directory of the examples copies every held-out string when it decodes for itself. With -update it is trained anew:
// go test ./pipeline -run TestCopier -update
func TestCopier(t *testing.T) {
	backend := enginetest.Backend(t)
	if *update {
		if err := os.RemoveAll(copierDir); err != nil {
			t.Fatal(err)
		}
		report, err := pipeline.Train(context.Background(), backend, copier(), copierDir, pipeline.Callbacks{Log: func(line string) { fmt.Println(line) }})
		if err != nil {
			t.Fatal(err)
		}
		checkpoints, err := filepath.Glob(copierDir + "/checkpoints/*")
		if err != nil {
			t.Fatal(err)
		}
		best := fmt.Sprintf("%s/checkpoints/step-%09d.safetensors", copierDir, report.BestStep)
		for _, path := range slices.Concat(checkpoints, []string{copierDir + "/lock", copierDir + "/metrics.jsonl", copierDir + "/traces", copierDir + "/export"}) {
			if path != best {
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	trained, err := pipeline.Load(copierDir, backend)
	if err != nil {
		t.Fatal(err)
	}
	row, err := trained.Evaluate(context.Background(), pipeline.Protocol{Selection: task.Selection{Mix: 4, Count: 60}})
	if err != nil {
		t.Fatal(err)
	}
	if row.Metrics[1].Value != 1 {
		t.Error(row.Row)
	}
	if beam, err := trained.Decode(t.Context(), []string{"12"}, pipeline.DecodeOptions{Method: decoding.Method{Beam: decoding.Beam{Width: 3, Alpha: 0.6}}}); err != nil || beam[0].Text != "12" || len(beam[0].Others) != 2 || beam[0].LogProb < beam[0].Others[0].LogProb {
		t.Errorf("by beam search: %v, %v", beam, err)
	}
	scored, err := trained.Score(t.Context(), []pipeline.Pair{{Source: "12", Target: "12"}, {Source: "12", Target: "13"}, {Source: "3", Target: "3"}}, 0)
	if err != nil || len(scored[0].LogProbs) != 3 || len(scored[2].LogProbs) != 2 {
		t.Fatalf("%+v, %v", scored, err)
	}
	if right, wrong := scored[0].LogProbs[1], scored[1].LogProbs[1]; right < -0.1 || wrong > -2 || scored[1].Best[1] != scored[0].Best[1] || scored[0].LogProbs[0] != scored[1].LogProbs[0] {
		t.Errorf("the right answer has %v, a wrong one %v: %+v", right, wrong, scored)
	}
	again, err := trained.Score(t.Context(), []pipeline.Pair{{Source: "1", Target: "x"}, {Source: "y", Target: "1"}, {Source: "12", Target: "12"}}, 0)
	if err != nil || again[0].Err == nil || again[1].Err == nil || !slices.Equal(again[2].LogProbs, scored[0].LogProbs) {
		t.Errorf("beside a target and a source that cannot be read: %+v, %v", again, err)
	}
}
