package exec

import "testing"

// Executions one after the other share one block, whatever their sizes; a larger one takes the place of what is too small.
// Caught when planted: a block for each size.
func TestArenasAreShared(t *testing.T) {
	var l arenas
	defer l.shutdown()
	for _, bytes := range []int{100, 5000, 300, 0, 5000, 7000, 64} {
		a := l.acquire(bytes)
		if a.bytes < bytes {
			t.Fatalf("asked for %d bytes, got %d", bytes, a.bytes)
		}
		clear(slice[byte](a.base, bytes))
		l.release(a)
		if len(l.idle) != 1 {
			t.Fatalf("%d blocks are kept after %d bytes", len(l.idle), bytes)
		}
	}
	if l.idle[0].bytes != 7000 {
		t.Errorf("the block kept has %d bytes, want the largest asked for", l.idle[0].bytes)
	}
	first, second := l.acquire(10), l.acquire(10)
	if first.base == second.base {
		t.Error("two executions at once have one block")
	}
	l.release(first)
	l.release(second)
}
