package evaluation_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/halting"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/objective"
	"universal-transformer/internal/score"
	"universal-transformer/internal/seed"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// copying is the task of copying 1 to 5 of the tokens 2..5.
func copying(i int64) task.Example {
	rng := seed.Rand(1, "copying", i)
	var source []vocab.ID
	for range 1 + rng.IntN(5) {
		source = append(source, 2+vocab.ID(rng.IntN(4)))
	}
	return task.Example{Source: source, Target: append(slices.Clone(source), vocab.End)}
}

// halfTrained is a model that copies some sequences and fails others, and 100 examples.
func halfTrained(t *testing.T) (*training.Trainer, training.Summary, []task.Example) {
	t.Helper()
	log, err := runlog.Create(t.TempDir()+"/run", map[string]any{"test": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = log.Close() })
	stream, err := batch.NewStream(copying, batch.Plan{Rows: 16, MaxSource: 5, MaxTarget: 6, Window: 160}, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := universal.EncoderDecoder{Config: universal.Config{
		SourceVocabulary: 6, TargetVocabulary: 6, Width: 16, Heads: 2, Seed: 11,
		Transition: universal.FeedForward{Filter: 32}, Halting: halting.Frozen{ACT: halting.ACT{MaxSteps: 3, Epsilon: 0.01, Bias: 1}},
	}}
	var examples []task.Example
	for i := range int64(100) {
		examples = append(examples, copying(1_000_000+i))
	}
	tr := &training.Trainer{
		Config: schedule.Config{
			Steps: 80, Schedule: schedule.Constant{LearningRate: 5e-3}, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1, Ponder: objective.PonderSchedule{Weight: 0.01},
			LogEvery: 100, EvaluateEvery: 80, CheckpointEvery: 1000, Keep: 2, Seed: 1,
		},
		Backend: enginetest.Backend(t), Model: m, Stream: stream, Log: log, Validation: batch.Chunk(examples, batch.Plan{Rows: 32}),
	}
	report, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tr, report, examples
}

// Greedy decoding gets exactly those sequences right that teacher forcing gets right, and so does validation while training; every
// row says what was measured and how; the size of batches does not matter; halted positions left out or computed, it is the same.
// Tokens are as many as in training's validation under teacher forcing, where a wrong end ends nothing.
// Caught when planted: predictions cut at a wrong end under teacher forcing; scores of one example put down to another; predictions
// read from another row; a limit that cuts right sequences off.
func TestGreedyDecodingAndTeacherForcingAgreeOnSequences(t *testing.T) {
	tr, summary, examples := halfTrained(t)
	ctx, validation := context.Background(), summary.Validation
	correct := int(validation.CorrectSequences)
	if correct < 20 || correct > 80 {
		t.Fatalf("the model copies %d of 100: that shows little", correct)
	}
	var rows []evaluation.Row
	for _, plan := range []batch.Plan{{Rows: 32}, {Rows: 7, Boundaries: []int{3}}, {Tokens: 20}} {
		done := 0
		e := &evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Model: tr.Model, Plan: plan, ComputeHalted: plan.Tokens > 0, Progress: func(n, total int) {
			if done = n; total != len(examples) {
				t.Errorf("progress of %d examples", total)
			}
		}}
		for _, measure := range []task.Measure{task.ForcedAccuracy{}, task.DecodedAccuracy{}} {
			row, err := e.Measure(ctx, measure, examples)
			if err != nil || done != len(examples) {
				t.Fatalf("%d examples done, %v", done, err)
			}
			rows, done = append(rows, row), 0
		}
	}
	for i, row := range rows {
		if row.Metrics[1].Accuracy != (score.Accuracy{Correct: correct, Total: 100}) || row.Metrics[0].Accuracy.Total != int(validation.Tokens) {
			t.Errorf("measurement %d: %s; training says %d right, of %v tokens", i, row, correct, validation.Tokens)
		}
		if i >= 2 && !slices.Equal(row.Metrics, rows[i-2].Metrics) {
			t.Errorf("measurement %d: %s; in other batches %s", i, row, rows[i-2])
		}
		for at, answer := range row.Answers {
			if answer.Correct != slices.Equal(answer.Tokens, examples[at].Target) {
				t.Errorf("measurement %d, example %d: %v for %v", i, at, answer, examples[at].Target)
			}
		}
		if want := []string{task.TeacherForcing, "greedy decoding"}[i%2]; row.Method != want || row.Count != 100 {
			t.Errorf("measurement %d is labelled %+v", i, row)
		}
		if forced := i%2 == 0; forced != (row.Encoder.Average() > 1 && row.Decoder.Average() > 1) {
			t.Errorf("measurement %d: %v and %v steps", i, row.Encoder, row.Decoder)
		}
	}
	if tokens := rows[0].Metrics[0].Accuracy.Correct; tokens != int(validation.CorrectTokens) {
		t.Errorf("teacher forcing: %d tokens right, training says %v", tokens, validation.CorrectTokens)
	}
	if got, want := rows[0].Encoder.Mean, validation.EncoderPonder(); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v encoder steps, training says %v", got, want)
	}
	e := &evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Model: tr.Model, Plan: batch.Plan{Rows: 50}, Beam: decoding.Beam{Width: 2, Alpha: 0.6}}
	beam, err := e.Measure(ctx, task.DecodedAccuracy{}, examples)
	if err != nil || beam.Method != "beam search of width 2, alpha 0.6" || beam.Metrics[1].Accuracy.Correct == 0 {
		t.Errorf("%+v, %v", beam, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, measure := range []task.Measure{task.ForcedAccuracy{}, task.DecodedAccuracy{}} {
		if _, err := e.Measure(cancelled, measure, examples); err == nil {
			t.Errorf("%T goes on when cancelled", measure)
		}
	}
}

// Log-probabilities are those of the training objective: their mean over all targets is validation's cross entropy.
// Caught when planted: probabilities of the most probable token; targets of another row.
func TestScoresAreTheObjectives(t *testing.T) {
	tr, summary, examples := halfTrained(t)
	e := &evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Model: tr.Model, Plan: batch.Plan{Rows: 9}}
	row, err := e.Measure(context.Background(), task.Perplexity{Words: func(e task.Example) int { return len(e.Target) - 1 }}, examples)
	if err != nil {
		t.Fatal(err)
	}
	nats, tokens := summary.Validation.CrossEntropy(), summary.Validation.Tokens
	for i, want := range []float64{math.Exp(nats), math.Exp(nats * tokens / (tokens - 100)), nats / math.Ln2} {
		if got := row.Metrics[i].Value; math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%s is %v, want %v", row.Metrics[i].Name, got, want)
		}
	}
	if got := row.Metrics[3].Accuracy.Correct; got != int(summary.Validation.CorrectTokens) {
		t.Errorf("%d tokens are the most probable ones, training says %v", got, summary.Validation.CorrectTokens)
	}
}

// A row names task, examples, method and metrics with their counts.
func TestRowSaysHowItWasMeasured(t *testing.T) {
	row := evaluation.Row{Task: "copy", Count: 2, Lengths: "length 40", Measurement: task.Measurement{Method: "beam search of width 4, alpha 0.6",
		Metrics: score.Score{Tokens: score.Accuracy{Correct: 3, Total: 4}, Sequences: score.Accuracy{Correct: 1, Total: 2}}.Metrics()}}
	for _, part := range []string{"copy, length 40, 2 examples, beam search of width 4, alpha 0.6: token accuracy ", "3 of 4", ", sequence accuracy ", "1 of 2"} {
		if !strings.Contains(row.String(), part) {
			t.Errorf("%q has no %q", row, part)
		}
	}
}
