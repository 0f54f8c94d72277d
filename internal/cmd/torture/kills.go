//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// kills kills training at random moments and at changes to files. Training is then resumed, and may be killed again.
func kills(w *world) part {
	var p part
	for i := range w.some(50) {
		p.trials = append(p.trials, trial{fmt.Sprintf("kill at a random moment %d", i+1), (*scene).killAtRandom})
	}
	for i := range w.some(50) {
		event := events[i%len(events)]
		p.trials = append(p.trials, trial{fmt.Sprintf("kill at a file event %d: %s", i+1, event.name), func(s *scene) { s.killAt(event) }})
	}
	return p
}

// maxKills is the maximum number of kills of one run; then it runs to its end.
const maxKills = 3

func (s *scene) killAtRandom() {
	s.killedAndResumed(func(cmd *exec.Cmd) {
		time.Sleep(time.Duration(s.rng.Int64N(int64(s.took))))
		_ = cmd.Process.Kill()
	})
}

// killedAndResumed trains until a run is not killed, and compares its result.
func (s *scene) killedAndResumed(kill func(*exec.Cmd)) {
	run, args, killed := filepath.Join(s.dir, "run"), small("run"), 0
	for attempts := 0; ; attempts++ {
		var during func(*exec.Cmd)
		if attempts < 20 && (killed == 0 || killed < maxKills && s.rng.IntN(2) == 0) {
			during = kill
		}
		r := s.run(call{args: args, during: during})
		if r.code == 0 {
			if killed > 0 {
				break
			}
			must(os.RemoveAll(run)) // it finished before the kill
			continue
		}
		if r.code != -1 || during == nil {
			c := r.fault()
			if c == "" {
				c = failing
			}
			s.note("", c, r.says())
			return
		}
		killed++
		if _, err := os.Stat(filepath.Join(run, "config.json")); err == nil { // otherwise the kill was before the run directory existed
			args = []string{"train", "--resume", "run"}
		}
	}
	s.asNeverKilled(read(run))
}

// asNeverKilled compares a run with one that was not killed.
func (s *scene) asNeverKilled(after contents) {
	if difference := s.killed.differs(after, ""); difference != "" {
		s.note("", silent, difference+" differs")
		return
	}
	for _, name := range after.files() {
		if strings.HasSuffix(name, ".tmp") {
			s.note("", failing, name+" is left over")
			return
		}
	}
	s.note("", recovered, "")
}

// An event is a change to the files of a run. seen returns a value that changes when the event happens.
type event struct {
	name string
	seen func(dir string) string
}

var events = []event{
	{"a file is being written", func(dir string) string { return temporaries(dir) }},
	{"a checkpoint is being written", func(dir string) string { return temporaries(filepath.Join(dir, "checkpoints")) }},
	{"a checkpoint appears", func(dir string) string { return names(filepath.Join(dir, "checkpoints"), "step-") }},
	{"a line of metrics is written", func(dir string) string { return written(filepath.Join(dir, "metrics.jsonl")) }},
	{"another checkpoint is the best", func(dir string) string { return written(filepath.Join(dir, "best.json")) }},
}

// killAt kills training when an event happens for a randomly chosen time, or just after it.
func (s *scene) killAt(e event) {
	run := filepath.Join(s.dir, "run")
	s.killedAndResumed(func(cmd *exec.Cmd) {
		times, pause := 1+s.rng.IntN(4), time.Duration(s.rng.IntN(3))*50*time.Microsecond
		until := time.Now().Add(10 * time.Second)
		for last := e.seen(run); time.Now().Before(until) && cmd.Process.Signal(nothing) == nil; {
			now := e.seen(run)
			if now != last && now != "" {
				times--
			}
			if last = now; times == 0 {
				time.Sleep(pause)
				_ = cmd.Process.Kill()
				return
			}
		}
	})
}

func temporaries(dir string) string { return names(dir, ".") }

// names returns the names of files in a directory with a given prefix.
func names(dir, prefix string) string {
	entries, _ := os.ReadDir(dir)
	var found []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			found = append(found, e.Name())
		}
	}
	return strings.Join(found, " ")
}

// written returns the time and duration of the last write of a file.
func written(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}
