package parallel

import (
	"fmt"
	"slices"
	"sync"
)

// Local returns a group of n ranks within one process, for n goroutines. It computes the same as n processes. n below 1 means 1.
func Local(n int) []*Group {
	n = max(n, 1)
	mail, left := make([][]chan any, n), make([]chan struct{}, n)
	for i := range n {
		left[i] = make(chan struct{})
		for range n {
			mail[i] = append(mail[i], make(chan any, 1))
		}
	}
	groups := make([]*Group, n)
	for i := range n {
		groups[i] = &Group{transport: &local{rank: i, mail: mail, left: left}}
	}
	return groups
}

// A local is a rank of a Local group.
type local struct {
	rank  int
	mail  [][]chan any    // mail[i][j] holds messages from rank i to rank j
	left  []chan struct{} // closed when a rank leaves
	leave sync.Once
}

func (l *local) Rank() int { return l.rank }

func (l *local) Size() int { return len(l.mail) }

// Close leaves the group. Ranks that wait for this one get an error that names it.
func (l *local) Close() error {
	l.leave.Do(func() { close(l.left[l.rank]) })
	return nil
}

// send sends a copy of numbers.
func send[T any](l *local, to int, numbers []T) error {
	select {
	case l.mail[l.rank][to] <- slices.Clone(numbers):
		return nil
	case <-l.left[to]:
		return fmt.Errorf("parallel: rank %d has left", to)
	}
}

// receive receives as many numbers as room has.
func receive[T any](l *local, from int, room []T) error {
	var content any
	select {
	case content = <-l.mail[from][l.rank]:
	case <-l.left[from]:
		select {
		case content = <-l.mail[from][l.rank]: // sent before it left
		default:
			return fmt.Errorf("parallel: rank %d has left", from)
		}
	}
	numbers, ok := content.([]T)
	if !ok || len(numbers) != len(room) {
		return fmt.Errorf("parallel: rank %d expects %d of %T from rank %d, which sent %T: they are not in the same function", l.rank, len(room), room, from, content)
	}
	copy(room, numbers)
	return nil
}

func (l *local) swap(peer int, out, in []float32) error {
	if err := send(l, peer, out); err != nil {
		return err
	}
	return receive(l, peer, in)
}

func (l *local) gather(all, own []float64) error { return gatherLocally(l, all, own) }

func (l *local) gather32(all, own []float32) error { return gatherLocally(l, all, own) }

func gatherLocally[T any](l *local, all, own []T) error {
	for to := range l.Size() {
		if err := send(l, to, own); err != nil {
			return err
		}
	}
	for from := range l.Size() {
		if err := receive(l, from, all[from*len(own):][:len(own)]); err != nil {
			return err
		}
	}
	return nil
}

func (l *local) broadcast(data []byte) error {
	if l.rank != 0 {
		return receive(l, 0, data)
	}
	for to := 1; to < l.Size(); to++ {
		if err := send(l, to, data); err != nil {
			return err
		}
	}
	return nil
}
