package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/pipeline"
)

// Of six calls at once, one has a line that needs too much memory: the others get their answers, and it gets the reason, without the graph
// that could not be built. The same holds for lines of one call.
// Caught when planted: one batch for all; the error of a batch for each of its calls; the backend's own message.
func TestLongLineFailsAlone(t *testing.T) {
	if raceEnabled {
		t.Skip("the memory of the race detector counts as used, and is more than the limit")
	}
	const limit = 0.375 // GiB; the long line needs more than twice as much, on any number of threads
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit * (1 << 30)))
	m := load(t)
	lines := []string{"12", "34", strings.Repeat("1", 1_000_000), "56", "78", "90"}
	o := pipeline.DecodeOptions{MaxSource: 1_000_000, MaxLength: 5}
	check := func(line string, a pipeline.Answer) {
		t.Helper()
		if len(line) < 5 {
			if a.Err != nil || a.Text != line {
				t.Errorf("%s: %+v", line, a)
			}
			return
		}
		var need, have float64
		if a.Err == nil {
			t.Error("the long line has an answer: there is too much memory for this test")
		} else if n, err := fmt.Sscanf(a.Err.Error(), "1000000 tokens need about %f GiB of memory, and %f GiB are available: shorten the line", &need, &have); n != 2 || need < 2*limit || have > limit {
			t.Errorf("the long line: %v (%v)", a.Err, err)
		}
	}
	for range 3 {
		var all sync.WaitGroup
		for _, line := range lines {
			all.Go(func() {
				answers, err := m.Decode(t.Context(), []string{line}, o)
				if err != nil {
					t.Error(err)
					return
				}
				check(line, answers[0])
			})
		}
		all.Wait()
	}
	answers, err := m.Decode(t.Context(), lines, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		check(lines[i], a)
	}
}

// A small request is answered while a large one is being decoded, whatever that takes, and so are the other uses of a model. The large one
// is greedy decoding of so many lines that all of it takes seconds, and it is given up in the end.
// Caught when planted: one lane for all; batches that nobody may interrupt.
func TestSmallRequestBesideLargeOne(t *testing.T) {
	m := load(t)
	hot := pipeline.DecodeOptions{Method: decoding.Method{Sampling: decoding.Sampling{Temperature: 1000, TopP: 1}}, MaxLength: 100_000}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := &gate{reached: make(chan struct{}), open: make(chan struct{})}
	close(begun.open)
	ended := make(chan error, 1)
	go func() { _, err := m.Stream(ctx, begun, slices.Repeat([]string{"1"}, 100_000), hot); ended <- err }()
	<-begun.reached
	for i := range 20 {
		line := fmt.Sprint(100 + i)
		if answers, err := m.Decode(t.Context(), []string{line}, pipeline.DecodeOptions{}); err != nil || answers[0].Text != line {
			t.Fatalf("%s: %v, %v", line, answers, err)
		}
		if _, err := m.Score(t.Context(), []pipeline.Pair{{Source: line, Target: line}}, 0); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("the large request has ended before the small ones: %v", err)
	default:
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the large request ends with %v", err)
	}
}

// Requests of many lines are answered as each line would be alone, beside small ones, and in order when they are streamed.
func TestLargeRequests(t *testing.T) {
	m := load(t)
	lines := make([]string, 500)
	for i := range lines {
		lines[i] = fmt.Sprint(1 + 13*i%9999)
	}
	var all sync.WaitGroup
	for i := range 3 {
		all.Go(func() {
			var text strings.Builder
			if _, err := m.Stream(t.Context(), &text, lines, pipeline.DecodeOptions{}); err != nil || text.String() != strings.Join(lines, "\n")+"\n" {
				t.Errorf("streamed: %d bytes, %v", text.Len(), err)
			}
		})
		all.Go(func() {
			answers, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{})
			if err != nil {
				t.Error(err)
			}
			for k, a := range answers {
				if a.Text != lines[k] || a.Err != nil {
					t.Errorf("%s: %+v", lines[k], a)
				}
			}
		})
		all.Go(func() {
			for k := range 20 {
				if answers, err := m.Decode(t.Context(), lines[i+k:i+k+2], pipeline.DecodeOptions{}); err != nil || answers[1].Text != lines[i+k+1] {
					t.Errorf("%s: %+v, %v", lines[i+k+1], answers, err)
				}
			}
		})
	}
	all.Wait()
}

// The depth may be changed while a large request is decoded: the batch that is being decoded ends as it began. Every line has the answer and
// the steps of one of the depths alone: the first lines those of the trained depth, the last lines those of the last change.
// Caught when planted: a decoder that is freed while a batch is half decoded; steps of another depth.
func TestExitDuringLargeRequest(t *testing.T) {
	m := load(t)
	const line, lines = "2026", 500
	exits := []halting.Exit{{}, {Fixed: 1}, {Fixed: 3}, {Fixed: 2}}
	alone := make([]outcome, len(exits))
	for i, exit := range exits {
		if err := m.SetExit(exit); err != nil {
			t.Fatal(err)
		}
		alone[i] = outcomes(t, m, io.Discard, []string{line})[0]
	}
	if err := m.SetExit(exits[0]); err != nil {
		t.Fatal(err)
	}
	if alone[0].steps == alone[3].steps || alone[2].steps == alone[3].steps {
		t.Fatalf("the depths make no difference: %+v", alone)
	}
	ended := make(chan []outcome, 1)
	begun := &gate{reached: make(chan struct{}), open: make(chan struct{})}
	close(begun.open)
	go func() { ended <- outcomes(t, m, begun, slices.Repeat([]string{line}, lines)) }()
	<-begun.reached
	for _, exit := range exits[1:] {
		if err := m.SetExit(exit); err != nil {
			t.Fatal(err)
		}
	}
	got := <-ended
	if len(got) != lines || !got[0].is(alone[0]) || !got[lines-1].is(alone[3]) {
		t.Fatalf("of %d lines the first is %+v, the last %+v; alone %+v", len(got), got[0], got[len(got)-1], alone)
	}
	for i, one := range got {
		if !slices.ContainsFunc(alone, one.is) {
			t.Errorf("line %d: %+v, alone %+v", i, one, alone)
		}
	}
}

// outcome is an answer with the steps of its tokens.
type outcome struct {
	answer pipeline.Answer
	steps  string
}

// is compares outcomes; sums of probabilities may differ in the last digits.
func (o outcome) is(other outcome) bool {
	return o.answer.Text == other.answer.Text && o.answer.Err == nil && o.steps == other.steps && math.Abs(o.answer.LogProb-other.answer.LogProb) < 1e-4
}

func outcomes(t *testing.T, m *pipeline.Model, w io.Writer, lines []string) []outcome {
	list := make([]outcome, len(lines))
	answers, err := m.StreamTokens(t.Context(), w, lines, pipeline.DecodeOptions{}, func(line int, token pipeline.Token) {
		list[line].steps += fmt.Sprint(token.Steps, " ")
	})
	if err != nil {
		t.Error(err)
	}
	for i, a := range answers {
		list[i].answer = a
	}
	return list
}

// A panic reaches the caller of the line that causes it, and nobody else.
// Caught when planted: a panic that ends the program; one that every call of the batch gets.
func TestPanicReachesItsCaller(t *testing.T) {
	m := load(t)
	m.PanicAt(9)
	ask := func(line string) (panicked any) {
		defer func() { panicked = recover() }()
		if answers, err := m.Decode(t.Context(), []string{line}, pipeline.DecodeOptions{}); err != nil || answers[0].Text != line {
			t.Errorf("%s: %+v, %v", line, answers, err)
		}
		return nil
	}
	var all sync.WaitGroup
	for _, line := range []string{"1", "22", "123456789", "333", "4444", "12"} {
		all.Go(func() {
			if got := ask(line); (got != nil) != (len(line) == 9) {
				t.Errorf("%s panics with %v", line, got)
			}
		})
	}
	all.Wait()
	if _, err := m.Stream(t.Context(), io.Discard, []string{"12"}, pipeline.DecodeOptions{}); err != nil {
		t.Error(err)
	}
}
