package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"universal-transformer/decoding"
	"universal-transformer/internal/vocab"
)

// sources returns queries with sources of the given lengths.
func sources(lengths ...int) []decoding.Query {
	queries := make([]decoding.Query, len(lengths))
	for i, n := range lengths {
		queries[i].Source = make([]vocab.ID, n)
	}
	return queries
}

// batches lists what a lane decodes, as request.query, after requests with these queries have come in this order.
func batches(t *testing.T, requests ...Request) (list []string) {
	q, names := New(nil), map[*request]int{}
	for i, r := range requests {
		r.Context = t.Context()
		made := newRequest(r)
		names[made] = i
		q.small.waiting = append(q.small.waiting, made)
	}
	for {
		var together []string
		for _, p := range q.next(&q.small) {
			together = append(together, fmt.Sprintf("%d.%d", names[p.request], p.query))
		}
		if q.small.serving != (len(together) > 0) {
			t.Errorf("after a batch of %d the lane is serving: %v", len(together), q.small.serving)
		}
		if len(together) == 0 {
			return list
		}
		list = append(list, strings.Join(together, " "))
	}
}

// Requests that wait are decoded together if they are decoded in the same way: one query of each in turn.
// Caught when planted: one request at a time, ways that are not compared, the first request alone until it is done.
func TestRequestsGoTogether(t *testing.T) {
	beam := decoding.Method{Beam: decoding.Beam{Width: 2}}
	got := batches(t, Request{Queries: sources(5, 5)}, Request{Method: beam, Queries: sources(5)}, Request{Queries: sources(5, 5, 5)}, Request{Queries: sources(5)})
	if want := []string{"0.0 2.0 3.0 0.1 2.1 2.2", "1.0"}; !slices.Equal(got, want) {
		t.Errorf("decoded together: %q, want %q", got, want)
	}
}

// A batch has at most 64 sources and 8192 positions, padding included; a longer source is alone, and the order within a request stays.
// Caught when planted: no bound of sources, of positions; sources counted without padding; a long source that waits forever.
func TestBatchesAreBounded(t *testing.T) {
	many := batches(t, Request{Queries: sources(slices.Repeat([]int{3}, 100)...)}, Request{Queries: sources(3)})
	if len(many) != 2 || len(strings.Fields(many[0])) != 64 || len(strings.Fields(many[1])) != 37 || !strings.Contains(many[0], "1.0") {
		t.Errorf("101 sources are decoded as %q", many)
	}
	got := batches(t, Request{Queries: sources(5, 60_000, 4000, 4096, 5000, 10)}, Request{Queries: sources(6)})
	if want := []string{"0.0 1.0", "0.1", "0.2 0.3", "0.4", "0.5"}; !slices.Equal(got, want) {
		t.Errorf("long sources are decoded as %q, want %q", got, want)
	}
}

// Requests of other ways have their turn, and one that has been served goes behind them.
func TestServedRequestsGoBehind(t *testing.T) {
	beam := decoding.Method{Beam: decoding.Beam{Width: 2}}
	got := batches(t, Request{Queries: sources(9000, 9000)}, Request{Method: beam, Queries: sources(5)}, Request{Queries: sources(9000)})
	if want := []string{"0.0", "1.0", "2.0", "0.1"}; !slices.Equal(got, want) {
		t.Errorf("decoded as %q, want %q", got, want)
	}
}

// A request of many sources or of many tokens is large, and waits in the lane of these.
// Caught when planted: one lane for all.
func TestLarge(t *testing.T) {
	for _, c := range []struct {
		queries []decoding.Query
		large   bool
	}{
		{sources(slices.Repeat([]int{5}, 64)...), false}, {sources(slices.Repeat([]int{5}, 65)...), true},
		{sources(8192), false}, {sources(8193), true}, {sources(1, 8192), true},
	} {
		q := New(nil)
		q.small.serving, q.large.serving = true, true // nothing is taken from the lanes
		l := q.add(newRequest(Request{Context: t.Context(), Queries: c.queries}))
		if large := l == &q.large; large != c.large || q.count(l) != 1 {
			t.Errorf("%d sources, the last of %d tokens: large is %v", len(c.queries), len(c.queries[len(c.queries)-1].Source), large)
		}
	}
}

// Sources are sampled by their numbers, which start at the method's; requests that differ in the start alone go together.
// Caught when planted: a start that is subtracted, or compared.
func TestNumbers(t *testing.T) {
	first := func(n int64) *request {
		queries := sources(1, 1)
		queries[1].Number = 1
		return newRequest(Request{Context: t.Context(), Method: decoding.Method{Seed: uint64(n), First: n}, Queries: queries})
	}
	a, b := first(5), first(7)
	if a.Queries[0].Number != 5 || a.Queries[1].Number != 6 || b.Queries[1].Number != 8 || a.way != b.way {
		t.Errorf("numbers %d, %d and %d, equal ways %v", a.Queries[0].Number, a.Queries[1].Number, b.Queries[1].Number, a.way == b.way)
	}
}

// A request whose caller gives up leaves the queue, so that nothing is decoded for it; the others keep their order. The lane is busy
// throughout, so all of them wait.
// Caught when planted: cancelled requests that stay queued.
func TestCancelledRequestsLeaveTheQueue(t *testing.T) {
	for _, size := range []int{1, 100} {
		q := New(nil)
		q.small.serving, q.large.serving = true, true // nothing is taken from the lanes
		waiting := func() []*request {
			q.mu.Lock()
			defer q.mu.Unlock()
			return slices.Concat(q.small.waiting, q.large.waiting)
		}
		var requests []*request
		var cancels []context.CancelFunc
		var answers []chan error
		for i := range 4 {
			ctx, cancel := context.WithCancel(t.Context())
			r, answered := newRequest(Request{Context: ctx, Queries: make([]decoding.Query, size)}), make(chan error, 1)
			requests, cancels, answers = append(requests, r), append(cancels, cancel), append(answers, answered)
			go func() {
				_, _, err := q.wait(r)
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
}

// The lane waits for clients that are expected, and no longer than it may.
// Caught when planted: no waiting; waiting for the first only; waiting to the end of the time.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(nil)
		q.small.serving = true
		for _, wait := range []time.Duration{1, 2, 3} {
			go func() {
				time.Sleep(wait * time.Millisecond)
				q.add(newRequest(Request{Context: t.Context(), Queries: sources(1)}))
			}()
		}
		start := time.Now()
		for _, c := range []struct {
			expected        int
			maxGather, want time.Duration // of which want is since the start
		}{{0, time.Hour, 0}, {2, time.Hour, 2}, {4, 5 * time.Millisecond, 7}, {3, time.Hour, 7}} {
			q.gather(&q.small, c.expected, c.maxGather)
			if got := time.Since(start); got != c.want*time.Millisecond {
				t.Errorf("%d expected: it waits until %v, want %v ms", c.expected, got, int(c.want))
			}
		}
	})
}

// A request is done when all of its queries have results, and its client is expected again, beside those that wait.
// Caught when planted: a request that is done too early; clients that are not expected.
func TestFinish(t *testing.T) {
	q := New(nil)
	for _, n := range []int{1, 2, 65} {
		q.small.waiting = append(q.small.waiting, newRequest(Request{Context: t.Context(), Queries: sources(slices.Repeat([]int{1}, n)...)}))
	}
	requests := slices.Clone(q.small.waiting)
	for i, want := range []struct{ expected, done int }{{3, 2}, {1, 3}} {
		together := q.next(&q.small)
		if got := q.finish(&q.small, together); got != want.expected {
			t.Errorf("after batch %d of %d sources %d requests are expected, want %d", i+1, len(together), got, want.expected)
		}
		for k, r := range requests {
			select {
			case <-r.done:
				if k >= want.done {
					t.Errorf("request %d is done after batch %d", k, i+1)
				}
			default:
				if k < want.done {
					t.Errorf("request %d is not done after batch %d", k, i+1)
				}
			}
		}
	}
}

// The large lane lets others compute after every token, the small one when its turn took as long as a token of the large one.
// Caught when planted: the small lane's turns as short; turns that do not begin anew.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(nil)
		turn := func(l *lane, took time.Duration) (let bool) {
			_ = q.Acquire(t.Context())
			l.since = time.Now()
			time.Sleep(took)
			acquired, ended := false, make(chan struct{})
			go func() {
				_ = q.Acquire(t.Context())
				acquired = true
				q.Release()
				close(ended)
			}()
			synctest.Wait()
			q.takeTurns(l)
			let = acquired
			q.Release()
			<-ended
			return let
		}
		if !turn(&q.large, 10) {
			t.Error("the large lane goes on after a token")
		}
		for took, want := range map[time.Duration]bool{0: false, 9: false, 10: true, 11: true} {
			if got := turn(&q.small, took); got != want {
				t.Errorf("the small lane lets others compute after %v of 10: %v", int(took), got)
			}
		}
	})
}

// Tokens are delivered once, however often a source is decoded again. Caught when planted: a count that is not kept.
func TestWithoutRepeats(t *testing.T) {
	var got []vocab.ID
	delivered := 0
	for attempt := range 3 {
		deliver := withoutRepeats(func(token vocab.ID) { got = append(got, token) }, &delivered)
		for token := range 2 + attempt {
			deliver(vocab.ID(token))
		}
	}
	if want := []vocab.ID{0, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("delivered %v, want %v", got, want)
	}
	if withoutRepeats(nil, &delivered) != nil {
		t.Error("tokens that nobody wants are delivered")
	}
}

// A poller lets a goroutine that waits for the network run, and ends with its goroutine. One that was not made does nothing.
// Caught when planted: nothing that is written; a look at every call.
func TestPoller(t *testing.T) {
	p := newPoller()
	if p == nil {
		t.Fatal("there is no pipe")
	}
	p.poll()
	first := p.last
	if first.IsZero() {
		t.Error("it has not looked")
	}
	p.last = time.Now().Add(time.Hour)
	if p.poll(); p.last.Before(first.Add(time.Minute)) {
		t.Error("it looks again at once")
	}
	p.last = time.Time{}
	if p.poll(); p.last.IsZero() {
		t.Error("it does not look again")
	}
	p.close()
	if _, open := <-p.seen; open {
		t.Error("its goroutine goes on")
	}
	var none *poller
	none.poll()
	none.close()
}

// Which error a source gets: one about memory names the tokens and nothing of the graph that needed it.
func TestSourceError(t *testing.T) {
	err := SourceError(fmt.Errorf("failed during compilation of func38: %w", shortOfMemory{}), 60_000)
	if want := "60000 tokens need about 98.5 GiB of memory, and 12.0 GiB are available: shorten the line"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if other := errors.New("other"); SourceError(other, 1) != other {
		t.Error("another error is replaced")
	}
}

type shortOfMemory struct{}

func (shortOfMemory) Error() string            { return "func38 needs memory" }
func (shortOfMemory) Memory() (need, have int) { return 197 << 29, 12 << 30 }

// OnBatch gets the number of sources of each batch, once, also if the batch cannot be decoded, and nothing of a lane that is empty.
func TestOnBatch(t *testing.T) {
	problem := errors.New("no decoder")
	q := New(func() (*decoding.Decoder, error) { return nil, problem })
	var sizes []int
	q.OnBatch = func(n int) { sizes = append(sizes, n) }
	for _, c := range []struct {
		queries []decoding.Query
		want    []int
	}{{sources(3, 4, 5), []int{3}}, {sources(slices.Repeat([]int{2}, 70)...), []int{64, 6}}, {sources(1), []int{1}}} {
		sizes = nil
		_, errs, err := q.Answer(Request{Context: t.Context(), Queries: c.queries})
		if err != nil || !slices.Equal(sizes, c.want) || len(errs) != len(c.queries) {
			t.Errorf("%d sources are decoded as %v, want %v; %v", len(c.queries), sizes, c.want, err)
		}
		for _, err := range errs {
			if !errors.Is(err, problem) {
				t.Errorf("%d sources: %v", len(c.queries), err)
			}
		}
	}
}
