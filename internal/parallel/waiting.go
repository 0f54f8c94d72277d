package parallel

import (
	"fmt"
	"sync"
	"time"
)

// patience is the time after which rank 0 says that it is waiting for other ranks. It says so again after twice that time, and so on.
const patience = time.Minute

// waiting says that rank 0 has been waiting for other ranks for some time.
func waiting(d time.Duration) string {
	return fmt.Sprintf("waiting for other ranks for %v: unless they are still reading data or compiling, one may be frozen or cut off from the network; "+
		"a stop that was requested waits, too; to give up, end the launcher", d)
}

// A watch says when something takes long.
type watch struct {
	limit time.Duration
	say   func(line string) // nil: nothing is said
}

// over calls do. If do takes longer than the limit, it says so after that time, twice that time, and so on.
func (w watch) over(do func() error) error {
	if w.say == nil {
		return do()
	}
	var mu sync.Mutex
	done := false
	next := w.limit
	var timer *time.Timer
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		if done {
			return
		}
		w.say(waiting(next))
		timer.Reset(next)
		next *= 2
	}
	mu.Lock()
	timer = time.AfterFunc(w.limit, tell)
	mu.Unlock()
	defer func() {
		mu.Lock()
		defer mu.Unlock()
		done = true
		timer.Stop()
	}()
	return do()
}

// A watched transport is that of rank 0, with a watch over every exchange.
type watched struct {
	transport
	watch
}

func (w watched) swap(peer int, send, receive []float32) error {
	return w.over(func() error { return w.transport.swap(peer, send, receive) })
}

func (w watched) gather(all, own []float64) error {
	return w.over(func() error { return w.transport.gather(all, own) })
}

func (w watched) gather32(all, own []float32) error {
	return w.over(func() error { return w.transport.gather32(all, own) })
}

func (w watched) broadcast(data []byte) error {
	return w.over(func() error { return w.transport.broadcast(data) })
}

// Close is an exchange, too: MPI waits for all ranks.
func (w watched) Close() error {
	return w.over(w.transport.Close)
}
