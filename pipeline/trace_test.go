package pipeline_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"universal-transformer/engine/enginetest"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/pipeline"
	"universal-transformer/subword"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/table"
	"universal-transformer/task/text"
	"universal-transformer/universal"
	"universal-transformer/viewer"
)

// A trace drops nothing out: that of a model with dropout is that of the same model without.
// Caught when planted: dropout left on.
func TestTraceDropsNothing(t *testing.T) {
	r := brief(t, pairs())
	with := r.Model.Value.(experiment.EncoderDecoder)
	with.Dropout = universal.Dropout{Embedding: 0.5, Attention: 0.5, Transition: 0.5, Residual: 0.5}
	r.Model.Value = with
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	dropping, err := m.Trace(t.Context(), "123")
	if err != nil {
		t.Fatal(err)
	}
	without := with
	without.Dropout = universal.Dropout{}
	m.ReplaceGraph(without.Build(m.Vocabularies, m.Run.Seed))
	m.Close()
	plain, err := m.Trace(t.Context(), "123")
	if err != nil {
		t.Fatal(err)
	}
	if len(plain.Encoder.Attention) == 0 || !reflect.DeepEqual(plain, dropping) {
		t.Errorf("the traces differ:\n%+v\n%+v", plain.Encoder, dropping.Encoder)
	}
}

// After every step of a model of fixed depth, the readout gives each written token the probability that ut score gives it with that
// number of decoder steps; after the last step the most probable tokens are the answer.
// Caught when planted: the readouts of all steps in the wrong order; probabilities of another position; padding among the tokens.
func TestTraceReadouts(t *testing.T) {
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	const steps = 4 // one more than in training
	if err := m.SetExit(halting.Exit{Fixed: steps}); err != nil {
		t.Fatal(err)
	}
	trace, err := m.Trace(t.Context(), "1232")
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Readouts) != len(trace.Target) || trace.Exit != "4 fixed steps" {
		t.Fatalf("%d readouts of %d positions and %d steps", len(trace.Readouts), len(trace.Target), steps)
	}
	for step := 1; step <= steps; step++ {
		if err := m.SetExit(halting.Exit{EncoderSteps: steps, DecoderSteps: step}); err != nil {
			t.Fatal(err)
		}
		scored, err := m.Score(t.Context(), []pipeline.Pair{{Source: "1232", Target: strings.Join(trace.Output, "")}}, 0)
		if err != nil || scored[0].Err != nil {
			t.Fatal(err, scored[0].Err)
		}
		for i, want := range scored[0].LogProbs[:len(trace.Readouts)] { // the answer may lack its end
			r := trace.Readouts[i]
			if got := math.Log(r.Written[step-1]); math.Abs(got-want) > 1e-5*max(1, -want) {
				t.Errorf("step %d, position %d: ln p is %v, with %d decoder steps it is %v", step, i, got, step, want)
			}
			sum := 0.0
			for k, c := range r.Steps[step-1] {
				if sum += c.Probability; c.Token == "<pad>" || k > 0 && c.Probability > r.Steps[step-1][k-1].Probability || sum > 1+1e-6 {
					t.Errorf("step %d, position %d: %+v", step, i, r.Steps[step-1])
				}
			}
			if step == steps && r.Answer != trace.Target[i] {
				t.Errorf("position %d: the answer is %q, but %q was written", i, r.Answer, trace.Target[i])
			}
		}
	}
	if err := m.SetExit(halting.Exit{}); err != nil {
		t.Fatal(err)
	}
	adaptive, err := m.Trace(t.Context(), "1232")
	if err != nil || adaptive.Exit != "" || adaptive.Decoder.Remainders == nil {
		t.Errorf("the exit remains: %q, %v", adaptive.Exit, err)
	}
	for i, r := range adaptive.Readouts {
		if r.Answer != adaptive.Target[i] || len(r.Steps) != len(adaptive.Decoder.Weights) || len(r.Steps) != len(adaptive.Decoder.Changes) {
			t.Errorf("position %d: %+v of %q", i, r, adaptive.Target[i])
		}
	}
}

// A trace has the prompt of a language model, its subwords as the text they add, and the correct answer where the task computes it.
// Caught when planted: pieces spelled as in the vocabulary, with "Ġ" for a blank; a prompt without its last token.
func TestTraceTexts(t *testing.T) {
	lines := ""
	for i := range 60 {
		lines += fmt.Sprintf("the cat %d sat\teine schöne Katze saß %d\n", i, i*7)
	}
	translator := brief(t, lines)
	config := translator.Task.Value.(table.Table)
	config.Tokenizer, config.Choice = vocab.Subwords, subword.Choice{TokenizerSize: 280}
	translator.Task = experiment.Task{Value: config}
	trace := traceOf(t, translator, "the cat 5 sat schöne")
	if trace.Input != "the cat 5 sat schöne" || trace.Unknown != nil {
		t.Errorf("the input is %q, without %q", trace.Input, trace.Unknown)
	}
	// 漢 is U+6F22, three bytes of UTF-8.
	if got := traceOf(t, translator, "漢 cat").Source; !slices.Equal(got[:3], []string{`\xe6`, `\xbc`, `\xa2`}) || strings.Join(got[3:], "") != " cat" {
		t.Errorf("bytes are %q", got)
	}
	if got := strings.Join(trace.Source, ""); got != "the cat 5 sat schöne" || len(trace.Source) > len(got)-5 || slices.Contains(trace.Source, "Ġ") {
		t.Errorf("source %q", trace.Source)
	}
	for _, r := range trace.Readouts {
		for _, c := range r.Steps[0] {
			if strings.ContainsAny(c.Token, "ĠĊÃ") {
				t.Errorf("a readout has the piece %q", c.Token)
			}
		}
	}

	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte(strings.Repeat("abcab\nba", 200)), 0o600); err != nil {
		t.Fatal(err)
	}
	writer := brief(t, "")
	writer.Task = experiment.Task{Value: text.Text{Path: path, Length: 8, HeldOut: 0.3}}
	writer.Model = experiment.Model{Value: experiment.LanguageModel(writer.Model.Value.(experiment.EncoderDecoder))}
	trace = traceOf(t, writer, "abc")
	if !slices.Equal(trace.Source, []string{"a", "b", "c"}) || !slices.Equal(trace.Target[:3], trace.Source) || trace.Encoder != nil {
		t.Errorf("prompt %q of %q", trace.Source, trace.Target)
	}

	reverse := brief(t, "")
	reverse.Task = experiment.Task{Value: algorithmic.Reverse{Digits: algorithmic.Digits{MaxLength: 4}}}
	if trace = traceOf(t, reverse, "314"); strings.Join(trace.Reference, "") != "413" {
		t.Errorf("the correct answer is %q", trace.Reference)
	}
}

// traceOf trains a run and traces an input.
func traceOf(t *testing.T, r experiment.Run, input string) *viewer.Trace {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := pipeline.Train(t.Context(), enginetest.Backend(t), r, dir, pipeline.Callbacks{}); err != nil {
		t.Fatal(err)
	}
	m, err := pipeline.Load(dir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	trace, err := m.Trace(t.Context(), input)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}
