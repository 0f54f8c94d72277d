package queue

import (
	"context"
	"fmt"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/internal/vocab"
)

// serve decodes until the lane is empty.
func (q *Queue) serve(l *lane) {
	if l == &q.large {
		l.poll = newPoller()
		defer l.poll.close()
	}
	for expected, took := 0, time.Duration(0); ; {
		q.gather(l, expected, min(took, maxGather))
		start := time.Now()
		together := q.decodeNext(l)
		if len(together) == 0 {
			return
		}
		took, expected = time.Since(start), q.finish(l, together)
	}
}

// finish reports requests that are done, and returns how many requests are expected: these, if their clients ask again, and those that wait.
func (q *Queue) finish(l *lane, together []piece) (expected int) {
	expected = q.count(l)
	for _, p := range together {
		if p.left--; p.left == 0 {
			close(p.done)
			expected++
		}
	}
	return expected
}

// gather waits until an expected number of requests wait, at most for the given time. Clients that have got their answers often ask again
// at once; without this, the first of them would be answered alone.
func (q *Queue) gather(l *lane, expected int, patience time.Duration) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for q.count(l) < expected {
		select {
		case <-l.arrived:
		case <-timeout.C:
			return
		}
	}
}

// decodeNext decodes a batch of a lane and returns what it consisted of.
func (q *Queue) decodeNext(l *lane) []piece {
	q.batches.RLock()
	defer q.batches.RUnlock()
	_ = q.Acquire(context.Background())
	defer q.Release()
	l.since = time.Now()
	together := q.next(l)
	if q.OnBatch != nil && len(together) > 0 {
		q.OnBatch(len(together))
	}
	q.decodeTogether(l, together)
	l.took = 0
	return together
}

// decodeTogether decodes queries in one batch. After an error, each half is decoded by itself, so that in the end only the queries that
// cannot be answered alone have errors. Tokens that were delivered before the error are not delivered again: an answer depends on
// the batch by rounding alone.
func (q *Queue) decodeTogether(l *lane, together []piece) {
	delivered := make([]int, len(together))
	var decode func(from, to int)
	decode = func(from, to int) {
		var batch []decoding.Query
		for i, p := range together[from:to] {
			query := p.Queries[p.query]
			query.OnToken = withoutRepeats(q.counted(query.OnToken), &delivered[from+i])
			batch = append(batch, query)
		}
		found, err := q.decodeBatch(l, batch, together[from].way)
		switch middle := (from + to) / 2; {
		case err == nil:
			for i, p := range together[from:to] {
				p.found[p.query] = found[i]
			}
		case to-from > 1:
			decode(from, middle)
			decode(middle, to)
		default:
			p := together[from]
			p.errs[p.query] = SourceError(err, len(batch[0].Source))
		}
	}
	if len(together) > 0 {
		decode(0, len(together))
	}
}

// decodeBatch decodes a batch, whose caches take at most half of the memory: the other lane has the other half. A panic becomes an error.
func (q *Queue) decodeBatch(l *lane, batch []decoding.Query, w way) (found []decoding.Hypothesis, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	d, err := q.decoder()
	if err != nil {
		return nil, err
	}
	return d.Answer(context.Background(), batch, w.Method, half(w.memory), func() { q.takeTurns(l) })
}

// half returns half of a memory limit, at least 1.
func half(memory int64) int64 { return max(1, memory/2) }

// panicError is a panic while decoding. It goes on in the goroutine of the caller whose query caused it.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprint(e.value) }

// SourceError describes why a source of a number of tokens has no answer. If memory does not suffice, the error says so without the graph
// that needed it.
func SourceError(err error, tokens int) error {
	short, ok := engine.AsMemoryError(err)
	if !ok {
		return err
	}
	const gib = 1 << 30
	need, have := short.Memory()
	return fmt.Errorf("%d tokens need about %.1f GiB of memory, and %.1f GiB are available: shorten the line", tokens, float64(need)/gib, float64(have)/gib)
}

// takeTurns lets others compute between two tokens. The turns of the large lane are single tokens; those of the small lane take at least
// as long as the last one of those.
func (q *Queue) takeTurns(l *lane) {
	took := time.Since(l.since)
	if l == &q.small && took < q.large.took {
		return
	}
	l.poll.poll() // who comes now waits for Release
	l.took = took
	q.Release()
	_ = q.Acquire(context.Background())
	l.since = time.Now()
}

// counted returns a function that passes a token to OnToken and to deliver; each may be nil.
func (q *Queue) counted(deliver func(vocab.ID)) func(vocab.ID) {
	switch {
	case q.OnToken == nil:
		return deliver
	case deliver == nil:
		return q.OnToken
	}
	return func(token vocab.ID) {
		q.OnToken(token)
		deliver(token)
	}
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
