package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// A turn that ends is measured, the network is looked at, and the next turn begins now. A batch begins a turn as well.
// Caught when planted: a next turn that counts from the beginning of the last; no look at the network; a batch whose first turn has
// the length of the last one of the batch before.
func TestTurnsBeginAnew(t *testing.T) {
	q := New(func() (*decoding.Decoder, error) { return nil, errors.New("no decoder") })
	l := &q.large
	l.poll = newPoller()
	defer l.poll.close()
	_ = q.Acquire(t.Context())
	l.since = time.Now().Add(-time.Hour)
	q.takeTurns(l)
	if l.took < time.Hour || time.Since(l.since) > time.Minute || l.poll.last.IsZero() {
		t.Errorf("the turn took %v, the next one began %v ago, the network was looked at at %v", l.took, time.Since(l.since), l.poll.last)
	}
	q.Release()
	l.since = time.Time{}
	l.waiting, l.serving = []*request{newRequest(Request{Context: t.Context(), Queries: sources(3)})}, true
	if n := len(q.decodeNext(l)); n != 1 || l.took != 0 || time.Since(l.since) > time.Minute {
		t.Errorf("%d queries are decoded in a turn of %v that began %v ago", n, l.took, time.Since(l.since))
	}
	if err := q.Acquire(t.Context()); err != nil {
		t.Error(err)
	}
	q.Release()
	if err := q.Exclusively(func() error { return nil }); err != nil { // the batch holds nothing
		t.Error(err)
	}
}

// Without a decoder each query has its own error, found by halving: 5 attempts for 3 queries. The lane of large requests frees its pipe
// when it ends.
// Caught when planted: one error for all; a query that is decoded twice; a pipe that stays open.
func TestErrorsOfEachQuery(t *testing.T) {
	attempts := 0
	broken := errors.New("broken")
	q := New(func() (*decoding.Decoder, error) { attempts++; return nil, broken })
	found, errs, err := q.Answer(Request{Context: t.Context(), Queries: sources(5, 6, 7)})
	if err != nil || len(found) != 3 || !slices.Equal(errs, []error{broken, broken, broken}) || attempts != 5 {
		t.Errorf("%v, %v, %v after %d attempts", found, errs, err, attempts)
	}
	if _, errs, err := q.Answer(Request{Context: t.Context(), Queries: sources(slices.Repeat([]int{1}, 65)...)}); err != nil || len(errs) != 65 {
		t.Errorf("%d errors, %v", len(errs), err)
	}
	serving := func(l *lane) bool {
		q.mu.Lock()
		defer q.mu.Unlock()
		return l.serving
	}
	for serving(&q.large) || serving(&q.small) {
		runtime.Gosched()
	}
	<-q.large.poll.seen // closed by the goroutine that ends
	if q.small.poll != nil {
		t.Error("the small lane has a pipe")
	}
	if _, _, err := q.Answer(Request{Context: t.Context()}); err != nil {
		t.Errorf("no query: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := q.Answer(Request{Context: ended, Queries: sources(1)}); !errors.Is(err, context.Canceled) || q.count(&q.small) != 0 {
		t.Errorf("a context that has ended: %v", err)
	}
}

// A panic while decoding goes on where the request was made, and the lane goes on serving.
func TestPanic(t *testing.T) {
	q := New(func() (*decoding.Decoder, error) { panic("damaged") })
	for range 2 {
		func() {
			defer func() {
				if got := recover(); got != "damaged" {
					t.Errorf("recovered %v", got)
				}
			}()
			_, _, err := q.Answer(Request{Context: t.Context(), Queries: sources(2)})
			t.Errorf("no panic: %v", err)
		}()
	}
	if got := (&panicError{3}).Error(); got != "3" {
		t.Errorf("the panic is %q", got)
	}
}

// Seeds matter in sampling only; the start of the numbers does not matter for what is decoded together, and memory has a default.
// Caught when planted: seeds of samplings that are ignored; seeds of greedy decoding that are compared.
func TestWays(t *testing.T) {
	made := func(m decoding.Method, memory int64) way {
		return newRequest(Request{Context: t.Context(), Method: m, Memory: memory, Queries: sources(1)}).way
	}
	drawn := func(seed uint64, first int64) decoding.Method {
		return decoding.Method{Sampling: decoding.Sampling{Temperature: 1, TopP: 1}, Seed: seed, First: first}
	}
	if made(drawn(1, 0), 0) == made(drawn(2, 0), 0) || made(drawn(1, 5), 0) != made(drawn(1, 6), 0) {
		t.Error("samplings are compared by something other than their seeds")
	}
	if made(decoding.Method{Seed: 1}, 0) != made(decoding.Method{Seed: 2}, 0) {
		t.Error("greedy decoding is compared by its seeds")
	}
	for memory, want := range map[int64]int64{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 1 << 30: 1 << 29} {
		if got := half(memory); got != want {
			t.Errorf("half of %d is %d, want %d", memory, got, want)
		}
	}
	if made(decoding.Method{}, 0).memory != decoding.DefaultMemory() || made(decoding.Method{}, 1000).memory != 1000 {
		t.Error("the memory is neither the one asked for nor the default")
	}
}

// Tokens that wait are delivered once, in order, also when nobody has been woken; a context that has ended comes before them.
// Caught when planted: tokens delivered again; tokens dropped while the caller is slow.
func TestDeliver(t *testing.T) {
	var got []string
	ctx, cancel := context.WithCancel(t.Context())
	r := newRequest(Request{Context: ctx, Queries: sources(1, 1), Watch: func(source int, token vocab.ID) { got = append(got, fmt.Sprint(source, ":", token)) }})
	r.Queries[1].OnToken(7)
	r.Queries[0].OnToken(8)
	r.deliver()
	r.deliver()
	r.Queries[1].OnToken(9)
	if len(r.wake) != 1 {
		t.Error("the caller is not woken")
	}
	if _, _, err := r.result(); err != nil {
		t.Error(err)
	}
	if want := "1:7 0:8 1:9"; strings.Join(got, " ") != want {
		t.Errorf("delivered %q, want %q", got, want)
	}
	r.Queries[0].OnToken(10)
	cancel()
	if _, _, err := r.result(); !errors.Is(err, context.Canceled) || len(got) != 3 {
		t.Errorf("after the end of the context: %v, %q", err, got)
	}
	select {
	case <-r.Queries[0].Done:
	default:
		t.Error("the queries do not end with the context")
	}
}
