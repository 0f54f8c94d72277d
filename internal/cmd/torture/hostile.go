//go:build unix

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"
)

// hostile feeds the program invalid input wherever it reads something.
func hostile(w *world) part {
	var p part
	add := func(name string, do func(*scene)) { p.trials = append(p.trials, trial{"input: " + name, do}) }
	for _, n := range nasty {
		add("decode, "+n.name, func(s *scene) { s.decodes(n.text()) })
		for _, c := range readers(w) {
			add(c.name+", "+n.name, func(s *scene) {
				must(os.WriteFile(filepath.Join(s.dir, "file"), []byte(n.text()), 0o644))
				s.feed(call{args: c.args})
			})
		}
	}
	for _, c := range readers(w) {
		for _, thing := range []struct {
			name string
			make func(path string) error
		}{
			{"a folder", func(path string) error { return os.Mkdir(path, 0o755) }},
			{"a device", func(path string) error { return os.Symlink("/dev/zero", path) }},
			{"a pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }},
			{"no file", func(string) error { return nil }},
		} {
			add(c.name+", "+thing.name, func(s *scene) {
				must(thing.make(filepath.Join(s.dir, "file")))
				s.feed(call{args: c.args})
			})
		}
	}
	for _, c := range []struct{ name, shell string }{
		{"a folder", `exec "$@" < .`}, {"a device", `exec "$@" < /dev/zero`}, {"noise", `exec "$@" < /dev/urandom`}, {"nowhere", `exec "$@" <&-`},
	} {
		add("decode from "+c.name, func(s *scene) {
			s.copyOf(s.base, "run")
			s.feed(call{args: []string{"decode", "run"}, shell: c.shell})
		})
	}
	add("decode from a silent pipe", func(s *scene) {
		s.copyOf(s.base, "run")
		silent, writer, err := os.Pipe()
		must(err)
		defer writer.Close()
		defer silent.Close()
		s.feed(call{args: []string{"decode", "run"}, stdin: silent})
	})
	return p
}

// readers lists the commands that read a file named file.
func readers(w *world) []query {
	tiny := []string{"--out", "out", "--set", "training.steps=2", "--set", "model.width=8", "--set", "model.heads=2"}
	return []query{
		{"table", append([]string{"train", "own-pairs", "--set", "task.table.path=file"}, tiny...), ""},
		{"text", append([]string{"train", "own-text", "--set", "task.text.path=file"}, tiny...), ""},
		{"configuration", []string{"train", "--config", "file", "--out", "out"}, ""},
		{"data of eval", []string{"eval", w.table, "--data", "file"}, ""},
		{"run", []string{"eval", "file"}, ""},
		{"archive", []string{"table", "run", "1", "--rows", "babi-1k-single", "--data", "file", "--runs", "out", "--set", "training.steps=2"}, ""},
	}
}

// A text is invalid or too long input.
type text struct {
	name string
	text func() string
}

var nasty = []text{
	{"nothing", func() string { return "" }},
	{"line ends", func() string { return strings.Repeat("\n", 1000) }},
	{"NUL", func() string { return "12\x0034\n5\t\x00\n\x00\x00\x00\n" }},
	{"invalid UTF-8", func() string { return "12\xff\xfe34\n\xc0\xaf\t5\n\xed\xa0\x80\n" }},
	{"UTF-16, little endian", func() string { return utf16Text("\ufeff12\t34\n5\t6\n", false) }},
	{"UTF-16, big endian", func() string { return utf16Text("\ufeff12\t34\n5\t6\n", true) }},
	{"UTF-8 with a mark", func() string { return "\ufeff12\t34\n56\t78\n" }},
	{"a line of 100,000 digits", func() string { return "12\n" + strings.Repeat("1234567890", 10_000) + "\n34\n" }},
	{"a line of 3,000,000 digits", func() string { return "12\n" + strings.Repeat("1234567890", 300_000) + "\n34\n" }},
	{"100,000 lines", func() string { return strings.Repeat("1\t2\t3\n", 100_000) }},
	{"nested lists", func() string { return strings.Repeat("[", 100_000) }},
	{"nested objects", func() string { return strings.Repeat(`{"model":`, 50_000) }},
	{"a key twice", func() string { return `{"name": "a", "name": "b"}` }},
	{"huge numbers", func() string { return `{"name": "a", "seed": 1e400, "training": {"steps": 99999999999999999999}}` }},
	{"control characters", func() string { return "\x1b[2J\x07\x7f\t\u202e\u2028\n" }},
	{"a sparse archive", func() string { return sparse("tasks_1-20_v1-2/en/qa1_a_train.txt", 1<<40) }},
	{"a huge archive", func() string { return declared("tasks_1-20_v1-2/en/qa1_a_train.txt", 1<<33) }},
}

func utf16Text(text string, big bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		low, high := byte(unit), byte(unit>>8)
		if big {
			low, high = high, low
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

// maxMemory is the memory limit for invalid input, in bytes.
const maxMemory = 3 << 30

// feed runs the program on invalid input. The program may accept or reject it, but must not take long, use much memory, or print more
// than a line. A long run must obey a signal.
func (s *scene) feed(c call) result {
	c.limit, c.ending, c.again = 10*time.Second, syscall.SIGTERM, true
	r := s.run(c)
	k := r.fault()
	switch {
	case k == death && r.signal == syscall.SIGTERM:
		k = obeyed
	case k != "":
	case r.memory > maxMemory:
		k = failing
		r.stderr += fmt.Sprintf(" (%d MiB)", r.memory>>20)
	case r.code == 130:
		k = obeyed
	case r.code == 0:
		k = answered
	default:
		k = r.refusal()
	}
	s.note("", k, r.says())
	return r
}

// decodes decodes a good line, invalid ones, and another good one. Both good ones must be answered as usual.
func (s *scene) decodes(text string) {
	s.copyOf(s.base, "run")
	args := []string{"decode", "run"}
	r := s.feed(call{args: args, stdin: strings.NewReader("123\n" + text + "\n123\n")})
	good := s.run(call{args: args, stdin: strings.NewReader("123\n")}).ok()
	if lines := strings.SplitAfter(r.stdout, "\n"); r.code != 130 && (len(lines) < 3 || lines[0] != good.stdout || lines[len(lines)-2] != good.stdout) {
		s.note("good lines", loss, r.says())
	} else if want := strings.Count("123\n"+text+"\n123\n", "\n"); r.code != 130 && len(lines)-1 != want {
		s.note("good lines", loss, fmt.Sprintf("%d answers to %d lines: %s", len(lines)-1, want, r.says()))
	}
	s.feed(call{args: args, stdin: io.MultiReader(strings.NewReader(text))})
}
