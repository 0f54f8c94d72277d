// Package elapsed reports how long a task has taken, for tasks whose remaining time is unknown. It needs only the standard library, because programs
// that embed a model depend on it. Package progress reports tasks with a known end.
package elapsed

import (
	"sync"
	"time"
)

const (
	first = 2 * time.Second  // tasks that take less are not reported
	every = 10 * time.Second // of the reports that follow
)

// Report calls say with the time since the call of Report, in whole seconds: after two seconds, and then every ten seconds, until stop is called. say
// is not called after stop has returned.
func Report(say func(time.Duration)) (stop func()) {
	start, clock, ended := time.Now(), time.NewTicker(first), make(chan struct{})
	var said sync.WaitGroup
	said.Go(func() {
		for {
			select {
			case <-ended:
				return
			case now := <-clock.C:
				clock.Reset(every)
				say(now.Sub(start).Round(time.Second))
			}
		}
	})
	return func() {
		clock.Stop()
		close(ended)
		said.Wait()
	}
}
