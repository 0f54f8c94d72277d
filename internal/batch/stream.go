package batch

import (
	"fmt"
	"math"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
)

// A Position is that of the next batch in a stream.
type Position struct {
	Window int64 `json:"window"` // counted from 0
	Batch  int64 `json:"batch"`  // within the window, counted from 0
}

// A Stream is the endless sequence of batches of a run. Examples are drawn in windows, sorted by length into rectangles, and the
// rectangles of a window come in random order. The batches are a function of the source, the plan and the seed, so Seek continues
// exactly where another stream stopped. A Stream is not safe for concurrent use.
//
// The next window is drawn in the background while the second half of a window's batches is used, so that training on a GPU does not
// wait for it.
type Stream struct {
	source   func(i int64) task.Example
	plan     Plan
	seed     uint64
	position Position
	window   *window        // the current window; nil: not loaded
	ahead    <-chan *window // receives the next window once it is drawn; nil: not started
}

// A window is the examples that are sorted together, and their batches.
type window struct {
	index    int64
	examples []task.Example
	groups   []group // in the order in which they are returned
	err      error
	panicked any // what source panicked with in the background
}

// NewStream returns the stream of batches of the examples source(0), source(1), ... Only one goroutine at a time calls source, but
// not always the caller's; a panic of source becomes one of the Next or Seek that needs the window, or its error if it panics with a
// [task.ExampleError]. An error begins with the field of the plan that is wrong.
func NewStream(source func(i int64) task.Example, plan Plan, seed uint64) (*Stream, error) {
	if err := plan.Validate(); err != nil {
		return nil, err
	}
	if plan.MaxTarget == 0 {
		return nil, fmt.Errorf("max_target is 0: it must be the longest target of the task")
	}
	if n := plan.window(); n > maxWindow {
		field, value := "tokens", plan.Tokens
		if plan.Rows > 0 {
			field, value = "rows", plan.Rows
		}
		return nil, fmt.Errorf("%s is %d: %d examples would be sorted together, more than %d: choose fewer", field, value, n, maxWindow)
	}
	return &Stream{source: source, plan: plan, seed: seed}, nil
}

// Next returns the batch at Position and advances. An example that is longer than the plan's maximum, or that has no target, is an
// error that names it; the stream then does not advance.
func (s *Stream) Next() (Batch, error) {
	if err := s.load(); err != nil {
		return Batch{}, err
	}
	g := s.window.groups[s.position.Batch]
	members := make([]task.Example, len(g.members))
	for i, m := range g.members {
		members[i] = s.window.examples[m]
	}
	b, err := Pad(members, s.plan.rows(g.shape), g.shape.source, g.shape.target)
	if err != nil {
		return Batch{}, err
	}
	b.TokensPerPosition = s.plan.TokensPerPosition
	n := int64(len(s.window.groups))
	if s.position.Batch++; s.position.Batch == n {
		s.position = Position{Window: s.position.Window + 1}
	} else if s.position.Batch >= n/2 && s.ahead == nil {
		s.ahead = s.drawAhead(s.position.Window + 1)
	}
	return b, nil
}

// Position returns the position of the next batch.
func (s *Stream) Position() Position { return s.position }

// Seek moves the stream to a position of a stream with the same source, plan and seed. A position that does not exist is an error;
// the stream then does not move.
func (s *Stream) Seek(p Position) error {
	if p.Window < 0 || p.Batch < 0 {
		return fmt.Errorf("batch: position %+v has a negative number", p)
	}
	if limit := math.MaxInt64/int64(s.plan.window()) - 1; p.Window > limit {
		return fmt.Errorf("batch: there is no window %d: the last is %d", p.Window, limit)
	}
	position, loaded := s.position, s.window
	s.position = p
	if err := s.load(); err != nil {
		s.position = position
		return err
	}
	if n := len(s.window.groups); p.Batch >= int64(n) {
		s.position, s.window = position, loaded
		return fmt.Errorf("batch: window %d has %d batches, there is no batch %d", p.Window, n, p.Batch)
	}
	return nil
}

// load loads the window of the position. After an error the previous window stays.
func (s *Stream) load() error {
	index := s.position.Window
	if s.window != nil && s.window.index == index {
		return nil
	}
	var w *window
	if s.ahead != nil { // it is also received if another window is needed, as only one goroutine at a time may call source
		w, s.ahead = <-s.ahead, nil
	}
	if w == nil || w.index != index {
		w = s.draw(index)
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	if w.err != nil {
		return w.err
	}
	s.window = w
	return nil
}

// drawAhead draws a window in the background. The channel receives nil if source ended the goroutine.
func (s *Stream) drawAhead(index int64) <-chan *window {
	drawn := make(chan *window, 1)
	go func() {
		var w *window
		defer func() {
			if problem := recover(); problem != nil {
				w = &window{index: index, panicked: problem}
			}
			drawn <- w
		}()
		w = s.draw(index)
	}()
	return drawn
}

// draw draws and sorts the examples of a window. It reads only fields that NewStream sets.
func (s *Stream) draw(index int64) *window {
	n := s.plan.window()
	w := &window{index: index, examples: make([]task.Example, n)}
	lengths := make([]shape, n)
	for j := range n {
		i := index*int64(n) + int64(j)
		e, err := task.Drawn(func() task.Example { return s.source(i) })
		if err != nil {
			w.err = fmt.Errorf("batch: example %d: %w", i, err)
			return w
		}
		if w.err = s.check(i, e); w.err != nil {
			return w
		}
		w.examples[j], lengths[j] = e, shape{len(e.Source), len(e.Target)}
	}
	w.groups = s.plan.groups(lengths)
	rng := seed.Rand(s.seed, "batch/order", index)
	rng.Shuffle(len(w.groups), func(i, j int) { w.groups[i], w.groups[j] = w.groups[j], w.groups[i] })
	return w
}

func (s *Stream) check(i int64, e task.Example) error {
	switch {
	case len(e.Source) > s.plan.MaxSource:
		return fmt.Errorf("batch: example %d has a source of %d tokens, more than the maximum of %d", i, len(e.Source), s.plan.MaxSource)
	case len(e.Target) > s.plan.MaxTarget:
		return fmt.Errorf("batch: example %d has a target of %d tokens, more than the maximum of %d", i, len(e.Target), s.plan.MaxTarget)
	case len(e.Target) == 0:
		return fmt.Errorf("batch: example %d has an empty target: it must contain at least End", i)
	case s.plan.Check == nil:
		return nil
	}
	if err := s.plan.Check(e); err != nil {
		return fmt.Errorf("batch: example %d: %w", i, err)
	}
	return nil
}
