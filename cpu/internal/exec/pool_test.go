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
	if !p.begin() {
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
			if !p.begin() {
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
	p.begin()
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
