package exec

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// A task is work that can be split into parts with disjoint results.
type task interface {
	part(fr *frame, part, parts int)
}

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
	owned   atomic.Bool // an execution has the helpers
	stopped atomic.Bool
}

// job is what all helpers run next. It is written before their counters are raised.
type job struct {
	task task
	fr   *frame
}

// A helper is one thread in addition to the caller's. Its flags have their own cache lines.
//
// Whoever claims the helper's part of a job first executes it: the helper, or the caller if it has finished its own part and the
// helper has not begun because another process uses its core. So no thread waits for one that does not run, except for one that was
// interrupted in the middle of a part.
type helper struct {
	_      [64]byte
	start  atomic.Uint32 // number of the job, raised by the owner
	_      [60]byte
	claim  atomic.Uint32 // set to start when somebody begins the part
	_      [60]byte
	done   atomic.Uint32 // set to start when the part is finished
	_      [60]byte
	parked atomic.Bool
	wake   chan struct{}
}

// claimPart claims the helper's part of a job. No later job can begin before the part is done.
func (h *helper) claimPart(job uint32) bool { return h.claim.CompareAndSwap(job-1, job) }

func newPool(threads int) *pool {
	return &pool{threads: threads}
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

// run executes all parts of t. The caller executes part 0, and then the parts that no helper has begun.
func (p *pool) run(t task, fr *frame) {
	p.job = job{t, fr}
	for _, h := range p.helpers {
		h.start.Add(1)
		h.wakeUp()
	}
	t.part(fr, 0, p.threads)
	for i, h := range p.helpers {
		number := h.start.Load()
		if h.claimPart(number) {
			t.part(fr, i+1, p.threads)
			h.done.Store(number)
		}
	}
	for _, h := range p.helpers {
		number := h.start.Load()
		for spins := 1; h.done.Load() != number; spins++ {
			relax(spins)
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

// help is the loop of a helper, which runs its part of each job.
func (p *pool) help(h *helper, part int) {
	seen := uint32(0)
	for spins := 0; !p.stopped.Load(); {
		if number := h.start.Load(); number != seen {
			if h.claimPart(number) {
				p.job.task.part(p.job.fr, part, p.threads)
				h.done.Store(number)
			}
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
// sleeps: it claims the helper's part.
func (h *helper) park(p *pool, seen uint32) {
	h.parked.Store(true)
	if h.start.Load() == seen && !p.stopped.Load() {
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
