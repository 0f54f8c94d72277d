package evaluation_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"universal-transformer/batch"
	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/evaluation"
	"universal-transformer/halting"
	"universal-transformer/internal/seed"
	"universal-transformer/objective"
	"universal-transformer/runlog"
	"universal-transformer/score"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
	"universal-transformer/vocab"
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
func halfTrained(t *testing.T) (*training.Trainer, training.Report, []task.Example) {
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
		Config: training.Config{
			Steps: 80, Schedule: training.Constant(5e-3), Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1, Ponder: objective.PonderSchedule{Weight: 0.01},
			LogEvery: 100, EvaluateEvery: 80, CheckpointEvery: 1000, Keep: 2, Seed: 1,
		},
		Backend: enginetest.Backend(t), Model: m, Stream: stream, Log: log, HeldOut: batch.Chunk(examples, batch.Plan{Rows: 32}),
	}
	report, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return tr, report, examples
}

// Greedy decoding gets exactly those sequences right that teacher forcing gets right, and so does the tally of training; every row says
// what was measured and how; the size of batches does not matter.
// Tokens are as many as in training's tally under teacher forcing, where a wrong end ends nothing.
// Caught when planted: predictions cut at a wrong end under teacher forcing; scores of one example put down to another; predictions read from another row; a limit that cuts right sequences off.
func TestGreedyDecodingAndTeacherForcingAgreeOnSequences(t *testing.T) {
	tr, report, examples := halfTrained(t)
	m, ctx := tr.Model.(universal.EncoderDecoder), context.Background()
	right := int(report.HeldOut.CorrectSequences)
	if right < 20 || right > 80 {
		t.Fatalf("the model copies %d of 100: that shows little", right)
	}
	var rows []evaluation.Row
	for _, plan := range []batch.Plan{{Rows: 32}, {Rows: 7, Boundaries: []int{3}}, {Tokens: 20}} {
		done := 0
		e := evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Plan: plan, Progress: func(n, total int) {
			if done = n; total != len(examples) {
				t.Errorf("progress of %d examples", total)
			}
		}}
		forced, err := e.TeacherForce(ctx, m, examples)
		if err != nil || done != len(examples) {
			t.Fatalf("%d examples done, %v", done, err)
		}
		greedy, err := e.Decode(ctx, m, examples, decoding.Beam{})
		if err != nil || done != len(examples) {
			t.Fatalf("%d examples done, %v", done, err)
		}
		rows = append(rows, forced, greedy)
	}
	for i, row := range rows {
		if row.Score.Sequences != (score.Accuracy{Correct: right, Total: 100}) || row.Score.Tokens.Total != int(report.HeldOut.Tokens) {
			t.Errorf("measurement %d: %s; training says %d right, of %v tokens", i, row, right, report.HeldOut.Tokens)
		}
		if i >= 2 && row.Score != rows[i-2].Score {
			t.Errorf("measurement %d: %s; in other batches %s", i, row, rows[i-2])
		}
		if want := []string{evaluation.TeacherForcing, evaluation.GreedyDecoding}[i%2]; row.Method != want || row.Examples != 100 || row.BeamWidth != 0 {
			t.Errorf("measurement %d is labelled %+v", i, row)
		}
	}
	if tokens := rows[0].Score.Tokens.Correct; tokens != int(report.HeldOut.CorrectTokens) {
		t.Errorf("teacher forcing: %d tokens right, training says %v", tokens, report.HeldOut.CorrectTokens)
	}
	e := evaluation.Evaluator{Backend: tr.Backend, Store: tr.Store, Plan: batch.Plan{Rows: 50}}
	beam, err := e.Decode(ctx, m, examples, decoding.Beam{Width: 2, Alpha: 0.6})
	if err != nil || beam.Method != evaluation.BeamSearch || beam.BeamWidth != 2 || beam.Alpha != 0.6 || beam.Score.Sequences.Correct == 0 {
		t.Errorf("%+v, %v", beam, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := e.Decode(cancelled, m, examples, decoding.Beam{}); err == nil {
		t.Error("decoding goes on when cancelled")
	}
	if _, err := e.TeacherForce(cancelled, m, examples); err == nil {
		t.Error("teacher forcing goes on when cancelled")
	}
}

// A row names task, examples, method and both accuracies with their counts. What is written about the method is not left to the reader to guess.
func TestRowSaysHowItWasMeasured(t *testing.T) {
	row := evaluation.Row{Task: "copy", Examples: 2, Lengths: "length 40", Method: evaluation.BeamSearch, BeamWidth: 4, Alpha: 0.6,
		Score: score.Score{Tokens: score.Accuracy{Correct: 3, Total: 4}, Sequences: score.Accuracy{Correct: 1, Total: 2}}}
	for _, part := range []string{"copy, length 40, 2 examples, beam search of width 4, alpha 0.6: token accuracy ", "3 of 4", ", sequence accuracy ", "1 of 2"} {
		if !strings.Contains(row.String(), part) {
			t.Errorf("%q has no %q", row, part)
		}
	}
	row.Method = evaluation.TeacherForcing
	if !strings.Contains(row.String(), "2 examples, teacher forcing: ") {
		t.Error(row)
	}
}
