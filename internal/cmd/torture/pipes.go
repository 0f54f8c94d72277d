//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// pipes closes the pipes that the program writes to, as head does after a line.
func pipes(w *world) part {
	var p part
	add := func(name string, do func(*scene)) { p.trials = append(p.trials, trial{"pipe: " + name, do}) }
	for _, which := range []struct{ name, shell string }{
		{"standard output", `"$@" | true`},
		{"standard output after a line", `"$@" | head -1`},
		{"standard error", `"$@" 2>&1 >/dev/null | true`},
		{"standard error after a line", `"$@" 2>&1 >/dev/null | head -1`},
		{"closed descriptors", `exec "$@" >&- 2>&-`},
		{"full output", `exec "$@" >/dev/full`},
	} {
		add("train, "+which.name, func(s *scene) {
			r := s.run(call{args: small("run"), shell: which.shell})
			s.note("train", s.piped(r, s.killed.differs(read(filepath.Join(s.dir, "run")), "")), r.says())
		})
		add("resume, "+which.name, func(s *scene) {
			run := s.copyOf(s.base, "run")
			r := s.run(call{args: resuming.args, shell: which.shell})
			s.note("resume", s.piped(r, s.final.differs(read(run), "")), r.says())
		})
		add("table run, "+which.name, func(s *scene) {
			r := s.run(call{args: s.tableRun("out", 20), shell: which.shell})
			s.note("table run", s.piped(r, s.lacks("out")), r.says())
		})
		for _, a := range queries {
			add(a.name+", "+which.name, func(s *scene) {
				s.copyOf(s.base, "run")
				r := s.run(call{args: a.args, stdin: strings.NewReader(strings.Repeat(a.stdin, 1000)), shell: which.shell})
				s.note(a.name, s.piped(r, ""), r.says())
			})
		}
	}
	return p
}

// piped returns the class of a command whose output was not read. difference describes what is wrong with its files.
func (s *scene) piped(r result, difference string) class {
	switch {
	case r.hung, internals.MatchString(r.stderr):
		return r.fault()
	case r.signal != 0 && r.signal != syscall.SIGPIPE:
		return death
	case difference != "":
		return loss
	}
	return harmless
}

// tableRun is a table's runs on made-up stories: two tasks, a few updates each.
func (s *scene) tableRun(out string, steps int) []string {
	args := []string{"table", "run", "1", "--rows", "babi-1k-single-adaptive", "--data", s.stories, "--seeds", "1", "--columns", "1,2", "--runs", filepath.Join(out, "runs")}
	for _, set := range []string{"model.width=16", fmt.Sprint("training.steps=", steps), "training.evaluate_every=10", "training.batch.rows=16", "training.schedule.cosine.warmup=5"} {
		args = append(args, "--set", set)
	}
	return args
}

// lacks names a result that the runs have not left.
func (s *scene) lacks(out string) string {
	for _, name := range []string{"task01-seed1", "task02-seed1"} {
		path := filepath.Join(s.dir, out, "runs", "results", "babi-1k-single-adaptive", name+".json")
		if _, err := os.Stat(path); err != nil {
			return name
		}
	}
	return ""
}
