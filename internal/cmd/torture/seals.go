//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A dataChange changes the lines of a file of pairs.
type dataChange struct {
	name   string
	change func(s *scene, lines []string) []string
}

// dataChanges keep the symbols of the pairs.
var dataChanges = []dataChange{
	{"a third of the targets shuffled", func(s *scene, lines []string) []string {
		for i := 0; i+3 < len(lines); i += 3 {
			source, target, _ := strings.Cut(lines[i], "\t")
			other, to, _ := strings.Cut(lines[i+3], "\t")
			lines[i], lines[i+3] = source+"\t"+to, other+"\t"+target
		}
		return lines
	}},
	{"a quarter moved", func(s *scene, lines []string) []string {
		return append(lines[len(lines)/4:], lines[:len(lines)/4]...)
	}},
	{"one line repeated", func(s *scene, lines []string) []string { return append(lines, lines[s.rng.IntN(len(lines))]) }},
	{"one line removed", func(s *scene, lines []string) []string {
		at := s.rng.IntN(len(lines))
		return append(lines[:at], lines[at+1:]...)
	}},
	{"two lines exchanged", func(s *scene, lines []string) []string {
		lines[0], lines[len(lines)-1] = lines[len(lines)-1], lines[0]
		return lines
	}},
	{"another text", func(s *scene, lines []string) []string {
		for i := range lines {
			lines[i] = fmt.Sprintf("%d\t%s", i*3, strings.Repeat("a", 1+i%5))
		}
		return lines
	}},
}

// dataSeals resumes and evaluates runs whose data have changed.
func dataSeals(w *world) part {
	var p part
	for _, c := range dataChanges {
		p.trials = append(p.trials, trial{"changed data: " + c.name, func(s *scene) { s.changedData(c) }})
	}
	return p
}

// changedData trains on pairs and resumes after a change of them. That must be refused, and nothing may change. If the vocabulary is the
// same, the change can be accepted, and eval reports it.
func (s *scene) changedData(c dataChange) {
	pairs, err := os.ReadFile(filepath.Join(filepath.Dir(s.table), "pairs.tsv"))
	must(err)
	run, path := s.copyOf(s.table, "run"), filepath.Join(s.dir, "pairs.tsv")
	must(os.WriteFile(path, pairs, 0o644))
	lines := c.change(s, strings.Split(strings.TrimSpace(string(pairs)), "\n"))
	must(os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644))
	before := read(run)
	more := []string{"train", "--resume", "run", "--set", "training.steps=8"}
	r := s.ut(more...)
	k := r.refusal("data have changed", "another vocabulary")
	if lost := before.missing(read(run)); k == refused && len(lost) > 0 {
		k = loss
	}
	s.note("resume", k, r.says())
	otherWords := strings.Contains(r.stderr, "another vocabulary")
	r = s.ut("eval", "run", "--count", "5")
	switch {
	case r.fault() != "":
		k = r.fault()
	case r.code != 0:
		k = r.refusal("another vocabulary")
	case strings.Contains(r.stderr, "data have changed"):
		k = reported
	default:
		k = silent
	}
	s.note("eval", k, r.says())
	r = s.ut(append(more, "--accept-data")...)
	switch {
	case otherWords:
		k = r.refusal("another vocabulary")
	case r.fault() != "":
		k = r.fault()
	case r.code != 0 || !strings.Contains(r.stderr, "are accepted"):
		k = failing
	default:
		k = reported
	}
	s.note("resume --accept-data", k, r.says())
}

// writers removes the lock of a run during training, and resumes the run.
func writers(w *world) part {
	var p part
	for i := range w.some(20) {
		p.trials = append(p.trials, trial{fmt.Sprintf("two writers %d", i+1), (*scene).twoWriters})
	}
	return p
}

// twoWriters trains a run twice at the same time, because its lock file was removed. The first process must end with a message that names
// the lock. Then metrics are damaged as by independent writers, and training is resumed.
func (s *scene) twoWriters() {
	args, run := small("run", "training.steps=2000", "training.stop.accuracy=0"), filepath.Join(s.dir, "run")
	ended := make(chan result, 1)
	first := s.run(call{args: args, during: func(*exec.Cmd) {
		for until := time.Now().Add(20 * time.Second); names(filepath.Join(run, "checkpoints"), "step-") == "" && time.Now().Before(until); {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(s.rng.IntN(100)) * time.Millisecond)
		_ = os.Remove(filepath.Join(run, "lock"))
		ended <- s.ut("train", "--resume", "run")
	}})
	second := <-ended
	s.note("first", first.refusal("lock"), first.says())
	if second.code != 0 || second.fault() != "" {
		s.note("second", failing, second.says())
		return
	}
	s.note("second", recovered, "")
	s.interleaved(run)
}

// interleaved repeats earlier lines of metrics at their end, as a second writer would, and resumes.
func (s *scene) interleaved(run string) {
	path := filepath.Join(run, "metrics.jsonl")
	metrics := read(run)["metrics.jsonl"]
	lines := bytes.SplitAfter(metrics, []byte("\n"))
	from := 1 + s.rng.IntN(len(lines)/2)
	must(os.WriteFile(path, append(bytes.Clone(metrics), bytes.Join(lines[from:from+3], nil)...), 0o644))
	before := read(run)
	r := s.ut("train", "--resume", "run", "--set", "training.steps=2010")
	lost := lostFiles(before, read(run), "metrics.jsonl", r)
	switch {
	case r.fault() != "":
		s.note("resume", r.fault(), r.says())
	case len(lost) > 0:
		s.note("resume", loss, fmt.Sprint(lost))
	case r.code != 0 || !strings.Contains(r.stderr, "metrics.jsonl:"):
		s.note("resume", failing, r.says())
	default:
		s.note("resume", recovered, "")
	}
}
