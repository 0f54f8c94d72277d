package ut_test

import (
	"errors"
	"io"
	"testing"

	ut "universal-transformer"
)

// After Close, every method with an error says that the model is closed, and the others still answer. Closing waits for calls in progress.
// Caught when planted: Trace without a check; a second Close that frees the backend again.
func TestClosed(t *testing.T) {
	m := load(t)
	w := &closing{m: m, closed: make(chan struct{})}
	if answers, err := m.Stream(t.Context(), w, []string{"12", "2026"}, ut.DecodeOptions{}); err != nil || answers[1].Text != "2026" {
		t.Errorf("a call in progress: %+v, %v", answers, err)
	}
	<-w.closed
	m.Close()
	for name, call := range map[string]func() error{
		"Decode": func() error { _, err := m.Decode(t.Context(), []string{"12"}, ut.DecodeOptions{}); return err },
		"Stream": func() error {
			_, err := m.Stream(t.Context(), io.Discard, []string{"12"}, ut.DecodeOptions{})
			return err
		},
		"Classify": func() error { _, err := m.Classify(t.Context(), []string{"12"}); return err },
		"Tag":      func() error { _, err := m.Tag(t.Context(), []string{"12"}); return err },
		"Score":    func() error { _, err := m.Score(t.Context(), []ut.Pair{{Source: "12", Target: "12"}}); return err },
		"Evaluate": func() error { _, err := m.Evaluate(t.Context(), ut.EvaluateOptions{}); return err },
		"Trace":    func() error { _, err := m.Trace(t.Context(), "12"); return err },
		"SetExit":  func() error { return m.SetExit(ut.Exit{Fixed: 1}) },
	} {
		if err := call(); !errors.Is(err, ut.ErrClosed) || err.Error() != "the model is closed" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if m.Step() != 1200 || m.String() == "" || m.Run().Name == "" {
		t.Errorf("%s of step %d", m, m.Step())
	}
}

// While Close waits for a call, another one is refused at once. Caught when planted: a lock that Close holds while it waits.
func TestCallsWhileClosing(t *testing.T) {
	m := load(t)
	w := &blocking{writes: make(chan struct{}, 99), release: make(chan struct{})}
	streamed := make(chan error)
	go func() {
		_, err := m.Stream(t.Context(), w, []string{"2026"}, ut.DecodeOptions{})
		streamed <- err
	}()
	<-w.writes // the call is in progress
	closed := make(chan struct{})
	go func() { m.Close(); close(closed) }()
	for {
		_, err := m.Decode(t.Context(), []string{"12"}, ut.DecodeOptions{})
		if errors.Is(err, ut.ErrClosed) {
			break // Close has begun
		} else if err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-closed:
		t.Error("closed during a call")
	default:
	}
	close(w.release)
	if err := <-streamed; err != nil {
		t.Error(err)
	}
	<-closed
}

// blocking writes nothing until it is released.
type blocking struct{ writes, release chan struct{} }

func (b *blocking) Write(p []byte) (int, error) {
	b.writes <- struct{}{}
	<-b.release
	return len(p), nil
}

// closing begins to close a model when something is written.
type closing struct {
	m      *ut.Model
	begun  bool
	closed chan struct{}
}

func (c *closing) Write(p []byte) (int, error) {
	if !c.begun {
		c.begun = true
		go func() { c.m.Close(); close(c.closed) }()
	}
	return len(p), nil
}
