package batch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"universal-transformer/internal/batch"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
)

// numbered is examples of many lengths; the number stands in the target.
func numbered(i int64) task.Example { return sized(int(i), 1+int(i*7%30), 2+int(i*5%20)) }

var plan = batch.Plan{Tokens: 120, MaxSource: 30, MaxTarget: 21, Window: 100}

func stream(t *testing.T, seed uint64) *batch.Stream {
	t.Helper()
	s, err := batch.NewStream(numbered, plan, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func next(t *testing.T, s *batch.Stream) batch.Batch {
	t.Helper()
	b, err := s.Next()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// numbers is which examples a batch holds.
func numbers(b batch.Batch) []int {
	var ns []int
	for row := range b.Examples {
		ns = append(ns, int(b.TargetRow(row)[0])-10)
	}
	return ns
}

// A window's batches hold its examples, each once, before the next window begins.
func TestStreamGoesThroughWindows(t *testing.T) {
	s := stream(t, 1)
	for window := range 3 {
		var seen []int
		for len(seen) < 100 {
			seen = append(seen, numbers(next(t, s))...)
		}
		slices.Sort(seen)
		for i, n := range seen {
			if n != window*100+i {
				t.Fatalf("window %d has example %d in place %d", window, n, i)
			}
		}
		if want := (batch.Position{Window: int64(window + 1)}); s.Position() != want {
			t.Fatalf("after window %d the position is %+v", window, s.Position())
		}
	}
}

func TestSeekContinuesBitForBit(t *testing.T) {
	const n = 60
	s := stream(t, 4)
	var positions []batch.Position
	var batches []batch.Batch
	for range n {
		positions = append(positions, s.Position())
		batches = append(batches, next(t, s))
	}
	for k := n - 1; k >= 0; k -= 7 {
		text, err := json.Marshal(positions[k]) // as a checkpoint keeps it
		if err != nil {
			t.Fatal(err)
		}
		var p batch.Position
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		for _, again := range []*batch.Stream{stream(t, 4), s} { // a new stream, and one that stands elsewhere
			if err := again.Seek(p); err != nil {
				t.Fatal(err)
			}
			for i := k; i < n; i++ {
				if got := next(t, again); !reflect.DeepEqual(got, batches[i]) {
					t.Fatalf("from %s on, batch %d is another one", text, i)
				}
			}
		}
	}
	if positions[n-1].Window < 2 {
		t.Fatalf("the test stays in window %d", positions[n-1].Window)
	}
}

func TestSeekRefuses(t *testing.T) {
	s, want := stream(t, 1), stream(t, 1)
	for range secondHalf(t) { // the next window is being drawn
		next(t, s)
		next(t, want)
	}
	before := s.Position()
	for _, p := range []batch.Position{{Window: -1}, {Batch: -1}, {Window: 2, Batch: 1000}, {Batch: 1000}, {Window: math.MaxInt64}, {Window: math.MaxInt64 / 100}} {
		if err := s.Seek(p); err == nil || s.Position() != before {
			t.Errorf("Seek(%+v): %v, now at %+v", p, err, s.Position())
		}
	}
	for range 40 {
		if !reflect.DeepEqual(next(t, s), next(t, want)) {
			t.Fatal("a refused Seek changes what comes next")
		}
	}
}

// secondHalf is a number of batches after which a stream is in the second half of its first window.
func secondHalf(t *testing.T) int {
	t.Helper()
	s, n := stream(t, 1), 0
	for s.Position().Window == 0 {
		next(t, s)
		n++
	}
	return n - 2
}

// A Seek away from a window whose successor is being drawn goes to the window it names, and no other: its last batch is there, and none
// after it. Caught when planted: the window that is drawn taken for the one that is named.
func TestSeekWhileTheNextWindowIsDrawn(t *testing.T) {
	counts := map[int64]int64{}
	for s := stream(t, 1); s.Position().Window < 8; next(t, s) {
		counts[s.Position().Window]++
	}
	different := 0
	for window := int64(2); window < 8; window++ {
		if counts[window] != counts[1] {
			different++
		}
		s := stream(t, 1)
		for range secondHalf(t) {
			next(t, s)
		}
		if err := s.Seek(batch.Position{Window: window, Batch: counts[window]}); err == nil {
			t.Errorf("window %d has more than its %d batches", window, counts[window])
		}
		s = stream(t, 1)
		for range secondHalf(t) {
			next(t, s)
		}
		last := batch.Position{Window: window, Batch: counts[window] - 1}
		want := stream(t, 1)
		if err := errors.Join(s.Seek(last), want.Seek(last)); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(next(t, s), next(t, want)) {
			t.Errorf("window %d ends with another batch", window)
		}
	}
	if different == 0 {
		t.Fatal("all windows have as many batches as the one that is drawn")
	}
}

// The next window is drawn before it is asked for, and never by two goroutines at a time. Each example is drawn once.
func TestNextWindowIsDrawnAhead(t *testing.T) {
	var calling, calls atomic.Int64
	drawn := make(chan struct{})
	s, err := batch.NewStream(func(i int64) task.Example {
		if calling.Add(1) > 1 {
			t.Error("two goroutines draw")
		}
		defer calling.Add(-1)
		calls.Add(1)
		if i == 199 {
			close(drawn)
		}
		return numbered(i)
	}, plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for range secondHalf(t) {
		next(t, s)
	}
	select {
	case <-drawn:
	case <-time.After(time.Minute):
		t.Fatal("the second window is not drawn")
	}
	if p := s.Position(); p.Window != 0 {
		t.Fatalf("the test went on to %+v", p)
	}
	for s.Position().Window < 5 {
		next(t, s)
	}
	if n := calls.Load(); n > 600 {
		t.Errorf("%d examples are drawn for 5 windows of 100", n)
	}
}

// A window with an example that does not fit is an error when its first batch is asked for, each time, and not before.
func TestErrorOfTheNextWindow(t *testing.T) {
	s, err := batch.NewStream(func(i int64) task.Example {
		if i == 150 {
			return sized(1, 31, 3)
		}
		return numbered(i)
	}, plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for s.Position().Window == 0 {
		next(t, s)
	}
	for range 3 {
		if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), "example 150") || s.Position() != (batch.Position{Window: 1}) {
			t.Fatalf("%v, at %+v", err, s.Position())
		}
	}
	if err := s.Seek(batch.Position{}); err != nil {
		t.Fatal(err)
	}
	next(t, s)
}

// The order of batches is random: not by length, and another one for another seed and in another window.
func TestOrderIsShuffled(t *testing.T) {
	order := func(seed uint64) (lengths []int) {
		s := stream(t, seed)
		for s.Position().Window == 0 {
			lengths = append(lengths, next(t, s).SourceLength)
		}
		return lengths
	}
	first := order(1)
	if slices.IsSorted(first) {
		t.Errorf("batches come by length: %v", first)
	}
	if slices.Equal(first, order(2)) {
		t.Errorf("seeds 1 and 2 have the same order %v", first)
	}
}

func TestStreamOfATask(t *testing.T) {
	tk, err := algorithmic.Addition{}.Open()
	if err != nil {
		t.Fatal(err)
	}
	source, target := tk.MaxLengths()
	s, err := batch.NewStream(func(i int64) task.Example { return tk.Training(1, i) },
		batch.Plan{Tokens: 1000, MaxSource: source, MaxTarget: target, Window: 2000}, 1)
	if err != nil {
		t.Fatal(err)
	}
	short, shapes := 0, map[string]int{}
	for s.Position().Window == 0 {
		b := next(t, s)
		if b.Examples < b.Rows {
			short++
		}
		shape := fmt.Sprint(b.SourceLength, b.TargetLength)
		if rows, ok := shapes[shape]; ok && rows != b.Rows {
			t.Errorf("shape %s has %d rows and %d rows", shape, rows, b.Rows)
		}
		shapes[shape] = b.Rows
	}
	if short > 1 {
		t.Errorf("%d batches of a window are not full: the longest takes what is left over", short)
	}
}

func TestStreamNamesWhatDoesNotFit(t *testing.T) {
	for want, bad := range map[string]task.Example{
		"example 7 has a source of 31 tokens, more than the maximum of 30": sized(7, 31, 3),
		"example 7 has a target of 22 tokens, more than the maximum of 21": sized(7, 3, 22),
		"example 7 has an empty target":                                    {Source: []vocab.ID{2}},
	} {
		s, err := batch.NewStream(func(i int64) task.Example {
			if i == 7 {
				return bad
			}
			return numbered(i)
		}, plan, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if s.Position() != (batch.Position{}) {
			t.Errorf("after an error the position is %+v", s.Position())
		}
	}
	if _, err := batch.NewStream(numbered, batch.Plan{Rows: 4, MaxSource: 3}, 1); err == nil {
		t.Error("a plan without targets is accepted")
	}
	if _, err := batch.NewStream(numbered, batch.Plan{MaxTarget: 3}, 1); err == nil {
		t.Error("a plan without rows is accepted")
	}
}
