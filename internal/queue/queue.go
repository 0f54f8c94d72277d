// Package queue decodes the requests of many goroutines with one decoder.
//
// Requests that wait are decoded together if they are decoded in the same way, and each source gets the answer that it would get alone, up
// to rounding (see package decoding). If decoding together fails, only the sources that fail alone have errors. Small and large requests
// have lanes of their own, which take turns between tokens, so that a small request does not wait until a large one is done; within a lane,
// every request has the same share of a batch. A batch is small, so the memory does not depend on the size of a request, apart from its
// sources and answers.
package queue

import (
	"context"
	"slices"
	"sync"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// Limits of what is decoded together.
const (
	maxBatch  = 64                   // sources
	maxPadded = 1 << 13              // tokens of sources, including padding; a longer source is decoded alone
	maxGather = 5 * time.Millisecond // of waiting for more requests
)

// Queue holds the requests that wait to be decoded. One computation runs at a time: the methods Acquire and Exclusively let others use
// the model. Safe for concurrent use.
type Queue struct {
	OnBatch func(sources int)    // called with the size of each batch before it is decoded; may be nil; set it before the first request
	OnToken func(token vocab.ID) // called with each final token that is decoded, also of requests that were given up; like OnBatch

	decoder func() (*decoding.Decoder, error)
	busy    chan struct{} // full while a request is computed; waiting requests are served first in, first out
	batches sync.RWMutex  // read-locked while a batch is being decoded

	mu           sync.Mutex // guards the lanes, but for their turns
	small, large lane
}

// lane holds requests of which queries are waiting. One batch of a lane is decoded at a time.
type lane struct {
	waiting []*request
	serving bool          // a goroutine is decoding, and looks here again before it ends
	arrived chan struct{} // there is another request

	since time.Time     // when its turn began; since, took and poll are guarded by busy
	took  time.Duration // how long its last turn took
	poll  *poller       // of the large lane
}

// New returns an empty queue. decoder is called before each batch, while no other call computes.
func New(decoder func() (*decoding.Decoder, error)) *Queue {
	q := &Queue{decoder: decoder, busy: make(chan struct{}, 1)}
	q.small.arrived, q.large.arrived = make(chan struct{}, 1), make(chan struct{}, 1)
	return q
}

// Acquire waits until no call computes, unless ctx ends first. Batches may be half decoded. The caller must call Release.
func (q *Queue) Acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case q.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release ends what Acquire began.
func (q *Queue) Release() { <-q.busy }

// InTurns calls compute when no other call computes, unless ctx ends first. compute calls pause between its parts; meanwhile, others
// compute. The decoder is not replaced before compute returns.
func (q *Queue) InTurns(ctx context.Context, compute func(pause func()) error) error {
	if err := q.hold(ctx); err != nil {
		return err
	}
	defer q.batches.RUnlock()
	if err := q.Acquire(ctx); err != nil {
		return err
	}
	since := time.Now()
	defer func() {
		q.large.took = 0
		q.Release()
	}()
	return compute(func() {
		q.large.took = time.Since(since) // the turns of small requests take as long
		q.Release()
		_ = q.Acquire(context.Background())
		since = time.Now()
	})
}

// hold locks batches for reading, unless ctx ends first.
func (q *Queue) hold(ctx context.Context) error {
	held := make(chan struct{})
	go func() {
		q.batches.RLock()
		close(held)
	}()
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		go func() {
			<-held
			q.batches.RUnlock()
		}()
		return ctx.Err()
	}
}

// Exclusively calls use when no call computes and no batch is half decoded, so that the decoder may be replaced.
func (q *Queue) Exclusively(use func() error) error {
	q.batches.Lock()
	defer q.batches.Unlock()
	_ = q.Acquire(context.Background())
	defer q.Release()
	return use()
}

// Answer decodes a request and waits until it is done or its context ends. Each query has an answer or an error.
func (q *Queue) Answer(r Request) ([]decoding.Hypothesis, []error, error) {
	if err := r.Context.Err(); err != nil || len(r.Queries) == 0 {
		return nil, nil, err
	}
	return q.wait(newRequest(r))
}

func (q *Queue) wait(r *request) ([]decoding.Hypothesis, []error, error) {
	l := q.add(r)
	for {
		select {
		case <-r.Context.Done():
			q.drop(l, r)
			return nil, nil, r.Context.Err()
		case <-r.wake:
			r.deliver()
		case <-r.done:
			return r.result()
		}
	}
}

// add puts a request into its lane, and starts decoding there if it is not running.
func (q *Queue) add(r *request) *lane {
	l := &q.small
	if r.large() {
		l = &q.large
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	l.waiting = append(l.waiting, r)
	if !l.serving {
		l.serving = true
		go q.serve(l)
	}
	select {
	case l.arrived <- struct{}{}:
	default:
	}
	return l
}

// drop removes a request whose caller has given up.
func (q *Queue) drop(l *lane, r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l.waiting = slices.DeleteFunc(l.waiting, func(other *request) bool { return other == r })
}

// count returns how many requests wait in a lane.
func (q *Queue) count(l *lane) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(l.waiting)
}

// piece is a query of a request.
type piece struct {
	*request
	query int
}

// next removes the queries to decode next: one of each request in turn, as many as can be decoded together with the first. Requests of
// which some are left move behind the others. If there is none, the lane ends.
func (q *Queue) next(l *lane) (together []piece) {
	q.mu.Lock()
	defer q.mu.Unlock()
	longest := 0
	for more := true; more; {
		more = false
		for _, r := range l.waiting {
			if len(together) == maxBatch || r.taken == len(r.Queries) || len(together) > 0 && r.way != together[0].way {
				continue
			}
			width := max(longest, len(r.Queries[r.taken].Source))
			if len(together) > 0 && (len(together)+1)*width > maxPadded {
				continue
			}
			together, longest, more = append(together, piece{r, r.taken}), width, true
			r.taken++
		}
	}
	l.rotate(together)
	l.serving = len(together) > 0
	return together
}

// rotate removes requests that have nothing left to take, and moves those that were served behind the others.
func (l *lane) rotate(served []piece) {
	var before, after []*request
	for _, r := range l.waiting {
		switch {
		case r.taken == len(r.Queries):
		case slices.ContainsFunc(served, func(p piece) bool { return p.request == r }):
			after = append(after, r)
		default:
			before = append(before, r)
		}
	}
	l.waiting = append(before, after...)
}
