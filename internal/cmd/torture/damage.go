//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A damage changes the bytes of a file.
type damage func(rng *rand.Rand, data []byte) (damaged []byte, where string)

// flip changes one bit. In checkpoints, half of the changes are in the short header.
func flip(rng *rand.Rand, data []byte) ([]byte, string) {
	n := len(data)
	if n > 8 && data[8] == '{' && rng.IntN(2) == 0 {
		n = min(n, 8+int(binary.LittleEndian.Uint64(data)))
	}
	at, bit := rng.IntN(n), rng.IntN(8)
	data = bytes.Clone(data)
	data[at] ^= 1 << bit
	return data, fmt.Sprintf("bit %d of byte %d", bit, at)
}

// cut removes the end.
func cut(rng *rand.Rand, data []byte) ([]byte, string) {
	at := rng.IntN(len(data))
	return data[:at:at], fmt.Sprintf("cut after %d of %d bytes", at, len(data))
}

// edit replaces a digit by another one.
func edit(rng *rand.Rand, data []byte) ([]byte, string) {
	var digits []int
	for i, b := range data {
		if b >= '0' && b <= '9' {
			digits = append(digits, i)
		}
	}
	at := digits[rng.IntN(len(digits))]
	was := data[at]
	data = bytes.Clone(data)
	data[at] = '0' + (was-'0'+1+byte(rng.IntN(9)))%10
	line := bytes.Count(data[:at], []byte("\n")) + 1
	return data, fmt.Sprintf("line %d, byte %d: %c in place of %c", line, at, data[at], was)
}

// damages flips and cuts every file of a run in turn, and edits digits in those that people edit.
func damages(w *world) part {
	var p part
	files := slices.DeleteFunc(read(w.base).files(), func(name string) bool { return name == "lock" })
	add := func(kind string, n int, files []string, d damage) {
		for i := range n {
			file := files[i%len(files)]
			p.trials = append(p.trials, trial{fmt.Sprintf("%s %d: %s", kind, i+1, file), func(s *scene) { s.damaged(file, d) }})
		}
	}
	add("flip", w.some(300), files, flip)
	add("cut", w.some(100), files, cut)
	for _, name := range []string{"config.json", "best.json", "metrics.jsonl", "vocabulary.json", "changes.json"} {
		add("digit of "+name, w.some(50), []string{name}, edit)
	}
	return p
}

// damaged damages one file of a copy of the base run and runs all commands on it.
func (s *scene) damaged(file string, d damage) {
	run := s.copyOf(s.base, "run")
	data, where := d(s.rng, read(run)[file])
	must(os.WriteFile(filepath.Join(run, file), data, 0o644))
	before := read(run)
	for _, a := range queries {
		r := s.run(call{args: a.args, stdin: strings.NewReader(a.stdin)})
		after := read(run)
		same := r.stdout == s.answers[a.name] && (a.name != "export" || sameExport(read(s.base), after))
		c := s.judge(r, file, same)
		if lost := before.missing(after); len(lost) > 0 {
			c, where = loss, fmt.Sprint(where, "; lost: ", lost)
		}
		if !same {
			where += fmt.Sprintf("; it answers %.60q, not %.60q", r.stdout, s.answers[a.name])
		}
		s.note(a.name, c, where+": "+r.says())
	}
	s.resumed(run, file, where)
}

// resumed resumes a damaged run and compares the result.
func (s *scene) resumed(run, file, where string) {
	before := read(run)
	r := s.ut("train", "--resume", "run")
	after := read(run)
	difference := s.final.differs(after, file)
	c := s.judge(r, file, difference == "")
	switch {
	case c == harmless && strings.Contains(r.stderr, path.Base(file)):
		c = recovered
	case c == reported && s.final.compareCheckpoints(after) != "":
		c = silent
	}
	if lost := lostFiles(before, after, file, r); len(lost) > 0 {
		c, where = loss, fmt.Sprint(where, "; lost: ", lost)
	}
	s.note("resume", c, fmt.Sprintf("%s; difference: %s: %s", where, difference, r.says()))
}

// judge returns the class of a command on a run with a damaged file. same reports whether its result is that of the undamaged run.
func (s *scene) judge(r result, file string, same bool) class {
	names := []string{path.Base(file)}
	switch {
	case r.fault() != "":
		return r.fault()
	case r.code != 0:
		return r.refusal(names...)
	case same:
		return harmless
	case mentions(r.stderr, names):
		return reported
	}
	return silent
}

// sameExport compares exports without the versions that wrote them.
func sameExport(want, got contents) bool {
	for _, name := range []string{"export/config.json", "export/model.safetensors"} {
		if !bytes.Equal(want[name], got[name]) {
			return false
		}
	}
	return true
}

// lostFiles returns the names of lost data after a resume. If it was refused, nothing may have changed. Otherwise training continues,
// which replaces checkpoints and adds metrics; rejected files must still exist under another name. Every whole line of metrics must still
// be in the file, or in a copy of damaged metrics.
func lostFiles(before, after contents, file string, r result) (names []string) {
	if r.code != 0 {
		return before.missing(after)
	}
	if said := strings.Contains(r.stderr, "it is set aside"); said && len(contents{file: before[file]}.missing(after)) > 0 {
		names = append(names, file)
	}
	if strings.HasSuffix(file, ".safetensors") && !strings.Contains(r.stderr, "it is set aside") {
		return names
	}
	var kept []byte
	for _, name := range after.files() {
		if strings.HasPrefix(name, "metrics.jsonl") {
			kept = append(kept, after[name]...)
		}
	}
	for line := range bytes.Lines(before["metrics.jsonl"]) {
		if bytes.HasSuffix(line, []byte("\n")) && !bytes.Contains(kept, line) {
			return append(names, "a line of metrics.jsonl")
		}
	}
	return names
}
