package exec

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A task is work that can be split into parts with disjoint results. Parts run on any thread, in any order.
type task interface {
	part(fr *frame, mine share)
}

// A share is a part of a task and the thread that executes it, whose scratch memory it uses.
type share struct{ thread, part, parts int }

// whole is a task of one part.
var whole = share{parts: 1}

// of returns the share of n things: from lo to hi.
func (s share) of(n int) (lo, hi int) {
	return n * s.part / s.parts, n * (s.part + 1) / s.parts
}

// partsPerThread is how many parts of a large task there are for each thread. A thread that has finished its own takes over those of
// others, which another process, or a slower core, holds up. Results depend on the number of parts, not on who executes them.
const partsPerThread = 4

// A pool runs tasks on a fixed number of threads.
//
// A goroutine that is woken through a channel starts after tens of microseconds, which is longer than most tasks here take. Helpers
// therefore spin on a counter for a bounded time, about a millisecond, and park if no task comes. After an execution they leave the core
// to other goroutines, and park sooner.
type pool struct {
	threads int
	mu      sync.Mutex // held by the execution that owns the helpers
	helpers []*helper
	job     job
	queues  []queue     // one for each thread
	owned   atomic.Bool // an execution has the helpers
	stopped atomic.Bool

	// On cache lines of their own, because threads wait for them.
	_      [64]byte
	number atomic.Uint32 // of the job, raised when its queues are filled
	_      [64]byte
	left   atomic.Int64 // parts of the job that are not finished
	_      [64]byte
}

// job is what all threads run next. A thread that has taken a part may read it until it has finished the part.
type job struct {
	task  task
	fr    *frame
	parts int
}

// A queue holds the parts of a job that a thread executes first, in their order, so that it finds in its cache what it has written
// there in the task before. It has cache lines of its own.
type queue struct {
	_     [64]byte
	parts atomic.Uint64 // the next part in the upper 32 bits, the one after the last part in the lower
	_     [56]byte
}

// fill puts parts lo to hi of the job into the queue.
func (q *queue) fill(lo, hi int) {
	q.parts.Store(uint64(lo)<<32 | uint64(hi))
}

// take returns the next part of the job, or false if there is none.
func (q *queue) take() (part int, ok bool) {
	for {
		parts := q.parts.Load()
		next, end := parts>>32, parts&math.MaxUint32
		if next == end {
			return 0, false
		}
		if q.parts.CompareAndSwap(parts, parts+1<<32) {
			return int(next), true
		}
	}
}

// A helper is one thread in addition to the caller's.
type helper struct {
	parked atomic.Bool
	wake   chan struct{}
}

func newPool(threads int) *pool {
	return &pool{threads: threads, queues: make([]queue, threads)}
}

// begin acquires the helpers for an execution. It returns false if another execution has them, or if a helper would have to be woken
// for a small one; the caller then runs all parts itself, with the same results.
func (p *pool) begin(small bool) bool {
	if p.threads == 1 || !p.mu.TryLock() {
		return false
	}
	if p.stopped.Load() || small && p.asleep() {
		p.mu.Unlock()
		return false
	}
	if p.helpers == nil {
		for i := 1; i < p.threads; i++ {
			h := &helper{wake: make(chan struct{}, 1)}
			p.helpers = append(p.helpers, h)
			go p.help(h, i)
		}
	}
	p.owned.Store(true)
	for _, h := range p.helpers {
		h.wakeUp()
	}
	return true
}

// asleep reports whether a helper sleeps.
func (p *pool) asleep() bool {
	return p.helpers == nil || slices.ContainsFunc(p.helpers, func(h *helper) bool { return h.parked.Load() })
}

// end releases the helpers.
func (p *pool) end() {
	p.job = job{}
	p.owned.Store(false)
	p.mu.Unlock()
}

// stop ends the helpers. Later executions run on their caller's thread.
func (p *pool) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped.Store(true)
	for _, h := range p.helpers {
		select {
		case h.wake <- struct{}{}:
		default:
		}
	}
}

// run executes all parts of t.
func (p *pool) run(t task, fr *frame, parts int) {
	p.job = job{t, fr, parts}
	p.left.Store(int64(parts))
	for i := range p.queues {
		p.queues[i].fill(parts*i/p.threads, parts*(i+1)/p.threads)
	}
	p.number.Add(1)
	for _, h := range p.helpers {
		h.wakeUp()
	}
	p.work(0)
	for spins := 1; p.left.Load() > 0; spins++ {
		relax(spins)
	}
}

// work executes the parts of a thread, and then those that other threads have not begun. So no thread waits for one that does not run,
// except for one that was interrupted in the middle of a part.
func (p *pool) work(thread int) {
	for i := range p.queues {
		q := &p.queues[(thread+i)%p.threads]
		for {
			part, ok := q.take()
			if !ok {
				break
			}
			p.job.task.part(p.job.fr, share{thread, part, p.job.parts})
			p.left.Add(-1)
		}
	}
}

// relax is called while waiting: it spins at first, then lets other threads have the core, which matters when
// there are more of them than cores, and at times other goroutines.
func relax(spins int) {
	if spins < spinsBeforeYield {
		return
	}
	if spins%1024 == 0 {
		runtime.Gosched()
		return
	}
	yieldThread()
}

// spinsBeforeYield takes about as long as the longest instruction of a small graph.
const spinsBeforeYield = 20000

// spinsBeforePark is how long a helper waits for the next job before it sleeps.
const spinsBeforePark = spinsBeforeYield + 2000

// spinsAfterExecution is how much sooner a helper sleeps after an execution, when other goroutines get the core: nothing may come for
// long, and a service has requests to read and answers to write.
const spinsAfterExecution = 20

// help is the loop of a helper, which takes part in each job.
func (p *pool) help(h *helper, thread int) {
	seen := uint32(0)
	for spins := 0; !p.stopped.Load(); {
		if number := p.number.Load(); number != seen {
			p.work(thread)
			seen, spins = number, 0
			continue
		}
		if spins++; p.owned.Load() {
			relax(spins)
		} else {
			runtime.Gosched()
			spins += spinsAfterExecution
		}
		if spins > spinsBeforePark {
			h.park(p, seen)
			spins = 0
		}
	}
}

// park sleeps until an execution begins, or a job other than the one seen last. The caller of a job does not wait for a helper that
// sleeps: it takes its parts.
func (h *helper) park(p *pool, seen uint32) {
	h.parked.Store(true)
	if p.number.Load() == seen && !p.stopped.Load() {
		<-h.wake
	}
	h.parked.Store(false)
}

// wakeUp ends park.
func (h *helper) wakeUp() {
	if !h.parked.Load() {
		return
	}
	select {
	case h.wake <- struct{}{}:
	default:
	}
}
