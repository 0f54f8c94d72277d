//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// limits restricts memory, file descriptors and disk space.
func limits(w *world) part {
	var p part
	for _, descriptors := range []int{3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 24} {
		name := fmt.Sprintf("descriptors: %d", descriptors)
		p.trials = append(p.trials, trial{name, func(s *scene) { s.limited(fmt.Sprintf(`ulimit -n %d; exec "$@"`, descriptors)) }})
	}
	for _, kilobytes := range []int{1000, 1400, 2000, 3000} { // Go itself needs 1500
		name := fmt.Sprintf("address space: %d MB", kilobytes)
		p.trials = append(p.trials, trial{name, func(s *scene) { s.limited(fmt.Sprintf(`ulimit -v %d000; exec "$@"`, kilobytes)) }})
	}
	for _, set := range []string{
		"model.width=512", "model.width=4096", "model.width=100000", "model.transition.feedforward.filter=1000000000", "model.halting.frozen.max_steps=1000",
		"training.batch.tokens=100000", "training.batch.tokens=1000000", "training.batch.tokens=1000000000", "training.batch.rows=1000000",
		"training.validation=1000000000", "training.accumulate=1000000000",
	} {
		p.trials = append(p.trials, trial{"memory: " + set, func(s *scene) { s.large(set) }})
	}
	for i := range w.some(20) {
		p.trials = append(p.trials, trial{fmt.Sprintf("limited files %d", i+1), (*scene).limitedFiles})
	}
	for i := range w.some(20) {
		p.trials = append(p.trials, trial{fmt.Sprintf("full disk %d", i+1), (*scene).fullDisk})
	}
	return p
}

// limited runs all commands on a copy of the base run under a limit. Each must be refused, or work as without the limit.
func (s *scene) limited(shell string) {
	run := s.copyOf(s.base, "run")
	for _, a := range append(append([]query{}, queries...), resuming) {
		before := read(run)
		r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin), shell: shell})
		after := read(run)
		same := r.stdout == s.answers[a.name] || a.name == resuming.name && s.final.differs(after, "") == ""
		switch {
		case r.code == 0 && r.fault() == "" && same:
			s.note(a.name, harmless, "")
		case r.code == 0 && r.fault() == "":
			s.note(a.name, silent, r.says())
		default:
			s.note(a.name, r.refusalWithoutLoss(before, after), r.says())
		}
	}
}

// refusalWithoutLoss is like refusal, but returns loss if existing files are missing or changed afterwards.
func (r result) refusalWithoutLoss(before, after contents) class {
	c := r.refusal()
	if lost := before.missing(after); c == refused && len(lost) > 0 {
		return loss
	}
	return c
}

// large trains a model that may be too large for an address space of 3 GB. The program must say so, or train until it is told to stop
// (twice, if an update takes long).
func (s *scene) large(set string) {
	args := small("run", "training.steps=1000000", "training.stop.accuracy=0", set)
	r := s.run(call{args: args, shell: `ulimit -v 3000000; exec "$@"`, limit: 5 * time.Second, ending: syscall.SIGTERM, again: true})
	switch {
	case r.signal == syscall.SIGTERM || r.fault() == "" && r.code == 130:
		s.note("", obeyed, "")
	default:
		s.note("", r.refusal(), r.says())
	}
}

// limitedFiles trains with a limit on the size of files that some of them exceed, then continues without the limit.
func (s *scene) limitedFiles() {
	blocks := 1 + s.rng.IntN(60) // of 512 bytes, or of 1024 in some shells
	s.fails(fmt.Sprintf(`ulimit -f %d; exec "$@"`, blocks), filepath.Join(s.dir, "run"), fmt.Sprintf("at most %d blocks", blocks))
}

// fails trains where that must fail, and then continues without the obstacle.
func (s *scene) fails(shell, run, where string) {
	r := s.run(call{args: small(run), shell: shell})
	if r.code == 0 {
		s.note("", harmless, where)
		return
	}
	c := r.refusal(filepath.Base(run))
	if s.note("train", c, where+": "+r.says()); c != refused {
		return
	}
	again := call{args: []string{"train", "--resume", run}}
	if _, err := os.Stat(filepath.Join(run, "config.json")); err != nil {
		again.args = small(run)
	}
	if r = s.run(again); r.code != 0 {
		s.note("resume", failing, where+": "+r.says())
		return
	}
	if difference := s.killed.differs(read(run), ""); difference != "" {
		s.note("resume", silent, where+": "+difference+" differs")
		return
	}
	s.note("resume", recovered, "")
}
