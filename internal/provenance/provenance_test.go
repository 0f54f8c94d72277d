package provenance

import (
	"strings"
	"testing"
	"time"
)

// clock is a process whose wall time and CPU time a test sets.
type clock struct {
	now time.Time
	cpu time.Duration
}

func (c *clock) meter(sharing int) *Meter {
	return newMeter(func() time.Time { return c.now }, func() time.Duration { return c.cpu }, func() int { return sharing })
}

func (c *clock) pass(m *Meter, wall, cpu time.Duration) {
	c.now, c.cpu = c.now.Add(wall), c.cpu+cpu
	m.sample()
}

// Time in which the process was suspended is left out; time in which it waits for other processes is not, because it uses some CPU then, nor
// is a short gap.
func TestMeter(t *testing.T) {
	c := &clock{now: time.Unix(1000, 0), cpu: 7 * time.Second}
	m := c.meter(1)
	m.threads = 2
	c.pass(m, time.Second, 900*time.Millisecond)
	c.pass(m, time.Second, 0)                    // waits
	c.pass(m, time.Hour, 400*time.Millisecond)   // suspended after an interval on both threads
	c.pass(m, 10*time.Second, 2*time.Second)     // a busy machine
	c.pass(m, time.Second, 500*time.Millisecond) // runs again
	if wall, cpu := m.Seconds(); wall != 13 || cpu != 3.8 {
		t.Errorf("%v wall, %v CPU seconds, want 13 and 3.8", wall, cpu)
	}
	shared := c.meter(4)
	c.pass(shared, 2*time.Second, 8*time.Second)
	if wall, cpu := shared.Seconds(); wall != 2 || cpu != 2 {
		t.Errorf("one of four: %v wall, %v CPU seconds, want 2 and 2", wall, cpu)
	}
}

// The meter of this process counts time and can be stopped.
func TestStart(t *testing.T) {
	m := Start()
	sum := 0.0
	for i := range 20_000_000 {
		sum += float64(i)
	}
	wall, cpu := m.Seconds()
	m.Stop()
	if !(wall > 0) || cpu < 0 || sum == 0 || running.Load() != 0 {
		t.Errorf("%v wall, %v CPU seconds, %d run", wall, cpu, running.Load())
	}
}

// Sessions add up; what differs is listed once.
func TestMerge(t *testing.T) {
	got := Merge([]Provenance{
		{Version: "0.2.0", Commit: "a", Backend: "cpu:avx2,threads=1", CPU: "x", Threads: 1, WallSeconds: 10, CPUSeconds: 9, Updates: 100},
		{Version: "0.2.0", Commit: "b", Backend: "cpu:avx2,threads=2", CPU: "x", Threads: 2, Ranks: 4, WallSeconds: 5, CPUSeconds: 8, Updates: 50, ChangedData: "the test data"},
		{Version: "0.2.0", Commit: "a", CPU: "x"},
	})
	want := Provenance{Version: "0.2.0", Commit: "a; b", Backend: "cpu:avx2,threads=1; cpu:avx2,threads=2", CPU: "x", Threads: 2, Ranks: 4, WallSeconds: 15, CPUSeconds: 17, Updates: 150, ChangedData: "the test data"}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if Merge(nil).Recorded() {
		t.Error("no sessions are recorded as something")
	}
}

// The processor's name is what lscpu prints; family and model follow where the system gives both. Other systems, the boards of ARM and the names
// of MIPS, have no family. The first text is of an AMD EPYC of the fourth generation, abridged.
func TestProcessor(t *testing.T) {
	for text, want := range map[string]string{
		"processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nstepping\t: 1\n\nprocessor\t: 1\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: other\n": "AMD EPYC, family 25, model 17",
		"processor\t: 0\nmodel name\t: Intel(R) Xeon(R)  CPU @ 2.00GHz\ncpu family\t: 6\n\nprocessor\t: 1\nmodel name\t: other\n":                                                                    "Intel(R) Xeon(R) CPU @ 2.00GHz",
		"processor\t: 0\nBogoMIPS\t: 108.00\n\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4 Model B\n":                                                                                             "Raspberry Pi 4 Model B",
		"system type\t: MT7621\ncpu model\t: MIPS 1004Kc V2.15\n":                                                                                                                                    "MIPS 1004Kc V2.15",
		"processor\t: 0\nBogoMIPS\t: 50\n": "",
		"":                                 "",
	} {
		if got := processor(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if CPU() == "" {
		t.Error("the processor has no name")
	}
}

type plain struct{}

func (plain) Name() string        { return "go" }
func (plain) Description() string { return "portable" }

type rich struct{ plain }

func (rich) Options() string { return "threads=3" }
func (rich) Threads() int    { return 3 }

// Options and threads are those that the backend says.
func TestOf(t *testing.T) {
	if p := Of(plain{}, "host"); p.Backend != "go (portable)" || p.Threads < 1 || p.Device != "host" || !strings.HasPrefix(p.Version, "0.") {
		t.Errorf("%+v", p)
	}
	if p := Of(rich{}, "host"); p.Backend != "go:threads=3" || p.Threads != 3 {
		t.Errorf("%+v", p)
	}
}

// What makes no sense is an error that names the field.
func TestValidate(t *testing.T) {
	for want, p := range map[string]Provenance{
		"threads is -1":      {Threads: -1},
		"ranks is -1":        {Ranks: -1},
		"wall_seconds is -1": {WallSeconds: -1},
		"updates is -2":      {Updates: -2},
		"commit is given":    {Commit: "a"},
	} {
		if err := p.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", p, err, want)
		}
	}
	if err := (Provenance{Version: "0.2.0", Commit: "a", WallSeconds: 0.5}).Validate(); err != nil {
		t.Error(err)
	}
}
