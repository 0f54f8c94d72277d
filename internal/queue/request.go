package queue

import (
	"cmp"
	"context"
	"sync"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// Request is some sources to be decoded.
type Request struct {
	Context context.Context // its end gives up the request
	Method  decoding.Method
	Memory  int64                            // bytes that the caches of what is decoded at a time may take; 0: [decoding.DefaultMemory]
	Queries []decoding.Query                 // Answer sets Done and OnToken, and adds Method.First to Number
	Watch   func(source int, token vocab.ID) // called by Answer with final tokens, in order for each source; may be nil
}

// request is a request with its results so far.
type request struct {
	Request
	way   way
	taken int           // queries that have left the lane; guarded by the queue
	left  int           // queries without a result; used by the lane alone
	done  chan struct{} // closed when found and errs are final
	wake  chan struct{} // there are new tokens

	found []decoding.Hypothesis // of each query
	errs  []error               // of each query, nil where it has an answer

	mu     sync.Mutex
	tokens []choice // that Watch has not been given yet
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

func newRequest(r Request) *request {
	n := len(r.Queries)
	made := &request{
		Request: r, way: way{r.Method, cmp.Or(r.Memory, decoding.DefaultMemory())}, left: n, done: make(chan struct{}), wake: make(chan struct{}, 1),
		found: make([]decoding.Hypothesis, n), errs: make([]error, n),
	}
	made.way.First = 0
	if made.way.Sampling == (decoding.Sampling{}) {
		made.way.Seed = 0
	}
	for i := range r.Queries {
		q := &r.Queries[i]
		q.Number, q.Done = r.Method.First+q.Number, r.Context.Done()
		if r.Watch != nil {
			q.OnToken = func(token vocab.ID) { made.chose(choice{i, token}) }
		}
	}
	return made
}

// large reports whether the request has more than is decoded together.
func (r *request) large() bool {
	tokens := 0
	for _, q := range r.Queries {
		tokens += len(q.Source)
	}
	return len(r.Queries) > maxBatch || tokens > maxPadded
}

// chose stores a token for the waiting caller: Watch may be slow, and must not delay other requests.
func (r *request) chose(c choice) {
	r.mu.Lock()
	r.tokens = append(r.tokens, c)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// deliver gives Watch the tokens that it has not been given yet.
func (r *request) deliver() {
	r.mu.Lock()
	tokens := r.tokens
	r.tokens = nil
	r.mu.Unlock()
	for _, c := range tokens {
		r.Watch(c.source, c.token)
	}
}

// result returns what Answer returns when all queries have results.
func (r *request) result() ([]decoding.Hypothesis, []error, error) {
	if err := r.Context.Err(); err != nil {
		return nil, nil, err
	}
	r.deliver()
	for _, err := range r.errs {
		if problem, ok := err.(*panicError); ok {
			panic(problem.value)
		}
	}
	return r.found, r.errs, nil
}
