package queue

import (
	"context"
	"errors"
	"os"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"universal-transformer/decoding"
)

// Between the parts of a computation, whoever waits has a turn; what replaces the decoder waits until the computation is done. A context
// that ends while somebody else computes ends the waiting, and leaves nothing locked.
// Caught when planted: a pause that does not release; a decoder that is replaced in a pause; a lock that is kept.
func TestInTurns(t *testing.T) {
	q := New(nil)
	order := make(chan string, 10)
	waiting, replaced := make(chan struct{}), make(chan struct{})
	err := q.InTurns(t.Context(), func(pause func()) error {
		go func() {
			close(waiting)
			_ = q.Acquire(context.Background())
			order <- "other"
			q.Release()
		}()
		go func() {
			_ = q.Exclusively(func() error { order <- "replaced"; return nil })
			close(replaced)
		}()
		<-waiting
		for len(order) == 0 { // the other goroutine may not be waiting yet
			pause()
		}
		order <- "second part"
		pause()
		return errors.New("an error")
	})
	<-replaced
	if err == nil || err.Error() != "an error" {
		t.Errorf("the error is %v", err)
	}
	for _, want := range []string{"other", "second part", "replaced"} {
		if got := <-order; got != want {
			t.Errorf("%s comes where %s should", got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = q.Exclusively(func() error {
		cancel()
		return q.InTurns(ctx, func(func()) error { t.Error("computed in spite of the end"); return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("while the decoder is replaced: %v", err)
	}
	if err := q.Exclusively(func() error { return nil }); err != nil || q.large.took != 0 {
		t.Errorf("afterwards: %v, turns of %v", err, q.large.took)
	}
}

// Each look at the network ends before poll returns, so that the next one can begin, and close ends the goroutine and closes the pipe.
// Caught when planted: poll returns before the look has ended; a goroutine that ends after the first look.
func TestPollerLooksAgain(t *testing.T) {
	p := newPoller()
	for range 3 {
		p.last = time.Time{}
		p.poll()
		select {
		case _, more := <-p.seen:
			t.Errorf("a look is left over: %v", more)
		default:
		}
	}
	_ = p.write.Close() // the goroutine reads what is left
	for range p.seen {
		t.Error("a look is left over")
	}
	q := newPoller()
	q.close()
	for range q.seen {
		t.Error("it has looked")
	}
	for name, f := range map[string]*os.File{"read": q.read, "write": q.write} {
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			t.Errorf("the end to %s is still open: %v", name, err)
		}
	}
	p.close()
}

// Who stops waiting for a batch, because the context has ended, does not keep the decoder from being replaced later.
// Caught when planted: a lock that is kept.
func TestHoldThatEnds(t *testing.T) {
	q := New(nil)
	q.batches.Lock()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	before := runtime.NumGoroutine()
	if err := q.hold(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	q.batches.Unlock()
	for runtime.NumGoroutine() > before { // those of hold have the lock at last
		runtime.Gosched()
	}
	if err := q.Exclusively(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// A context that ends while others compute, or before, ends the waiting, and leaves the place to those who still wait.
func TestAcquireThatEnds(t *testing.T) {
	q := New(nil)
	if err := q.Acquire(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() { waiting <- q.Acquire(ctx) }()
	go func() { waiting <- q.InTurns(ctx, func(func()) error { return errors.New("computed") }) }()
	cancel()
	for range 2 {
		if err := <-waiting; !errors.Is(err, context.Canceled) {
			t.Errorf("while another one computes: %v", err)
		}
	}
	q.Release()
	if err := q.Acquire(ctx); !errors.Is(err, context.Canceled) || len(q.busy) != 0 {
		t.Errorf("a context that has ended: %v", err)
	}
	if err := q.Exclusively(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// The turns of small requests take as long as the part of the computation before them, and no longer when it is done.
// Caught when planted: turns as long as the whole computation.
func TestTurnsOfSmallRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(nil)
		_ = q.InTurns(t.Context(), func(pause func()) error {
			for _, part := range []time.Duration{3, 5, 2} {
				time.Sleep(part)
				if pause(); q.large.took != part {
					t.Errorf("after a part of %v, turns take %v", part, q.large.took)
				}
			}
			return nil
		})
		if q.large.took != 0 {
			t.Errorf("afterwards turns take %v", q.large.took)
		}
	})
}

// A lane is served by one goroutine, from its first request on.
// Caught when planted: a lane that does not know that it is served.
func TestOneGoroutineServes(t *testing.T) {
	problem := errors.New("no decoder")
	q := New(func() (*decoding.Decoder, error) { return nil, problem })
	if err := q.Acquire(t.Context()); err != nil { // so that the goroutine waits
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	var requests []*request
	for range 5 {
		r := newRequest(Request{Context: t.Context(), Queries: sources(2)})
		l := q.add(r)
		q.mu.Lock()
		if requests = append(requests, r); !l.serving || runtime.NumGoroutine() > before+1 {
			t.Errorf("serving %v, with %d goroutines for %d requests", l.serving, runtime.NumGoroutine()-before, len(requests))
		}
		q.mu.Unlock()
	}
	q.Release()
	for _, r := range requests {
		<-r.done
		if _, errs, err := r.result(); err != nil || !errors.Is(errs[0], problem) {
			t.Errorf("%v, %v", errs, err)
		}
	}
}
