package provenance

import (
	"sync"
	"time"
)

// A Meter measures the wall time and the CPU time of this process from Start to Stop. It leaves out the time in which the process was
// suspended, as by SIGSTOP.
type Meter struct {
	mu        sync.Mutex
	now       func() time.Time
	cpu       func() time.Duration
	begin     time.Duration // CPU time at the start
	last      time.Time     // of the newest sample
	lastCPU   time.Duration
	wall      time.Duration
	stop      chan struct{}
	suspended time.Duration
}

// interval is the time between samples. A gap counts as suspension if it is longer than longGap, although a sample was due, and the process
// used less than one part in idle of it: a process that runs at all takes its samples.
const (
	interval = time.Second
	longGap  = 5 * interval
	idle     = 100
)

// Start starts a meter that samples every second until Stop.
func Start() *Meter {
	m := newMeter(time.Now, cpuTime)
	ticker := time.NewTicker(interval)
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				m.sample()
			case <-m.stop:
				return
			}
		}
	}()
	return m
}

func newMeter(now func() time.Time, cpu func() time.Duration) *Meter {
	m := &Meter{now: now, cpu: cpu, last: now(), lastCPU: cpu(), stop: make(chan struct{})}
	m.begin = m.lastCPU
	return m
}

// sample adds the time since the previous sample.
func (m *Meter) sample() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, cpu := m.now(), m.cpu()
	if gap := now.Sub(m.last); gap > longGap && (cpu-m.lastCPU)*idle < gap {
		m.suspended += gap
	} else {
		m.wall += gap
	}
	m.last, m.lastCPU = now, cpu
}

// Seconds returns the wall time and the CPU time so far.
func (m *Meter) Seconds() (wall, cpu float64) {
	m.sample()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall.Seconds(), (m.lastCPU - m.begin).Seconds()
}

// Stop ends sampling. The meter must not be stopped twice.
func (m *Meter) Stop() { close(m.stop) }
