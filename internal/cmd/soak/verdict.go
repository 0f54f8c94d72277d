//go:build unix

package main

import (
	"fmt"
	"io"
	"slices"
)

// maxGrowth is the growth of resident memory from the second quarter of the samples to the last that counts as flat. The first quarter is
// left out: caches fill, and the collector finds its pace.
const maxGrowth = 1.05

// verdict prints how a process's memory and goroutines changed from the second quarter of its samples to the last, by their medians. It
// returns an error if they grew.
func (r *recorder) verdict(w io.Writer, process string) error {
	var own []sample
	for _, s := range r.samples {
		if s.Process == process {
			own = append(own, s)
		}
	}
	n := len(own) / 4
	if n == 0 {
		return fmt.Errorf("%s: %d samples are too few to compare", process, len(own))
	}
	early, late := own[n:2*n], own[len(own)-n:]
	rss := func(s sample) int { return s.RSS }
	goroutines := func(s sample) int { return s.Goroutines }
	m1, m2 := median(early, rss), median(late, rss)
	g1, g2 := median(early, goroutines), median(late, goroutines)
	last := own[len(own)-1]
	fmt.Fprintf(w, "%s: %.0f minutes, %d done; resident memory %.1f MB in the second quarter, %.1f in the last (%.3f times); goroutines %d, then %d\n",
		process, last.Seconds/60, last.Done, float64(m1)/1e6, float64(m2)/1e6, float64(m2)/float64(m1), g1, g2)
	if float64(m2) > maxGrowth*float64(m1) {
		return fmt.Errorf("%s: resident memory grew from %d to %d bytes", process, m1, m2)
	}
	if g2 > g1+2 { // a request may be under way
		return fmt.Errorf("%s: goroutines grew from %d to %d", process, g1, g2)
	}
	return nil
}

// median returns the median of a number of samples.
func median(samples []sample, of func(sample) int) int {
	numbers := make([]int, len(samples))
	for i, s := range samples {
		numbers[i] = of(s)
	}
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}
