package progress

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// clock is a time that passes when told to.
type clock struct{ time.Time }

func (c *clock) now() time.Time          { return c.Time }
func (c *clock) advance(d time.Duration) { c.Time = c.Add(d) }

func plain(total int64) (*Progress, *bytes.Buffer, *clock) {
	out, c := new(bytes.Buffer), &clock{time.Unix(1000, 0)}
	return newProgress(out, total, "step", false, func() int { return 0 }, c.now), out, c
}

func TestLine(t *testing.T) {
	p, out, c := plain(5000)
	c.advance(79 * time.Second)
	p.Update(1200, Number("loss", 0.2312), Number("accuracy", 0.93), Rate(18_230, "tokens/s"), Number("ponder", 3.1))
	want := "step 1200/5000  loss 0.231  accuracy 0.93  18.2k tokens/s  ponder 3.1  4m10s left\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out, want)
	}
}

// A task that may end early takes at most the remaining time.
func TestMayEndEarly(t *testing.T) {
	p, out, c := plain(300)
	p.MayEndEarly()
	c.advance(10 * time.Second)
	p.Update(100)
	if got := out.String(); got != "step 100/300  at most 20s left\n" {
		t.Errorf("got %q", got)
	}
}

// A remaining time longer than a duration can be, 2^63 nanoseconds, is shown as that. Caught when planted: a conversion that overflows.
func TestVeryLong(t *testing.T) {
	p, out, c := plain(math.MaxInt64)
	c.advance(10 * time.Second)
	p.Update(100)
	if got, want := out.String(), "step 100/9223372036854775807  2562047h47m left\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Steps of an earlier run cost this one no time, so they must not make the estimate shorter.
func TestStartAt(t *testing.T) {
	p, out, c := plain(300)
	p.StartAt(100)
	c.advance(10 * time.Second)
	p.Update(200)
	if got := out.String(); got != "step 200/300  10s left\n" {
		t.Errorf("got %q", got)
	}
}

func TestPlainLinesKeepTheirDistance(t *testing.T) {
	p, out, c := plain(100)
	for step := range int64(45) { // one a second
		c.advance(time.Second)
		p.Update(step + 1)
	}
	p.Done()
	p.Done()
	var steps []string
	for line := range strings.Lines(out.String()) {
		steps = append(steps, strings.Fields(line)[1])
	}
	if got := strings.Join(steps, " "); got != "2/100 12/100 22/100 32/100 42/100 45/100" {
		t.Errorf("lines at %s", got)
	}
}

func TestShortWorkSaysNothing(t *testing.T) {
	p, out, c := plain(10)
	for step := range int64(10) {
		c.advance(100 * time.Millisecond)
		p.Update(step+1, Number("loss", 1))
	}
	p.Done()
	if out.Len() > 0 {
		t.Errorf("said %q", out)
	}
}

func TestUnknownTotal(t *testing.T) {
	p, out, c := plain(0)
	c.advance(3 * time.Second)
	p.Update(7)
	if got := out.String(); got != "step 7\n" {
		t.Errorf("got %q", got)
	}
}

func TestTerminalRenewsOneLine(t *testing.T) {
	for _, total := range []int64{400, 0} {
		out, c := new(bytes.Buffer), &clock{time.Unix(1000, 0)}
		p := newProgress(out, total, "step", true, func() int { return 60 }, c.now)
		for step := range int64(300) {
			c.advance(50 * time.Millisecond)
			p.Update(step+1, Number("loss", 0.5), Number("a very long name that does not fit on any narrow terminal", 1))
		}
		before := out.String()
		if strings.Contains(before, "\n") || strings.Count(before, "\r") < 50 || !strings.Contains(before, "loss 0.5") {
			t.Errorf("total %d: not one renewed line: %.200q", total, before)
		}
		for _, line := range strings.Split(before, "\r") {
			if n := len([]rune(strings.TrimRight(line, " "))); n > 60 {
				t.Fatalf("total %d: a line of %d columns wraps: %q", total, n, line)
			}
		}
		p.Done()
		if last := strings.TrimPrefix(out.String(), before); !strings.HasPrefix(last, "\r\x1b[Kstep 300") || !strings.HasSuffix(last, "\n") {
			t.Errorf("total %d: last line %q", total, last)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "log")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if p := New(file, 10, "step"); p.bar != nil {
		t.Error("a file got a bar")
	}
}

func TestFields(t *testing.T) {
	for got, want := range map[Field]string{
		Number("loss", 0): "loss 0", Number("loss", 12.345): "loss 12.3", Number("loss", 123456): "loss 123456",
		Number("loss", 1e-7): "loss 1e-07", Rate(950, "tokens/s"): "950 tokens/s", Rate(2.5e6, "tokens/s"): "2.5M tokens/s",
	} {
		if string(got) != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		1400 * time.Millisecond: "1s", 250 * time.Second: "4m10s", 125*time.Minute + 20*time.Second: "2h5m", 2 * time.Hour: "2h0m",
	} {
		if got := formatDuration(d); got != want {
			t.Errorf("short(%v) = %s, want %s", d, got, want)
		}
	}
}
