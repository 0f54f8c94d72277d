package pipeline

import (
	"fmt"
	"testing"

	"universal-transformer/decoding"
)

// Requests that wait are decoded together if they are decoded in the same way, in the order in which they came, and up to 64 sources;
// one that has more goes alone.
// Caught when planted: one request at a time, ways that are not compared, no bound, a bound that a large request never passes.
func TestWaitingRequestsGoTogether(t *testing.T) {
	beam := decoding.Method{Beam: decoding.Beam{Width: 2}}
	var q queue
	names := map[*request]int{}
	for i, r := range []struct {
		sources int
		method  decoding.Method
	}{{2, decoding.Method{}}, {1, beam}, {3, decoding.Method{}}, {100, decoding.Method{}}, {59, decoding.Method{}}, {1, beam}, {1, decoding.Method{}}} {
		request := newRequest(t.Context(), r.method, 0, make([]decoding.Query, r.sources), false)
		names[request] = i
		q.waiting = append(q.waiting, request)
	}
	var batches [][]int
	for {
		var together []int
		for _, r := range q.next() {
			together = append(together, names[r])
		}
		if len(together) == 0 {
			break
		}
		batches = append(batches, together)
	}
	if got, want := fmt.Sprint(batches), "[[0 2 4] [1 5] [3] [6]]"; got != want {
		t.Errorf("decoded together: %s, want %s", got, want)
	}
}
