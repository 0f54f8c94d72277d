package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/score"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The output of --json is a contract: field names, their order, and the form of values.
func TestJSON(t *testing.T) {
	for name, value := range map[string]any{
		"eval": measured{
			Version: "1.2.3", Run: "runs/reverse", Experiment: "reverse", Checkpoint: 5000,
			Evaluation: pipeline.Evaluation{Row: evaluation.Row{
				Task: "reverse", Count: 200, Lengths: "length 40", Measurement: task.Measurement{
					Method:  "beam search of width 4, alpha 0.6",
					Metrics: score.Score{Tokens: score.Accuracy{Correct: 8000, Total: 8200}, Sequences: score.Accuracy{Correct: 150, Total: 200}}.Metrics(),
					Notes:   []string{"3 of 200 answers did not end and were cut off"},
				},
				Encoder: &evaluation.Steps{Mean: 2.5, Deviation: 0.5, Tenths: [10]*float64{new(2.0), nil, new(2.0), nil, new(2.0), new(3.0), new(3.0), new(3.0), new(3.0), new(3.0)}},
			}}, Parameters: 1714, Training: 60.5, Seconds: 0.5,
		},
		"eval_nothing": measured{Version: "1.2.3", Evaluation: pipeline.Evaluation{Row: evaluation.Row{Measurement: task.Measurement{Metrics: []score.Metric{score.Figure("perplexity per token", math.NaN())}}}}},
		"version": versions{
			Version: "1.2.3", Go: "go1.26.5", Platform: "linux/amd64", Backends: []string{"cpu", "go"}, Default: "cpu", Kernels: "avx512", BFloat16: "bf16 amx", Int8: "int8 avx512", Ranks: 1,
			Refused: []string{"FFT"}, Replayed: []string{"Float16"},
		},
		"plan": pipeline.Estimate{
			Experiment: "base", Model: "Universal Transformer, 6 steps", Assumed: &pipeline.Assumed{Vocabulary: 5000, Length: 32}, Rows: 128, Source: 32, Target: 33,
			Batches: 8, Updates: 1000, Parameters: 2595840, ModelBytes: 10383360, OptimizerBytes: 20766728, WorkBytes: 1288490189, Operations: 2.16e11, Ranks: 2,
			ExchangeSeconds: 0.25, ExchangeBytes: 25958400, Stated: &pipeline.Speed{Machine: "stated", OperationsPerSecond: 5e12, UpdatesPerSecond: 3.5, Seconds: 285.7},
			Measured: &pipeline.Speed{
				Machine: "SIMD CPU backend", OperationsPerSecond: 1.5e11, UpdatesPerSecond: 0.5, Seconds: 2000, MeasuredUpdates: 7, MeasuredRows: 16, MeasuredSeconds: 5.1,
			},
		},
		"info": pipeline.Info{
			Run: "runs/a", Status: pipeline.Damaged, Problem: "cut", Experiment: "own-pairs", Task: "table", Data: []pipeline.DataFile{},
			Model: "LSTM", Parameters: 100, Step: 5, Steps: 10, Stopped: "patience", Best: &pipeline.Validation{Step: 5, Metrics: []pipeline.Figure{{Name: "cross_entropy", Value: 0.5}}},
			Checkpoints: []int64{5}, Seconds: 1.5, CPUSeconds: 2.5, Backend: "cpu",
		},
		"list": []listedRecipe{
			{Name: "demo", Group: "start", Summary: "first light", Expect: "0.99, 5 minutes", Needs: []listedNeed{}},
			{Name: "a<b", Group: "table 1", Summary: "no escapes & such", From: "c/d", Needs: []listedNeed{{"pairs", "task.path", "a.tsv", "data", "your pairs"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := writeJSON(&got, value); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

// The program prints no other fields than the golden files have, and the help names each of them.
func TestJSONOfTheProgram(t *testing.T) {
	for name, args := range map[string][]string{
		"eval": {"eval", trained(t), "--count", "3"}, "version": {"version"}, "list": {"list"}, "info": {"info", trained(t)},
		"plan": {
			"plan", "own-translation", "--vocabulary", "20", "--length", "8", "--flops", "1e9", "--seconds", "0.01", "--set", "model.width=8", "--set", "model.heads=2",
			"--set", "model.transition.feedforward.filter=8", "--set", `training.batch={"rows": 2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := fields(t, []byte(succeeds(t, append(args, "--json")...)))
			golden, err := os.ReadFile(filepath.Join("testdata", name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			want := fields(t, golden)
			for _, field := range got {
				if !slices.Contains(want, field) {
					t.Errorf("the program prints the field %q, which is not in the golden file", field)
				}
			}
			help := succeeds(t, name, "--help")
			for _, field := range want {
				if !strings.Contains(help, field) {
					t.Errorf("the help does not say what %q is", field)
				}
			}
		})
	}
}

// fields returns the names of all members of a JSON value, at any depth.
func fields(t *testing.T, data []byte) []string {
	t.Helper()
	var value any
	if err := json.Unmarshal(data, &value); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	found := map[string]bool{}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				found[name] = true
				walk(member)
			}
		case []any:
			for _, element := range v {
				walk(element)
			}
		}
	}
	walk(value)
	return slices.Sorted(maps.Keys(found))
}
