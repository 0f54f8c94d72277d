package queue

import (
	"os"
	"time"
)

// pollEvery is the time between two looks at the network.
const pollEvery = 200 * time.Microsecond

// poller makes Go's scheduler look at the network. While all processors compute, it does so only every 10 ms, and a small request that
// arrives would wait for that. A goroutine that waits for a pipe makes it look at once. A nil poller does nothing.
type poller struct {
	read, write *os.File
	seen        chan struct{}
	last        time.Time
}

// newPoller returns nil if there are no file descriptors left.
func newPoller() *poller {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	p := &poller{read: r, write: w, seen: make(chan struct{})}
	go func() {
		defer close(p.seen)
		for one := make([]byte, 1); ; p.seen <- struct{}{} {
			if _, err := p.read.Read(one); err != nil {
				return
			}
		}
	}()
	return p
}

// poll looks at the network, unless it has done so just now.
func (p *poller) poll() {
	if p == nil || time.Since(p.last) < pollEvery {
		return
	}
	if _, err := p.write.Write([]byte{0}); err == nil {
		<-p.seen
	}
	p.last = time.Now()
}

// close ends the goroutine.
func (p *poller) close() {
	if p == nil {
		return
	}
	_ = p.write.Close()
	_ = p.read.Close()
}
