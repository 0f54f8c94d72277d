package experiment_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/report"
	"universal-transformer/task"
	"universal-transformer/task/babi"
)

// A trained model answers a typed story as it answers the same question of the test, looks sum to one over the facts and the
// question, and what it writes down is a valid trace; evaluation counts what the answers show.
// Caught when planted: facts in another order; looks of the first position; the answer of another vocabulary.
func TestAnswer(t *testing.T) {
	data, backend := distribution(t), enginetest.Backend(t)
	for _, grid := range []string{"babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		c := tiny(t, grid, data, t.TempDir())
		result, err := c.Do(context.Background(), backend, experiment.Watcher{})
		if err != nil {
			t.Fatal(err)
		}
		trained, err := experiment.Load(c.Dir, backend)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := babi.OpenTask(*c.Run.Task.Babi)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		test := opened.Test()
		for _, q := range test {
			a, err := trained.Answer(strings.Join(q.Facts, "\n") + "\n" + q.Text)
			if err != nil {
				t.Fatal(err)
			}
			if a.Answer != q.Answer {
				wrong++
			}
			last, attention := len(q.Facts), a.Trace.Encoder.Attention
			ran := int(a.Trace.Encoder.Updates[last])
			sum := 0.0
			for i, look := range a.Looks {
				sum += look.Share
				mean := 0.0
				for step := range ran {
					for head := range 4 {
						mean += attention[step][head][last][look.Position] / 4 / float64(ran)
					}
				}
				if math.Abs(mean-look.Share) > 1e-9 {
					t.Errorf("the question looks at position %d with %v, not %v", look.Position, mean, look.Share)
				}
				if i > 0 && look.Share > a.Looks[i-1].Share {
					t.Errorf("looks are %v", a.Looks)
				}
			}
			if len(a.Looks) != 3 || math.Abs(sum-1) > 1e-4 || len(a.Trace.Encoder.Tokens) != 3 || len(a.Unknown) > 0 {
				t.Fatalf("%+v", a)
			}
		}
		if wrong != result.Tests[0].Wrong || wrong == len(test) {
			t.Errorf("%s: %d typed stories are answered wrong, the test has %d of %d", grid, wrong, result.Tests[0].Wrong, len(test))
		}
		row, err := trained.Evaluate(context.Background(), experiment.Protocol{Selection: task.Selection{}})
		if err != nil || row.Score.Sequences.Total-row.Score.Sequences.Correct != wrong || row.Method != "classification" {
			t.Errorf("%s: evaluation says %+v, %v", grid, row, err)
		}
		a, err := trained.Answer("Mary flew to the kitchen. Where is Mary?")
		if err != nil || strings.Join(a.Unknown, " ") != "flew" {
			t.Errorf("unknown words are %q, %v", a.Unknown, err)
		}
		for text, want := range map[string]string{
			"Where is Mary?": "a story needs at least one fact",
			"Mary went to the old and ruined kitchen. Where is Mary?": "more than the 7 words",
		} {
			if _, err := trained.Answer(text); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		}
		if _, err := trained.Decode(context.Background(), []string{"Mary"}, experiment.Answering{}); err == nil || !strings.Contains(err.Error(), "use ut answer") {
			t.Errorf("decoding: %v", err)
		}
	}
}

// A run of task 1 leaves figure 5 beside its result.
func TestFiguresOfStories(t *testing.T) {
	for _, grid := range []string{"babi-1k-single", "babi-1k-single-adaptive", "babi-1k-single-transformer"} {
		root := t.TempDir()
		c := tiny(t, grid, distribution(t), root)
		if _, err := c.Do(context.Background(), enginetest.Backend(t), experiment.Watcher{}); err != nil {
			t.Fatal(err)
		}
		path := report.StoryFile(report.File(filepath.Join(root, "results"), grid, 1, 1), 5)
		svg, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(svg), "john travelled to the hallway .") {
			t.Errorf("%s: %v", path, err)
		}
	}
}
