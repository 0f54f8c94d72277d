package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"universal-transformer/decoding"
)

// Requests that wait are decoded together if they are decoded in the same way, in the order in which they came, and up to 64 sources;
// one that has more goes alone.
// Caught when planted: one request at a time, ways that are not compared, no bound, a bound that a large request never passes.
func TestWaitingRequestsGoTogether(t *testing.T) {
	beam := decoding.Method{Beam: decoding.Beam{Width: 2}}
	var q queue
	names := map[*request]int{}
	for i, r := range []struct {
		sources int
		method  decoding.Method
	}{{2, decoding.Method{}}, {1, beam}, {3, decoding.Method{}}, {100, decoding.Method{}}, {59, decoding.Method{}}, {1, beam}, {1, decoding.Method{}}} {
		request := newRequest(t.Context(), r.method, 0, make([]decoding.Query, r.sources), false)
		names[request] = i
		q.waiting = append(q.waiting, request)
	}
	var batches [][]int
	for {
		var together []int
		for _, r := range q.next() {
			together = append(together, names[r])
		}
		if len(together) == 0 {
			break
		}
		batches = append(batches, together)
	}
	if got, want := fmt.Sprint(batches), "[[0 2 4] [1 5] [3] [6]]"; got != want {
		t.Errorf("decoded together: %s, want %s", got, want)
	}
}

// A request whose caller gives up leaves the queue, so that nothing is decoded for it; the others keep their order. The model is busy
// throughout, so all of them wait.
// Caught when planted: cancelled requests that stay queued.
func TestCancelledRequestsLeaveTheQueue(t *testing.T) {
	m := &Model{}
	m.requests.serving = true // nothing is taken from the queue
	waiting := func() []*request {
		m.requests.mu.Lock()
		defer m.requests.mu.Unlock()
		return slices.Clone(m.requests.waiting)
	}
	var requests []*request
	var cancels []context.CancelFunc
	var answers []chan error
	for i := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		r, answered := newRequest(ctx, decoding.Method{}, 0, make([]decoding.Query, 1), false), make(chan error, 1)
		requests, cancels, answers = append(requests, r), append(cancels, cancel), append(answers, answered)
		go func() {
			_, _, err := m.answer(r, nil)
			answered <- err
		}()
		for len(waiting()) <= i {
			runtime.Gosched()
		}
	}
	left := slices.Clone(requests)
	for _, i := range []int{2, 0, 3, 1} {
		cancels[i]()
		if err := <-answers[i]; !errors.Is(err, context.Canceled) {
			t.Errorf("request %d: %v", i, err)
		}
		left = slices.DeleteFunc(left, func(r *request) bool { return r == requests[i] })
		if got := waiting(); !slices.Equal(got, left) {
			t.Errorf("after request %d was cancelled, %d requests wait, want %d in their order", i, len(got), len(left))
		}
	}
}
