package batch

import (
	"fmt"
	"math"

	"universal-transformer/internal/seed"
	"universal-transformer/task"
)

// A Position is a place in a stream of batches: the batch that comes next.
type Position struct {
	Window int64 `json:"window"` // counted from 0
	Batch  int64 `json:"batch"`  // within the window, counted from 0
}

// A Stream is the endless batches of a run. Examples are taken a window at a time, sorted by length into
// rectangles, and the rectangles of a window come in random order. Everything follows from the source, the plan
// and the seed, so Seek continues bit for bit where another stream stopped. Not safe for concurrent use.
type Stream struct {
	source   func(i int64) task.Example
	plan     Plan
	seed     uint64
	position Position
	examples []task.Example // of the window that is loaded
	groups   []group        // of it, in the order they come; nil: none is loaded
}

// NewStream makes the stream of batches of the examples source(0), source(1), ...
func NewStream(source func(i int64) task.Example, plan Plan, seed uint64) (*Stream, error) {
	if err := plan.Validate(); err != nil {
		return nil, fmt.Errorf("batch: %w", err)
	}
	if plan.MaxTarget == 0 {
		return nil, fmt.Errorf("batch: max_target is 0: it must be the longest target of the task")
	}
	if n := plan.window(); n > mostWindow {
		return nil, fmt.Errorf("batch: windows of %d examples are more than %d: choose fewer rows or tokens", n, mostWindow)
	}
	return &Stream{source: source, plan: plan, seed: seed}, nil
}

// Next is the batch at Position, and moves on. An example that is longer than the plan says, or has no target, is an
// error that names it; the stream then stays where it is.
func (s *Stream) Next() (Batch, error) {
	if err := s.load(); err != nil {
		return Batch{}, err
	}
	g := s.groups[s.position.Batch]
	members := make([]task.Example, len(g.members))
	for i, m := range g.members {
		members[i] = s.examples[m]
	}
	b, err := Pad(members, s.plan.rows(g.shape), g.shape.source, g.shape.target)
	if err != nil {
		return Batch{}, err
	}
	b.TokensPerPosition = s.plan.TokensPerPosition
	if s.position.Batch++; int(s.position.Batch) == len(s.groups) {
		s.moveTo(Position{Window: s.position.Window + 1})
	}
	return b, nil
}

// Position is where the stream stands.
func (s *Stream) Position() Position { return s.position }

// Seek moves the stream to a position of a stream of the same source, plan and seed. A position that such a
// stream never has is an error; the stream then stays where it was.
func (s *Stream) Seek(p Position) error {
	if p.Window < 0 || p.Batch < 0 {
		return fmt.Errorf("batch: position %+v has a negative number", p)
	}
	if most := math.MaxInt64/int64(s.plan.window()) - 1; p.Window > most {
		return fmt.Errorf("batch: there is no window %d: the last is %d", p.Window, most)
	}
	before := *s
	s.moveTo(p)
	if err := s.load(); err != nil {
		*s = before
		return err
	}
	if n := len(s.groups); p.Batch >= int64(n) {
		*s = before
		return fmt.Errorf("batch: window %d has %d batches, there is no batch %d", p.Window, n, p.Batch)
	}
	return nil
}

func (s *Stream) moveTo(p Position) {
	if p.Window != s.position.Window {
		s.groups = nil
	}
	s.position = p
}

// load draws and sorts the window of the position, unless it is there already.
func (s *Stream) load() error {
	if s.groups != nil {
		return nil
	}
	n := s.plan.window()
	examples, lengths := make([]task.Example, n), make([]shape, n)
	for j := range n {
		i := s.position.Window*int64(n) + int64(j)
		e := s.source(i)
		if err := s.check(i, e); err != nil {
			return err
		}
		examples[j], lengths[j] = e, shape{len(e.Source), len(e.Target)}
	}
	groups := s.plan.groups(lengths)
	rng := seed.Rand(s.seed, "batch/order", s.position.Window)
	rng.Shuffle(len(groups), func(i, j int) { groups[i], groups[j] = groups[j], groups[i] })
	s.examples, s.groups = examples, groups
	return nil
}

func (s *Stream) check(i int64, e task.Example) error {
	switch {
	case len(e.Source) > s.plan.MaxSource:
		return fmt.Errorf("batch: example %d has a source of %d tokens, the longest may have %d", i, len(e.Source), s.plan.MaxSource)
	case len(e.Target) > s.plan.MaxTarget:
		return fmt.Errorf("batch: example %d has a target of %d tokens, the longest may have %d", i, len(e.Target), s.plan.MaxTarget)
	case len(e.Target) == 0:
		return fmt.Errorf("batch: example %d has an empty target: it must at least have an end", i)
	}
	return nil
}
