// Package elapsed says how long a task has taken that cannot say how much is left. It depends on nothing but the standard library, so that
// programs that embed a model do not need more; package progress draws the lines of tasks that know their end.
package elapsed

import (
	"sync"
	"time"
)

const (
	first = 2 * time.Second  // tasks that take less are not reported
	every = 10 * time.Second // of the reports that follow
)

// Report calls say with the time since now, in whole seconds, while a task goes on: after two seconds, and then every ten. The task calls stop
// when it ends; say is not called afterwards.
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
