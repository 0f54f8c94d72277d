package exec

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// counting counts how often each part of it runs.
type counting struct {
	parts [7]atomic.Int32
	hold  func(mine share)
}

func (c *counting) part(_ *frame, mine share) {
	c.parts[mine.part].Add(1)
	c.hold(mine)
}

// run runs c in as many parts as it counts.
func (c *counting) run(p *pool) { p.run(c, nil, len(c.parts)) }

// Every part of every task runs once, whether helpers spin or sleep, and helpers do sleep when no task comes, also in the middle of an execution.
func TestPool(t *testing.T) {
	p := newPool(3)
	defer p.stop()
	if !p.begin(false) {
		t.Fatal("the pool is not free")
	}
	for round := range 20 {
		for range 50 {
			c := &counting{hold: func(share) {}}
			c.run(p)
			for part := range c.parts {
				if n := c.parts[part].Load(); n != 1 {
					t.Fatalf("part %d ran %d times", part, n)
				}
			}
		}
		for _, h := range p.helpers { // ends when both sleep
			for !h.parked.Load() {
				runtime.Gosched()
			}
		}
		if round%5 == 4 {
			p.end()
			if !p.begin(false) {
				t.Fatal("the pool is not free")
			}
		}
	}
	p.end()
}

// A helper that sleeps is woken by a task, and takes part in it: the first part of the caller waits until both helpers execute one.
func TestPoolWakesHelpers(t *testing.T) {
	p := newPool(3)
	defer p.stop()
	p.begin(false)
	defer p.end()
	for range 5 {
		for _, h := range p.helpers {
			for !h.parked.Load() {
				runtime.Gosched()
			}
		}
		var began [3]atomic.Bool // by thread
		c := &counting{}
		c.hold = func(mine share) {
			began[mine.thread].Store(true)
			for !began[1].Load() || !began[2].Load() {
				runtime.Gosched()
			}
		}
		c.run(p)
	}
}

// While a thread is held up in one part, the others execute the rest of its parts: a helper holds the first of its own until no other
// part is left, and so does the caller in the second round.
func TestPoolTakesOver(t *testing.T) {
	p := newPool(3)
	defer p.stop()
	p.begin(false)
	defer p.end()
	for _, held := range []int{1, 0} {
		var by [7]atomic.Int32 // thread of each part
		first := len(by) * held / 3
		c := &counting{}
		c.hold = func(mine share) {
			by[mine.part].Store(int32(mine.thread))
			if mine.thread != held && mine.part != first {
				return
			}
			for part := range c.parts {
				for c.parts[part].Load() == 0 && part != mine.part {
					runtime.Gosched()
				}
			}
		}
		c.run(p)
		counts := [3]int{}
		for part := range by {
			counts[by[part].Load()]++
		}
		if counts[held] > 1 {
			t.Errorf("thread %d, which was held in part %d, executed %d parts", held, first, counts[held])
		}
	}
}

// A small execution takes helpers that are awake, and wakes none.
func TestSmallExecutions(t *testing.T) {
	p := newPool(2)
	defer p.stop()
	if p.begin(true) {
		t.Fatal("a small execution has started the helpers")
	}
	if !p.begin(false) {
		t.Fatal("the pool is not free")
	}
	h := p.helpers[0]
	p.end()
	for !h.parked.Load() { // helpers sleep soon after an execution
		runtime.Gosched()
	}
	if p.begin(true) {
		t.Fatal("a small execution has woken a helper")
	}
	h.parked.Store(false)
	if !p.begin(true) {
		t.Fatal("a small execution does not take helpers that are awake")
	}
	h.parked.Store(true)
	p.end()
}
