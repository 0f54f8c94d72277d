//go:build unix

package main

import (
	"fmt"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// signals interrupts long commands at random moments.
func signals(w *world) part {
	p := part{alone: true}
	long := []struct {
		query
		after func(*scene, result) class
	}{
		{query{"train", small("run", "training.steps=1000000", "training.schedule.cosine.warmup=0", "training.stop.accuracy=0"), ""}, (*scene).saved},
		{query{"decode", []string{"decode", "run", "--sample", "--temperature", "100", "--max-length", "1000000"}, strings.Repeat("1234\n", 100_000)}, nil},
		{query{"eval", []string{"eval", "run", "--length", "2000", "--count", "40000"}, ""}, nil},
		{query{"trace", []string{"trace", "run", "--input", strings.Repeat("12345", 200)}, ""}, nil},
		{query{"table run", nil, ""}, (*scene).savedExperiment},
	}
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		for _, l := range long {
			for i := range w.some(4) {
				name := fmt.Sprintf("signal %v, %s %d", signal, l.name, i+1)
				p.trials = append(p.trials, trial{"signal: " + name, func(s *scene) { s.signalled(l.query, signal, l.after) }})
			}
		}
	}
	return p
}

func (s *scene) signalled(a query, signal os.Signal, after func(*scene, result) class) {
	if signal == syscall.SIGHUP && ossignal.Ignored(signal) {
		s.note(a.name, skipped, fmt.Sprintf("%v is ignored here, as under nohup, and so it is by what this starts", signal))
		return
	}
	if a.args == nil {
		a.args = s.tableRun("out", 1_000_000)
	}
	if a.name != "train" && a.name != "table run" {
		s.copyOf(s.base, "run")
	}
	wait := time.Duration(s.rng.IntN(1500)) * time.Millisecond
	r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin), limit: wait, ending: signal})
	c := obeyed
	switch {
	case r.fault() == death && r.signal == signal && wait < 500*time.Millisecond: // its signal handler was not installed yet
	case r.fault() != "":
		c = r.fault()
	case r.code == 0: // it was finished
		c = harmless
	case r.code != 130:
		c = unclear
	case r.took > obeys:
		c = late
	case after != nil:
		c = after(s, r)
	}
	s.note(a.name, c, fmt.Sprintf("after %v, in %v: %s", wait, r.took, r.says()))
}

// saved returns obeyed if the checkpoint named by the message exists.
func (s *scene) saved(r result) class {
	_, said, found := strings.Cut(r.stderr, "interrupted after update ")
	if !found {
		if strings.Contains(r.stderr, "ut: interrupted") { // there was no run directory yet
			return obeyed
		}
		return unclear
	}
	var step int
	if _, err := fmt.Sscanf(said, "%d, which is saved", &step); err != nil {
		return unclear
	}
	if _, err := os.Stat(filepath.Join(s.dir, "run", "checkpoints", fmt.Sprintf("step-%09d.safetensors", step))); err != nil {
		return loss
	}
	return obeyed
}

// savedExperiment returns obeyed if a run that was started has a checkpoint.
func (s *scene) savedExperiment(r result) class {
	run := filepath.Join(s.dir, "out", "runs", "babi-1k-single-adaptive", "task01-seed1")
	if strings.Contains(r.stderr, "interrupted, saved") && names(filepath.Join(run, "checkpoints"), "step-") == "" {
		return loss
	}
	return obeyed
}
