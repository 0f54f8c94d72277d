package progress

import (
	"sync"
	"time"
)

// Elapsed calls say with the time since now, in whole seconds, while a task that cannot say how much is left goes on: after two seconds, and then
// every ten. The task calls stop when it ends; say is not called afterwards.
func Elapsed(say func(time.Duration)) (stop func()) {
	start, clock, ended := time.Now(), time.NewTicker(minDuration), make(chan struct{})
	var said sync.WaitGroup
	said.Go(func() {
		for {
			select {
			case <-ended:
				return
			case now := <-clock.C:
				clock.Reset(lineEvery)
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
