package exec

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// counting counts how often each part of it runs.
type counting struct {
	parts [3]atomic.Int32
	hold  func(part int)
}

func (c *counting) part(_ *frame, part, _ int) {
	c.parts[part].Add(1)
	c.hold(part)
}

// Every part of every task runs once, whether helpers spin or sleep, and helpers do sleep when no task comes, also in the middle of an execution.
func TestPool(t *testing.T) {
	p := newPool(3)
	defer p.stop()
	if !p.begin(false) {
		t.Fatal("the pool is not free")
	}
	for round := range 20 {
		for range 50 {
			c := &counting{hold: func(int) {}}
			p.run(c, nil)
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

// A helper that sleeps is woken by a task, and takes part in it: part 0 waits until the others have begun.
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
		c := &counting{}
		c.hold = func(part int) {
			for part == 0 && (c.parts[1].Load() == 0 || c.parts[2].Load() == 0) {
				runtime.Gosched()
			}
		}
		p.run(c, nil)
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
