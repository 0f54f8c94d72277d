package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/labels"
)

// Of a file, as many examples are evaluated as are asked for.
func TestEvaluateSomeOfAFile(t *testing.T) {
	m := load(t)
	path := filepath.Join(t.TempDir(), "examples.tsv")
	if err := os.WriteFile(path, []byte("1\t1\n23\t23\n4\t4\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for count, want := range map[int]int{0: 3, 1: 1, 2: 2, 3: 3, 4: 3} {
		e, err := m.Evaluate(t.Context(), pipeline.Protocol{File: path, Selection: task.Selection{Count: count}})
		if err != nil || len(e.Examples) != want || len(e.Answers) != want || e.Lengths != "of "+path || e.Task != m.Run.Task.Value.String() {
			t.Errorf("%d of 3: %d examples %q of %q, %v", count, len(e.Examples), e.Lengths, e.Task, err)
		}
	}
}

// An evaluation with answers of one token, and a diagnosis, which looks at four answers at most and at no answers of a teacher.
// Caught when planted: a limit of one token ignored; attention recorded for every answer.
func TestEvaluateAtTheLimits(t *testing.T) {
	m := load(t)
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Length: 3, Count: 6}, MaxLength: 1})
	if err != nil || len(e.Answers) != 6 {
		t.Fatalf("%d answers, %v", len(e.Answers), err)
	}
	for _, a := range e.Answers {
		if len(a.Tokens) != 1 {
			t.Errorf("an answer of at most one token: %v", a.Tokens)
		}
	}
	d, err := m.Diagnose(t.Context(), e)
	if err != nil || d.Wrong != 6 || d.Early != 6 || d.OverTraced != 4 || len(d.Attention) == 0 {
		t.Errorf("%+v, %v", d, err)
	}
	e.Answers = e.Answers[:5]
	if _, err := m.Diagnose(t.Context(), e); err == nil || !strings.Contains(err.Error(), "only decoded answers can be diagnosed") {
		t.Errorf("an example without an answer: %v", err)
	}
	if _, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Length: 3, Count: 2}, ComputeHalted: true}); err == nil || !strings.Contains(err.Error(), "with teacher forcing only") {
		t.Errorf("halted positions of decoded answers: %v", err)
	}
	trace, err := m.Trace(t.Context(), "12")
	if err != nil {
		t.Fatal(err)
	}
	for _, readout := range trace.Readouts {
		for _, top := range readout.Steps {
			if len(top) != 5 {
				t.Errorf("a readout lists %d tokens, want 5", len(top))
			}
		}
	}
	scored, err := m.Score(t.Context(), []pipeline.Pair{{Source: "12", Target: "12"}, {Source: "123", Target: "12"}, {Source: "12", Target: "123"}}, 2)
	if err != nil || scored[0].Err != nil || scored[1].Err == nil || scored[2].Err == nil {
		t.Fatalf("up to two tokens: %+v, %v", scored, err)
	}
	for i, want := range map[int]string{1: "source: 3 tokens are more than the limit, 2: shorten the line, or allow more", 2: "text: 3 tokens are more than the limit, 2: shorten the line, or allow more"} {
		if got := scored[i].Err.Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A run that was interrupted before its first update has no model, and says how to get one; one validation example is enough to train.
// Caught when planted: the checkpoint of update 0 loaded; one example refused.
func TestShortestRuns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := brief(t, pairs())
	r.Training.Validation = 1
	dir := filepath.Join(t.TempDir(), "run")
	if summary, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil || summary.Validation.Sequences != 1 {
		t.Errorf("%v sequences, %v", summary.Validation.Sequences, err)
	}
	dir = filepath.Join(t.TempDir(), "interrupted")
	summary, err := pipeline.Train(ctx, enginetest.Backend(t), brief(t, pairs()), dir, pipeline.Callbacks{Log: func(string) { cancel() }}) // notes on the data
	if err != nil || summary.Step != 0 || summary.Stopped != "interrupted" {
		t.Fatalf("%+v, %v", summary, err)
	}
	_, err = pipeline.Load(dir, enginetest.Backend(t))
	if !errors.Is(err, runlog.ErrNoCheckpoint) || !strings.Contains(err.Error(), "was saved yet: train longer, or resume the run") {
		t.Errorf("%v", err)
	}
}

// A run without a checkpoint is resumed from its beginning, and says so. Caught when planted: nothing said.
func TestResumeWithoutCheckpoint(t *testing.T) {
	dir, r := briefly(t)
	for _, path := range []string{"checkpoints", "best.json"} {
		if err := os.RemoveAll(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	var lines []string
	summary, err := pipeline.Resume(t.Context(), enginetest.Backend(t), dir, pipeline.Callbacks{Log: func(line string) { lines = append(lines, line) }})
	if err != nil || summary.Step != r.Training.Steps || !slices.Contains(lines, "there is no checkpoint: training starts from the beginning") {
		t.Errorf("%+v, %v, %q", summary, err, lines)
	}
}

// Validation examples have the lengths that the configuration gives, and data without a choice of lengths refuse it before there is a
// directory; so do tasks without hard cases. Caught when planted: lengths as in training; a directory that is left behind.
func TestValidationLengths(t *testing.T) {
	r := brief(t, pairs())
	r.Training.ValidationLengths = experiment.Lengths{From: 7, To: 9}
	dir := filepath.Join(t.TempDir(), "refused")
	_, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{})
	if err == nil || !strings.Contains(err.Error(), "training.validation_lengths.to is 9, but the lengths of this task are those of its files") {
		t.Errorf("a file: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory is left: %v", err)
	}
	r.Training.ValidationLengths, r.Training.ValidationHard = experiment.Lengths{}, true
	_, err = pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{})
	if err == nil || !strings.Contains(err.Error(), "training.validation_hard is true, but this task has no hard cases: leave it out") {
		t.Errorf("hard cases of a file: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a directory is left: %v", err)
	}
	r.Task = experiment.Task{Value: algorithmic.Copy{Digits: algorithmic.Digits{MaxLength: 5}}}
	r.Training.ValidationLengths, r.Training.Validation, r.Training.Decoded = experiment.Lengths{From: 8, To: 8}, 6, 4
	dir = filepath.Join(t.TempDir(), "run")
	summary, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{})
	if err != nil || summary.Validation.Sequences != 6 || summary.Validation.Tokens != 6*9 {
		t.Errorf("6 copies of 8 digits: %+v, %v", summary.Validation, err)
	}
}

// Readouts of a classifier list its classes after every step, and nothing else, also of subwords, whose positions are text; and what a
// classifier cannot do.
// Caught when planted: padding and end among the classes, subwords as classes, positions with byte marks.
func TestTraceOfAClassifier(t *testing.T) {
	for _, c := range []labels.Labels{{Tokenizer: vocab.Whitespace}, {Tokenizer: vocab.Subwords, Choice: subword.Choice{TokenizerSize: 262}}} {
		t.Run(c.Tokenizer.String(), func(t *testing.T) { traceClassifier(t, c) })
	}
}

func traceClassifier(t *testing.T, config labels.Labels) {
	var rows strings.Builder
	for i := range 60 {
		fmt.Fprintf(&rows, "text %d\t%s\n", i, []string{"a", "b", "c"}[i%3])
	}
	config.Path = filepath.Join(t.TempDir(), "labels.tsv")
	if err := os.WriteFile(config.Path, []byte(rows.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	r := brief(t, pairs())
	r.Task.Value = config
	r.Training.Decoded, r.Training.BestByMeasure, r.Training.Steps = 0, false, 2
	step := r.Model.Value.(experiment.UniversalKind).Step()
	r.Model.Value = experiment.Classifier{Universal: step, Pool: experiment.MeanPool}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	trace, err := m.Trace(t.Context(), "text 1 é")
	if err != nil || len(trace.Readouts) == 0 {
		t.Fatalf("%d readouts, %v", len(trace.Readouts), err)
	}
	separator := map[vocab.Tokenizer]string{vocab.Whitespace: " "}[config.Tokenizer]
	if got := strings.ReplaceAll(strings.Join(trace.Source, separator), `\xc3\xa9`, "é"); got != "text 1 é" || !slices.Equal(trace.Encoder.Tokens, trace.Source) {
		t.Errorf("the positions are %q", trace.Source)
	}
	for _, readout := range trace.Readouts {
		for _, top := range readout.Steps {
			var names []string
			sum := 0.0
			for _, c := range top {
				names, sum = append(names, c.Token), sum+c.Probability
			}
			if got := strings.Join(slices.Sorted(slices.Values(names)), ""); got != "abc" || !(sum > 0 && sum < 1) {
				t.Errorf("the classes are %q, of %v", names, sum)
			}
		}
	}
	if _, err := m.Decode(t.Context(), []string{"text 1"}, pipeline.DecodeOptions{}); !errors.Is(err, pipeline.ErrNoSequences) {
		t.Errorf("a classifier decodes: %v", err)
	}
	for width := 1; width <= 2; width++ {
		if _, err := m.Evaluate(t.Context(), pipeline.Protocol{Beam: decoding.Beam{Width: width}}); err == nil || !strings.Contains(err.Error(), "leave out the beam") {
			t.Errorf("a classifier searches: %v", err)
		}
	}
}

// An evaluation uses the beam that it is given, and reports progress up to its last example, if anybody asks for it.
// Caught when planted: a search that is greedy; progress that nobody sees.
func TestEvaluateAsTheProtocolSays(t *testing.T) {
	m := load(t)
	var done []int
	p := pipeline.Protocol{Selection: task.Selection{Length: 3, Count: 9}, Progress: func(n, total int) {
		if done = append(done, n); total != 9 {
			t.Errorf("%d examples in all", total)
		}
	}}
	if _, err := m.Evaluate(t.Context(), p); err != nil || len(done) == 0 || done[len(done)-1] != 9 || !slices.IsSorted(done) {
		t.Errorf("progress %v, %v", done, err)
	}
	p.Progress, p.Beam = nil, decoding.Beam{Width: -1}
	if _, err := m.Evaluate(t.Context(), p); err == nil || !strings.Contains(err.Error(), "beam width is -1") {
		t.Errorf("a beam that cannot be: %v", err)
	}
}
