package provenance

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A Meter measures the wall time and the CPU time of some work in this process. It leaves out the time in which the process was suspended,
// as by SIGSTOP. Works that are measured at the same time share the CPU time of the process equally.
type Meter struct {
	mu      sync.Mutex
	now     func() time.Time
	cpu     func() time.Duration // of the process, so far
	sharing func() int           // meters that run
	threads int                  // that the process may use

	last      time.Time     // of the newest sample
	lastCPU   time.Duration // of the process
	wall, own time.Duration
	stop      chan struct{}
}

// A process that runs takes a sample every interval. A far longer gap counts as suspension if the process used no more CPU time in it than all
// its threads can use in one interval, the one in which it was stopped.
const (
	interval = 200 * time.Millisecond
	longGap  = 10 * interval
)

// running is the number of meters that run.
var running atomic.Int64

// Start starts a meter, which samples until Stop.
func Start() *Meter {
	running.Add(1)
	m := newMeter(time.Now, cpuTime, func() int { return int(running.Load()) })
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

func newMeter(now func() time.Time, cpu func() time.Duration, sharing func() int) *Meter {
	return &Meter{now: now, cpu: cpu, sharing: sharing, threads: runtime.GOMAXPROCS(0), last: now(), lastCPU: cpu(), stop: make(chan struct{})}
}

// sample adds the time since the previous sample.
func (m *Meter) sample() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, cpu := m.now(), m.cpu()
	gap, used := now.Sub(m.last), cpu-m.lastCPU
	if suspended := gap > longGap && used <= interval*time.Duration(m.threads); !suspended {
		m.wall += gap
	}
	m.own += used / time.Duration(max(m.sharing(), 1))
	m.last, m.lastCPU = now, cpu
}

// Seconds returns the wall time and the CPU time so far.
func (m *Meter) Seconds() (wall, cpu float64) {
	m.sample()
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.wall.Seconds(), m.own.Seconds()
}

// Stop ends sampling. It must be called once.
func (m *Meter) Stop() {
	close(m.stop)
	running.Add(-1)
}
