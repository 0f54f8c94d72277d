//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// requests sends requests of many clients at once. They must not change each other's answers or wait long for each other.
func requests(w *world) part {
	p := part{alone: true}
	p.trials = append(p.trials, trial{"isolation: lines of ut decode", (*scene).longLine})
	for i := range w.some(20) {
		p.trials = append(p.trials, trial{fmt.Sprintf("isolation: service %d", i+1), (*scene).isolated})
	}
	for i := range w.some(10) {
		p.trials = append(p.trials, trial{fmt.Sprintf("blocking: service %d", i+1), (*scene).blocked})
	}
	return p
}

// enough is the memory limit of a service; it suffices for all lines except those of tooLong tokens.
const (
	enough  = "512MiB"
	tooLong = 1_000_000
)

// digits draws a source of n digits.
func digits(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('0' + rng.IntN(10)))
	}
	return b.String()
}

// longLine puts a line that needs too much memory between others.
func (s *scene) longLine() {
	s.copyOf(s.base, "run")
	args := []string{"decode", "run", "--max-source", "1000000"}
	want := strings.Split(s.run(call{args: args, stdin: strings.NewReader("12\n34\n56\n")}).ok().stdout, "\n")
	r := s.run(call{args: args, stdin: strings.NewReader("12\n" + digits(s.rng, tooLong) + "\n34\n56\n"), env: []string{"GOMEMLIMIT=" + enough}})
	s.note("line", r.skippedLine(2, fmt.Sprintf("%d tokens need about", tooLong)), r.says())
	if got := strings.Split(r.stdout, "\n"); len(got) == 5 && slices.Equal(slices.Delete(got, 1, 2), want) && r.code == 1 {
		s.note("other lines", harmless, "")
	} else {
		s.note("other lines", silent, fmt.Sprintf("exit code %d, %q, want %q", r.code, r.stdout, want))
	}
}

// skippedLine returns the class of a command that must report a line without an answer and the reason.
func (r result) skippedLine(line int, why string) class {
	if f := r.fault(); f != "" {
		return f
	}
	if first, _, _ := strings.Cut(r.stderr, "\n"); !strings.HasPrefix(first, fmt.Sprintf("ut: line %d: ", line)) || !strings.Contains(first, why) {
		return unclear
	}
	return refused
}

// isolated sends good and bad lines of several clients at once, and compares the answers with those to the same requests one after another.
func (s *scene) isolated() {
	bodies := make([][]string, 24)
	for i := range bodies {
		for range 1 + s.rng.IntN(5) {
			bodies[i] = append(bodies[i], digits(s.rng, 1+s.rng.IntN(8)))
		}
	}
	bodies[s.rng.IntN(8)][0] = digits(s.rng, tooLong)
	bodies[8+s.rng.IntN(8)][0] = "4x4"
	bodies[16+s.rng.IntN(8)] = slices.Repeat([]string{digits(s.rng, 5)}, 300)
	v := s.serve(enough)
	defer v.end()
	together := make([][]string, len(bodies))
	var all sync.WaitGroup
	for i, body := range bodies {
		all.Go(func() { together[i] = v.ask(context.Background(), body...) })
	}
	all.Wait()
	differ, errors := "", 0
	for i, body := range bodies {
		alone := v.ask(context.Background(), body...)
		for k := range alone {
			if strings.HasPrefix(alone[k], "error: ") {
				errors++
				if internals.MatchString(alone[k]) {
					s.note("message", stack, alone[k])
				}
				if k < len(together[i]) && strings.HasPrefix(together[i][k], "error: ") {
					together[i][k] = alone[k] // the memory at hand varies
				}
			}
		}
		if !slices.Equal(together[i], alone) {
			differ = fmt.Sprintf("%q are answered %q, alone %q", body, together[i], alone)
		}
	}
	switch {
	case differ != "":
		s.note("answers", silent, differ)
	case errors != 2:
		s.note("answers", failing, fmt.Sprintf("%d lines without an answer, want 2", errors))
	default:
		s.note("answers", harmless, "")
	}
}

// blocked sends small requests during a huge one, which its client cancels in half of the trials.
func (s *scene) blocked() {
	const within, slack, limit = 10, 2 * time.Millisecond, 400 << 20 // slack is for the processes that share the machine
	v := s.serve(enough)
	defer v.end()
	small := func() { v.ask(context.Background(), "1234") }
	median(50, small)
	alone := median(50, small)
	body := make([]string, 80_000)
	for i := range body {
		body[i] = digits(s.rng, 1+s.rng.IntN(6))
	}
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	ended := make(chan []string, 1)
	go func() { ended <- v.ask(ctx, body...) }()
	time.Sleep(100 * time.Millisecond) // until it has begun
	var took []time.Duration
	for len(took) < 200 && len(ended) == 0 {
		start := time.Now()
		small()
		took = append(took, time.Since(start))
	}
	if len(took) < 20 {
		s.note("small request", skipped, "the huge request was too fast")
		return
	}
	if beside := middle(took); beside > within*alone+slack {
		s.note("small request", late, fmt.Sprintf("%v beside a huge one, %v alone", beside, alone))
	} else {
		s.note("small request", obeyed, "")
	}
	if s.rng.IntN(2) == 0 {
		giveUp()
	}
	answers := <-ended
	if len(answers) != len(body) && ctx.Err() == nil {
		s.note("huge request", failing, fmt.Sprintf("%d answers to %d lines: %q", len(answers), len(body), answers[0]))
	} else {
		s.note("huge request", answered, "")
	}
	if peak := v.status("VmHWM"); peak > limit {
		s.note("memory", failing, fmt.Sprintf("%d MB", peak>>20))
	} else {
		s.note("memory", answered, "")
	}
}
