//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sample is the state of the server at one time, as its metrics say.
type sample struct {
	memory, anonymous float64 // resident bytes, and those that are no parts of files
	goroutines        int
	cpu               float64 // seconds of all processors so far
}

// samples are taken at intervals.
type samples []sample

// sampled takes a sample.
func sampled(ctx context.Context, address string) (s sample, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return s, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, _ := strconv.ParseFloat(value, 64)
		switch name {
		case "process_resident_memory_bytes":
			s.memory = number
		case "process_resident_memory_anon_bytes":
			s.anonymous = number
		case "process_cpu_seconds_total":
			s.cpu = number
		case "go_goroutines":
			s.goroutines = int(number)
		}
	}
	return s, err
}

// watch takes 200 samples in a time.
func watch(ctx context.Context, address string, d time.Duration) <-chan samples {
	taken := make(chan samples, 1)
	go func() {
		var list samples
		ticker := time.NewTicker(max(d/200, time.Millisecond))
		defer ticker.Stop()
		for end := time.Now().Add(d); time.Now().Before(end) && ctx.Err() == nil; <-ticker.C {
			if s, err := sampled(ctx, address); err == nil {
				list = append(list, s)
			}
		}
		taken <- list
	}()
	return taken
}

// maxGrowth is the growth of memory from the second quarter to the last that counts as flat. In the first quarter, caches fill and the
// collector finds its pace.
const maxGrowth = 1.05

// verdict prints how memory and goroutines changed from the second quarter to the last, by their medians, and returns an error if they grew.
func (l samples) verdict() error {
	n := len(l) / 4
	if n == 0 {
		return fmt.Errorf("%d samples of memory are too few to compare", len(l))
	}
	early, late := l[n:2*n], l[len(l)-n:]
	memory, goroutines := func(s sample) float64 { return s.memory }, func(s sample) float64 { return float64(s.goroutines) }
	m1, m2, g1, g2 := median(early, memory), median(late, memory), median(early, goroutines), median(late, goroutines)
	fmt.Printf("memory: %.1f MB in the second quarter, %.1f MB in the last; goroutines: %.0f, then %.0f\n", m1/1e6, m2/1e6, g1, g2)
	if m2 > maxGrowth*m1 || g2 > 1.2*g1+8 {
		return fmt.Errorf("memory grew from %.1f to %.1f MB, goroutines from %.0f to %.0f", m1/1e6, m2/1e6, g1, g2)
	}
	return nil
}

func median(list samples, of func(sample) float64) float64 {
	values := make([]float64, len(list))
	for i, s := range list {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// settles waits until the server has as few goroutines as before, and prints its memory.
func settles(ctx context.Context, address string, before sample) error {
	http.DefaultClient.CloseIdleConnections()
	var s sample
	for range 300 {
		var err error
		if s, err = sampled(ctx, address); err != nil {
			return err
		}
		if s.goroutines <= before.goroutines+2 { // connections of the clients here
			fmt.Printf("at the end: resident memory %.1f MB, %d goroutines\n", s.memory/1e6, s.goroutines)
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%d goroutines stay, %d were there before", s.goroutines, before.goroutines)
}
