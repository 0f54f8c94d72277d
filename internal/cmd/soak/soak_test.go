//go:build unix

package main

import (
	"io"
	"strings"
	"testing"
)

// The verdict compares the medians of the second and the last quarter.
func TestVerdict(t *testing.T) {
	series := func(rss, goroutines func(i int) int) *recorder {
		r := &recorder{}
		for i := range 40 {
			r.samples = append(r.samples, sample{Process: "service", Seconds: float64(i), RSS: rss(i), Goroutines: goroutines(i)},
				sample{Process: "training", Seconds: float64(i), RSS: 1 << (20 + i%8), Goroutines: 99 * i})
		}
		return r
	}
	flat := func(i int) int { return 1000 + i%3 }
	warm := func(i int) int { return 1000 - 900/(1+i) + 400*(i%10/9) } // grows at first, with a peak in each quarter
	leak := func(i int) int { return 1000 + 5*i }
	for _, c := range []struct {
		name            string
		rss, goroutines func(int) int
		want            string
	}{
		{"flat", flat, flat, ""},
		{"warm", warm, flat, ""},
		{"memory", leak, flat, "resident memory grew from 1075 to 1175"},
		{"goroutines", flat, func(i int) int { return 10 + i/8 }, "goroutines grew from 11 to 14"},
	} {
		err := series(c.rss, c.goroutines).verdict(io.Discard, "service")
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
