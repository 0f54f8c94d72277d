package parallel

import (
	"strings"
	"testing"
	"time"
)

// Rank 0 says in every kind of exchange that it is waiting, after the limit and twice the limit; the other rank comes only then.
// Caught when planted: a watch that says it only once (the test then waits for ever).
func TestRankZeroSaysThatItWaits(t *testing.T) {
	for name, exchange := range map[string]func(g *Group) error{
		"gather":   func(g *Group) error { _, err := g.Gather([]float64{1}); return err },
		"agree":    func(g *Group) error { return g.Agree(nil) },
		"fold":     func(g *Group) error { return g.Fold(g.Own(3), make([]float32, 3)) },
		"share":    func(g *Group) error { return g.Share(g.Own(3), make([]float32, 3)) },
		"swap":     func(g *Group) error { return g.swap(1-g.Rank(), make([]float32, 3), make([]float32, 3)) },
		"gather32": func(g *Group) error { return g.gather32(make([]float32, 6), make([]float32, 3)) },
	} {
		groups := Local(2)
		said := make(chan string, 100)
		groups[0].transport = watched{groups[0].transport, watch{time.Microsecond, func(line string) { said <- line }}}
		first := make(chan error)
		go func() { first <- exchange(groups[0]) }()
		lines := []string{<-said, <-said}
		if err := exchange(groups[1]); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-first; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !strings.HasPrefix(lines[0], "waiting for other ranks for 1µs: ") || !strings.HasPrefix(lines[1], "waiting for other ranks for 2µs: ") {
			t.Errorf("%s: %q", name, lines)
		}
	}
}

// Users are told after a minute, in words that name what they can do.
func TestWaiting(t *testing.T) {
	if line := waiting(patience); !strings.HasPrefix(line, "waiting for other ranks for 1m0s: ") || !strings.Contains(line, "end the launcher") {
		t.Error(line)
	}
}

// Exchanges within the limit, and those of a group without a watch, say nothing.
func TestNothingIsSaidWithinTheLimit(t *testing.T) {
	groups := Local(2)
	var lines []string
	groups[0].transport = watched{groups[0].transport, watch{time.Hour, func(line string) { lines = append(lines, line) }}}
	first := make(chan error)
	go func() {
		_, err := groups[0].Broadcast([]byte("x"))
		first <- err
	}()
	_, err := groups[1].Broadcast(nil)
	if again := <-first; again != nil || err != nil || len(lines) > 0 {
		t.Errorf("%v, %v, %q", again, err, lines)
	}
}
