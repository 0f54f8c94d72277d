package pipeline

import (
	"context"
	"slices"
	"sync"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// semaphore lets one computation at a time use a model, in the order of requests.
type semaphore chan struct{}

// acquire waits until the model is free, unless ctx ends first.
func (s semaphore) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s semaphore) release() { <-s }

// maxBatch is the largest number of sources of several requests that are decoded together. A single request may have more.
const maxBatch = 64

// queue holds the requests that wait to be decoded.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	serving bool // somebody is decoding, and looks here again before it ends
}

// request is some sources to be decoded.
type request struct {
	ctx     context.Context
	way     way
	queries []decoding.Query
	done    chan struct{} // closed when found, errs and panicked are final
	wake    chan struct{} // there are new tokens

	found    []decoding.Hypothesis // of each query
	errs     []error               // of each query, nil where it has an answer
	panicked any

	mu     sync.Mutex
	tokens []choice // that nobody has seen yet
}

// way is how sources are decoded. Requests with equal ways can be decoded together.
type way struct {
	decoding.Method
	memory int64
}

// choice is a final token of an answer.
type choice struct {
	source int
	token  vocab.ID
}

// newRequest makes a request; watched means that its tokens are delivered as they are chosen.
func newRequest(ctx context.Context, m decoding.Method, memory int64, queries []decoding.Query, watched bool) *request {
	r := &request{ctx: ctx, way: way{m, memory}, queries: queries, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	r.way.First = 0
	if r.way.Sampling == (decoding.Sampling{}) {
		r.way.Seed = 0
	}
	for i := range queries {
		queries[i].Number, queries[i].Done = m.First+queries[i].Number, ctx.Done()
		if watched {
			queries[i].OnToken = func(token vocab.ID) { r.chose(choice{i, token}) }
		}
	}
	return r
}

// chose stores a token for the waiting caller: writing may be slow, and must not delay the other requests.
func (r *request) chose(c choice) {
	r.mu.Lock()
	r.tokens = append(r.tokens, c)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// deliver passes on the tokens that have not been delivered yet.
func (r *request) deliver(to func(source int, token vocab.ID)) {
	r.mu.Lock()
	tokens := r.tokens
	r.tokens = nil
	r.mu.Unlock()
	for _, c := range tokens {
		to(c.source, c.token)
	}
}

// answer has a request decoded, passes its tokens to watch, if not nil, and waits until it is done or its context ends. Each query has an
// answer or an error.
func (m *Model) answer(r *request, watch func(source int, token vocab.ID)) ([]decoding.Hypothesis, []error, error) {
	if err := r.ctx.Err(); err != nil {
		return nil, nil, err
	}
	m.enqueue(r)
	for {
		select {
		case <-r.ctx.Done():
			m.requests.drop(r)
			return nil, nil, r.ctx.Err()
		case <-r.wake:
			r.deliver(watch)
		case <-r.done:
			if r.panicked != nil {
				panic(r.panicked)
			}
			if err := r.ctx.Err(); err != nil {
				return nil, nil, err
			}
			if watch != nil {
				r.deliver(watch)
			}
			return r.found, r.errs, nil
		}
	}
}

// enqueue adds a request, and starts decoding if it is not running.
func (m *Model) enqueue(r *request) {
	m.requests.mu.Lock()
	defer m.requests.mu.Unlock()
	m.requests.waiting = append(m.requests.waiting, r)
	if !m.requests.serving {
		m.requests.serving = true
		go m.serve()
	}
}

// drop removes a request whose caller has given up.
func (q *queue) drop(r *request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *request) bool { return other == r })
}

// next removes and returns the first request and those that can be decoded with it; if there is none, decoding ends.
func (q *queue) next() (together []*request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	sources := 0
	q.waiting = slices.DeleteFunc(q.waiting, func(r *request) bool {
		if len(together) > 0 && (r.way != together[0].way || sources+len(r.queries) > maxBatch) {
			return false
		}
		together, sources = append(together, r), sources+len(r.queries)
		return true
	})
	q.serving = len(together) > 0
	return together
}

// serve decodes until the queue is empty.
func (m *Model) serve() {
	for {
		_ = m.busy.acquire(context.Background())
		together := m.requests.next()
		m.decodeTogether(together)
		m.busy.release()
		for _, r := range together {
			close(r.done)
		}
		if len(together) == 0 {
			return
		}
	}
}

// decodeTogether decodes requests in one batch. If that fails, smaller batches find the queries that cannot be answered.
func (m *Model) decodeTogether(together []*request) {
	if len(together) == 0 {
		return
	}
	defer func() {
		if problem := recover(); problem != nil {
			for _, r := range together {
				r.panicked = problem
			}
		}
	}()
	ctx, stop := untilAllCancelled(together)
	defer stop()
	var queries []decoding.Query
	for _, r := range together {
		queries = append(queries, r.queries...)
	}
	found, errs := m.decodeEach(ctx, queries, together[0].way)
	for _, r := range together {
		n := len(r.queries)
		r.found, found, r.errs, errs = found[:n], found[n:], errs[:n], errs[n:]
	}
}

// decodeEach decodes queries together. After an error, each half is decoded by itself, so that in the end only the queries that cannot be
// answered alone have errors. Tokens that were delivered before the error are not delivered again: an answer does not depend on the batch.
func (m *Model) decodeEach(ctx context.Context, queries []decoding.Query, w way) ([]decoding.Hypothesis, []error) {
	delivered := make([]int, len(queries))
	found, errs := make([]decoding.Hypothesis, len(queries)), make([]error, len(queries))
	var decode func(from, to int)
	decode = func(from, to int) {
		batch := slices.Clone(queries[from:to])
		for i, q := range batch {
			batch[i].OnToken = withoutRepeats(q.OnToken, &delivered[from+i])
		}
		d, err := m.decoding()
		var answers []decoding.Hypothesis
		if err == nil {
			answers, err = d.Answer(ctx, batch, w.Method, w.memory)
		}
		middle := (from + to) / 2
		switch {
		case err == nil:
			copy(found[from:], answers)
		case to-from <= 1 || ctx.Err() != nil || m.decoder == nil:
			for i := from; i < to; i++ {
				errs[i] = err
			}
		default:
			decode(from, middle)
			decode(middle, to)
		}
	}
	decode(0, len(queries))
	return found, errs
}

// withoutRepeats passes tokens on, but for as many as have been delivered; nil stays nil.
func withoutRepeats(deliver func(vocab.ID), delivered *int) func(vocab.ID) {
	if deliver == nil {
		return nil
	}
	seen := 0
	return func(token vocab.ID) {
		if seen++; seen > *delivered {
			*delivered = seen
			deliver(token)
		}
	}
}

// untilAllCancelled returns a context that ends when the contexts of all requests have ended.
func untilAllCancelled(together []*request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var stops []func() bool
	var mu sync.Mutex
	wanted := len(together)
	for _, r := range together {
		stops = append(stops, context.AfterFunc(r.ctx, func() {
			mu.Lock()
			defer mu.Unlock()
			if wanted--; wanted == 0 {
				cancel()
			}
		}))
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel()
	}
}
