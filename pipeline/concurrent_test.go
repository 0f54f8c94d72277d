package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"universal-transformer/decoding"
	"universal-transformer/engine/enginetest"
	"universal-transformer/pipeline"
	"universal-transformer/task"
)

func load(t *testing.T) *pipeline.Model {
	t.Helper()
	m, err := pipeline.Load(copierDir, enginetest.Backend(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// use is what one user does with a model: everything there is, told as text.
func use(t *testing.T, m *pipeline.Model, i int) string {
	line := fmt.Sprint(7*i + 1)
	sampling := decoding.Method{Sampling: decoding.Sampling{Temperature: 5, TopP: 1}, Seed: 3, First: int64(i)}
	switch i % 8 {
	case 0:
		answers, err := m.Decode(t.Context(), []string{line, "12"}, pipeline.DecodeOptions{})
		return fmt.Sprint(answers, err)
	case 1:
		answers, err := m.Decode(t.Context(), []string{line, line}, pipeline.DecodeOptions{Method: sampling})
		return fmt.Sprint(answers, err)
	case 2:
		answers, err := m.Decode(t.Context(), []string{line}, pipeline.DecodeOptions{Method: decoding.Method{Beam: decoding.Beam{Width: 3, Alpha: 0.6}}, MaxLength: 9})
		return fmt.Sprint(answers, err)
	case 3:
		var text strings.Builder
		_, err := m.Stream(t.Context(), &text, []string{line, "9"}, pipeline.DecodeOptions{Method: sampling})
		return fmt.Sprint(text.String(), err)
	case 4:
		scored, err := m.Score(t.Context(), []pipeline.Pair{{Source: line, Target: line}}, 0)
		return fmt.Sprint(scored, err)
	case 5:
		trace, err := m.Trace(t.Context(), line)
		return fmt.Sprint(trace.Output, trace.Encoder.Updates, trace.Decoder.Weights, err)
	case 6:
		_, err := m.Classify(t.Context(), line)
		return fmt.Sprint(err)
	}
	e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Length: 1 + i%4, Count: 5}})
	return fmt.Sprint(e.Row, err)
}

// 64 users at once, from a cold start, get what each would get alone. Run it with -race.
// Caught when planted: a decoder made twice; sampling by the place in a batch; answers that are handed to another request.
func TestConcurrentUse(t *testing.T) {
	const users = 64
	alone, together := load(t), load(t)
	want, got := make([]string, users), make([]string, users)
	for i := range want {
		want[i] = use(t, alone, i)
	}
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = use(t, together, i) })
	}
	all.Wait()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("user %d gets %s, alone %s", i, got[i], want[i])
		}
	}
}

// gate is a writer that waits at its first write.
type gate struct {
	reached chan struct{}
	open    chan struct{}
	once    sync.Once
}

func (g *gate) Write(p []byte) (int, error) {
	g.once.Do(func() { close(g.reached); <-g.open })
	return len(p), nil
}

// A request whose context ends is given up alone, at once, and one that is slow to write keeps nobody waiting.
// Caught when planted: writing while others wait; the context of one request for that of the batch.
func TestOneRequestIsGivenUp(t *testing.T) {
	m := load(t)
	slow := &gate{reached: make(chan struct{}), open: make(chan struct{})}
	ended := make(chan error)
	go func() { _, err := m.Stream(t.Context(), slow, []string{"12"}, pipeline.DecodeOptions{}); ended <- err }()
	<-slow.reached
	long := pipeline.DecodeOptions{Method: decoding.Method{Sampling: decoding.Sampling{Temperature: 1000, TopP: 1}}, MaxLength: 100_000}
	ctx, cancel := context.WithCancel(t.Context())
	begun := &gate{reached: make(chan struct{}), open: make(chan struct{})}
	close(begun.open)
	given := make(chan error)
	go func() { _, err := m.Stream(ctx, begun, slices.Repeat([]string{"1"}, 2000), long); given <- err }()
	<-begun.reached
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("the cancelled request ends with %v", err)
	}
	if answers, err := m.Decode(t.Context(), []string{"2026"}, pipeline.DecodeOptions{}); err != nil || answers[0].Text != "2026" {
		t.Errorf("the other one: %v, %v", answers, err)
	}
	close(slow.open)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := m.Decode(ctx, []string{"1"}, pipeline.DecodeOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request that begins too late: %v", err)
	}
	if _, err := m.Stream(t.Context(), broken{}, []string{"12", "13"}, pipeline.DecodeOptions{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a writer that fails: %v", err)
	}
}

// What a cancelled request has written is the beginning of what it would have written: it does not end the line that it has begun, which would look
// complete. Several lines may have ended before the writer had its turn. Caught when planted: a line break at the end.
func TestCancelledLineIsOpen(t *testing.T) {
	m := load(t)
	lines := slices.Repeat([]string{"1"}, 500)
	long := pipeline.DecodeOptions{Method: decoding.Method{Sampling: decoding.Sampling{Temperature: 1000, TopP: 1}}, MaxLength: 100_000}
	var whole strings.Builder
	if _, err := m.StreamTokens(t.Context(), &whole, lines, long, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := &cancelling{cancel: cancel}
	if answers, err := m.StreamTokens(ctx, w, lines, long, nil); !errors.Is(err, context.Canceled) || answers != nil {
		t.Errorf("%d answers, %v", len(answers), err)
	}
	text := w.text.String()
	if rest, ok := strings.CutPrefix(whole.String(), text); text == "" || !ok || rest == "" {
		t.Errorf("written is %q, which is not the beginning of the whole", text)
	}
}

// Answers of characters are written token by token, and a line without an answer is empty.
func TestStreamWritesTokens(t *testing.T) {
	m := load(t)
	w := &pieces{}
	if _, err := m.Stream(t.Context(), w, []string{"12", "x", "345"}, pipeline.DecodeOptions{}); err == nil {
		t.Error("the line x is read")
	}
	if got := fmt.Sprintf("%q", *w); got != `["1" "2" "\n" "\n" "3" "4" "5" "\n"]` {
		t.Errorf("written is %s", got)
	}
}

// pieces is what was written, call by call.
type pieces []string

func (p *pieces) Write(data []byte) (int, error) {
	*p = append(*p, string(data))
	return len(data), nil
}

// cancelling is a writer that cancels a request at its first write.
type cancelling struct {
	text   strings.Builder
	cancel func()
}

func (c *cancelling) Write(p []byte) (int, error) {
	c.cancel()
	return c.text.Write(p)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Little memory splits what is decoded together, and the answers stay the same; what is too long is refused by name.
func TestDecodeWithinLimits(t *testing.T) {
	m := load(t)
	lines := []string{"1", "22", "333", "4444", "12", "7"}
	want, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{1, 1 << 16, 1 << 18} {
		if got, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{Memory: memory}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("in %d bytes: %v, %v, want %v", memory, got, err, want)
		}
	}
	for says, o := range map[string]pipeline.DecodeOptions{
		"MaxSource is -1":      {MaxSource: -1},
		"MaxLength is 1000001": {MaxLength: 1_000_001},
		"Memory is -1":         {Memory: -1},
	} {
		if _, err := m.Decode(t.Context(), []string{"123", strings.Repeat("1", 10_001)}, o); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %q", o, err, says)
		}
	}
}

// A line that cannot be read or is too long fails alone, with the numbers of other lines unchanged: sampled answers depend on them.
func TestLinesFailAlone(t *testing.T) {
	m := load(t)
	o := pipeline.DecodeOptions{Method: decoding.Method{Sampling: decoding.Sampling{Temperature: 5, TopP: 1}, Seed: 3}, MaxSource: 4}
	lines, good := []string{"1x", "12", "77777", "31"}, []string{"0", "12", "0", "31"}
	want, err := m.Decode(t.Context(), good, o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Decode(t.Context(), lines, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, says := range []string{`"x"`, "", "5 tokens are more than the limit, 4", ""} {
		if says == "" && !reflect.DeepEqual(got[i], want[i]) || says != "" && (got[i].Err == nil || !strings.Contains(got[i].Err.Error(), says)) {
			t.Errorf("%q: %+v, want %+v or an error with %q", lines[i], got[i], want[i], says)
		}
	}
	var text strings.Builder
	var failed pipeline.LineErrors
	if _, err := m.Stream(t.Context(), &text, lines, o); !errors.As(err, &failed) || len(failed) != 2 || failed[0].Line != 1 || failed[1].Line != 3 {
		t.Errorf("streamed: %v", err)
	}
	if want := "\n" + want[1].Text + "\n\n" + want[3].Text + "\n"; text.String() != want {
		t.Errorf("streamed %q, want %q", text.String(), want)
	}
	if answers, err := m.Decode(t.Context(), []string{"x"}, o); err != nil || answers[0].Err == nil {
		t.Errorf("no good line: %v, %v", answers, err)
	}
}

// The test is the same for every seed, validation the run's own. Caught when planted: the run's seed for the test.
func TestEveryRunHasTheSameTest(t *testing.T) {
	m := load(t)
	examples := func(seed uint64, validation bool) []task.Example {
		m.Run.Seed = seed
		e, err := m.Evaluate(t.Context(), pipeline.Protocol{Selection: task.Selection{Count: 20, Validation: validation}})
		if err != nil {
			t.Fatal(err)
		}
		return e.Examples
	}
	same := func(a, b []task.Example) bool { return fmt.Sprint(a) == fmt.Sprint(b) }
	if !same(examples(1, false), examples(2, false)) {
		t.Error("two seeds have two tests")
	}
	if same(examples(1, true), examples(2, true)) || same(examples(1, true), examples(1, false)) {
		t.Error("validation is the test, or does not depend on the seed")
	}
}

// If decoding together fails, only the line that cannot be decoded alone fails, whoever asked for it, and no token is written twice.
func TestFailedBatchIsDecodedInParts(t *testing.T) {
	m := load(t)
	lines := []string{"1", "22", "333", "123456789", "12", "7"}
	m.FailFrom(9)
	answers, err := m.Decode(t.Context(), lines, pipeline.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range answers {
		if failed := i == 3; (a.Err != nil) != failed || !failed && a.Text != lines[i] {
			t.Errorf("%s: %+v", lines[i], a)
		}
	}
	var text strings.Builder
	var failed pipeline.LineErrors
	if _, err := m.Stream(t.Context(), &text, lines, pipeline.DecodeOptions{}); !errors.As(err, &failed) || len(failed) != 1 || failed[0].Line != 4 {
		t.Errorf("streamed: %v", err)
	}
	if want := "1\n22\n333\n\n12\n7\n"; text.String() != want {
		t.Errorf("streamed %q, want %q", text.String(), want)
	}
}

// A request that comes during an evaluation is answered before the evaluation has ended. Caught when planted: answers that are decoded, or
// batches that are scored, without a pause.
func TestEvaluateLetsOthersCompute(t *testing.T) {
	m := load(t)
	for _, forced := range []bool{false, true} {
		answered := make(chan error, 1)
		began, between := false, false
		_, err := m.Evaluate(t.Context(), pipeline.Protocol{
			Selection: task.Selection{Count: 8000}, TeacherForced: forced,
			Progress: func(done, total int) {
				if !began {
					began = true
					go func() {
						_, err := m.Decode(t.Context(), []string{"12"}, pipeline.DecodeOptions{})
						answered <- err
					}()
				}
				if done < total && len(answered) == 1 {
					between = true
				}
			},
		})
		if err := errors.Join(err, <-answered); err != nil || !between {
			t.Errorf("forced %v: the request was answered only after the evaluation; %v", forced, err)
		}
	}
}
