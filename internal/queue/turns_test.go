package queue

import (
	"context"
	"errors"
	"testing"
	"time"
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

// Each look at the network ends before poll returns, so that the next one can begin, and close ends the goroutine.
// Caught when planted: poll returns before the look has ended, and the goroutine blocks.
func TestPollerLooksAgain(t *testing.T) {
	p := newPoller()
	for range 3 {
		p.last = time.Time{}
		p.poll()
	}
	p.close()
	if _, more := <-p.seen; more {
		t.Error("a look is left over")
	}
}

// Who stops waiting for a batch, because the context has ended, does not keep the decoder from being replaced later.
// Caught when planted: a lock that is kept.
func TestHoldThatEnds(t *testing.T) {
	q := New(nil)
	q.batches.Lock()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := q.hold(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	q.batches.Unlock()
	if err := q.Exclusively(func() error { return nil }); err != nil {
		t.Error(err)
	}
}
