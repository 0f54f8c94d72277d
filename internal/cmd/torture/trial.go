//go:build unix

package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A class is the outcome of a command after a fault.
type class string

// Valid outcomes.
const (
	refused   class = "refused"   // one line names the fault, and the exit code is not 0
	harmless  class = "harmless"  // every byte equals that without the fault
	reported  class = "reported"  // it continues in another way, and a line says so
	recovered class = "recovered" // after a resume, weights and metrics equal those of an undisturbed run
	obeyed    class = "obeyed"    // it ended within two seconds of a signal
	answered  class = "answered"  // unusual input that is valid
	skipped   class = "skipped"   // cannot be tested on this machine
)

// Failures.
const (
	silent  class = "SILENT DIFFERENCE"
	stack   class = "STACK TRACE"     // or identifiers that only a Go programmer knows
	unclear class = "UNCLEAR MESSAGE" // no message, several lines, or a line that does not name the fault
	loss    class = "LOSS"            // intact data was changed or deleted
	hang    class = "HANG"
	death   class = "DEATH" // ended by a signal that the test did not send
	late    class = "LATE"  // it did not end within two seconds of a signal
	failing class = "FAILED"
)

var good = []class{refused, harmless, reported, recovered, obeyed, answered, skipped}

// An outcome is that of one command of a trial.
type outcome struct {
	command string
	class   class
	detail  string
}

// A trial injects one fault, in its own folder.
type trial struct {
	name string
	do   func(*scene)
}

// A part is the trials of one kind.
type part struct {
	trials []trial
	alone  bool // its trials run one at a time, as they measure times
}

func (p part) matching(only *regexp.Regexp) part {
	p.trials = slices.DeleteFunc(slices.Clone(p.trials), func(t trial) bool { return !only.MatchString(t.name) })
	return p
}

// kind returns the name of a trial without its number.
func (t trial) kind() string {
	kind, _, _ := strings.Cut(t.name, ":")
	return strings.TrimRight(kind, " 0123456789")
}

// A scene is the state of a running trial.
type scene struct {
	*world
	dir      string
	rng      *rand.Rand
	outcomes []outcome
}

func (s *scene) note(command string, c class, detail string) {
	s.outcomes = append(s.outcomes, outcome{command, c, detail})
}

// must ends a trial that cannot be set up.
func must(err error) {
	if err != nil {
		panic(fmt.Errorf("cannot be tried: %w", err))
	}
}

// do runs the trials of a part, several at a time, and counts their outcomes in order.
func (w *world) do(p part, t *tally) {
	workers, scenes := w.workers, make([]*scene, len(p.trials))
	if p.alone {
		workers = 1
	}
	done := make([]chan struct{}, len(p.trials))
	for i := range done {
		done[i] = make(chan struct{})
	}
	var group sync.WaitGroup
	queue := make(chan int)
	for range workers {
		group.Go(func() {
			for i := range queue {
				scenes[i] = w.perform(p.trials[i])
				close(done[i])
			}
		})
	}
	go func() {
		for i := range p.trials {
			queue <- i
		}
		close(queue)
	}()
	for i, trial := range p.trials {
		<-done[i]
		before := t.failed
		t.add(trial, scenes[i].outcomes)
		if t.failed == before || !w.keep {
			_ = os.RemoveAll(scenes[i].dir)
		}
	}
	w.failing = t.failed > 0
	group.Wait()
}

// perform runs a trial with its own stream of random numbers, so that it can be repeated alone.
func (w *world) perform(t trial) *scene {
	h := fnv.New64a()
	_, _ = io.WriteString(h, t.name)
	s := &scene{world: w, rng: rand.New(rand.NewPCG(w.seed, h.Sum64()))}
	s.dir = filepath.Join(w.dir, strings.NewReplacer(" ", "-", "/", "-", ":", "").Replace(t.name))
	defer func() {
		if problem := recover(); problem != nil {
			s.note("", failing, fmt.Sprint(problem))
		}
	}()
	must(os.Mkdir(s.dir, 0o755))
	t.do(s)
	return s
}

// A tally counts outcomes by kind of trial, command and class.
type tally struct {
	w                       io.Writer
	kinds                   []string
	counts                  map[string]map[class]int
	passed, failed, skipped int
}

func newTally(w io.Writer) *tally {
	return &tally{w: w, counts: map[string]map[class]int{}}
}

func (t *tally) add(trial trial, outcomes []outcome) {
	for _, o := range outcomes {
		kind := strings.TrimSuffix(trial.kind()+": "+o.command, ": ")
		if t.counts[kind] == nil {
			t.kinds, t.counts[kind] = append(t.kinds, kind), map[class]int{}
		}
		t.counts[kind][o.class]++
		switch {
		case o.class == skipped:
			t.skipped++
			fmt.Fprintf(t.w, "skipped  %s: %s\n", trial.name, o.detail)
		case slices.Contains(good, o.class):
			t.passed++
		default:
			t.failed++
			fmt.Fprintf(t.w, "%s  %s, %s: %s\n", o.class, trial.name, o.command, o.detail)
		}
	}
}

// print writes the counts of the kinds that have not been printed.
func (t *tally) print() {
	width := 0
	for _, kind := range t.kinds {
		width = max(width, len(kind))
	}
	for _, kind := range t.kinds {
		var counts []string
		for _, c := range append(slices.Clone(good), silent, stack, unclear, loss, hang, death, late, failing) {
			if n := t.counts[kind][c]; n > 0 {
				counts = append(counts, fmt.Sprint(n, " ", c))
			}
		}
		fmt.Fprintf(t.w, "%-*s  %s\n", width, kind, strings.Join(counts, ", "))
	}
	t.kinds, t.counts = nil, map[string]map[class]int{}
}

// end writes the totals and returns the number of failures.
func (t *tally) end(took time.Duration) int {
	fmt.Fprintf(t.w, "%d passed, %d failed", t.passed, t.failed)
	if t.skipped > 0 {
		fmt.Fprintf(t.w, ", %d skipped", t.skipped)
	}
	fmt.Fprintf(t.w, ", in %v\n", took.Round(time.Second))
	return t.failed
}
