package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mistake is an invalid command with its exit code and a part of its message.
type mistake struct {
	args  string // split at blanks; {…} are replaced
	code  int
	says  string
	input string // the standard input; a line with a 1 if it is empty
}

// internals matches what no message may contain: terms of the program's language, its packages, its temporary files.
var internals = regexp.MustCompile(`goroutine|panic|internal error|strconv|\.go:|\.tmp\b|\bfunc\b|\*[A-Za-z]|universal-transformer/|github\.com|experiment\.|training\.Config|halting\.[A-Z]|u?int(32|64)\b|float(32|64)\b|interface|nil\b|EOF|pflag|%!|#\d`)

// announced matches lines that may precede an error.
var announced = regexp.MustCompile(`^downloading |^ut: Get |^training `)

// Every mistake gives one line that describes the problem in the user's terms. There is one table per kind of command.
func TestMistakes(t *testing.T) {
	all := append(append(append([]mistake{}, configurationMistakes...), modelMistakes...), fileMistakes...)
	if len(all) < 200 {
		t.Errorf("only %d mistakes are tried", len(all))
	}
	place := places(t)
	seen := map[string]bool{}
	for _, m := range all {
		if key := m.args + "\n" + m.input; seen[key] {
			t.Errorf("%q is tried twice", m.args)
		} else {
			seen[key] = true
		}
		t.Run(m.args, func(t *testing.T) {
			t.Parallel()
			checkMistake(t, m, place)
		})
	}
}

// checkMistake runs a mistake. Notes on checkpoints and errors of single input lines may precede the last line.
func checkMistake(t *testing.T, m mistake, place map[string]string) {
	args := strings.Fields(m.args)
	for i := range args {
		args[i] = replaced(args[i], place)
	}
	input := m.input
	if input == "" {
		input = "1\n"
	}
	r := utReading(t, strings.TrimPrefix(input, "(nothing)"), args...)
	said := r.stderr
	for _, path := range place {
		if filepath.IsAbs(path) {
			said = strings.ReplaceAll(said, path, "")
		}
	}
	if found := internals.FindString(said); found != "" {
		t.Errorf("says %q: %s", found, r.stderr)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(r.stderr, "\n")+"\n", "\n")
	lines = lines[:len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		if !strings.HasPrefix(line, "ut: line ") && !strings.HasPrefix(line, "ut: note: ") && !announced.MatchString(line) {
			t.Errorf("says %q before the end", line)
		}
	}
	if n := strings.Count(r.stderr, "damaged"); n > len(lines) {
		t.Errorf("damaged is said %d times: %s", n, r.stderr)
	}
	if !strings.Contains(r.stderr, replaced(m.says, place)) {
		t.Errorf("does not say %q: %s", replaced(m.says, place), r.stderr)
	}
	r.stderr = lines[len(lines)-1]
	checkFailure(t, r, m.code)
}

func replaced(text string, place map[string]string) string {
	for name, path := range place {
		text = strings.ReplaceAll(text, "{"+name+"}", path)
	}
	return text
}

// places returns the values of {…}.
func places(t *testing.T) map[string]string {
	t.Helper()
	stories, run := stories(t), trained(t)
	text := write(t, "text.txt", strings.Repeat("so much depends upon a red wheel barrow\n", 40))
	small := []string{"model.width=8", "model.heads=2", "model.transition.filter=16", `model.halting={"fixed":{"steps":1}}`, "training.steps=2", "training.evaluate_every=2"}
	made := func(name string, sets ...string) string {
		args := []string{"train", name, "--out", filepath.Join(t.TempDir(), "run")}
		for _, set := range append(sets, small...) {
			args = append(args, "--set", set)
		}
		succeeds(t, args...)
		return args[3]
	}
	damaged := copied(t)
	spoil := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	checkpoints, err := filepath.Glob(filepath.Join(damaged, "checkpoints", "*.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range checkpoints {
		spoil(path, "rubbish")
	}
	if err := os.Remove(filepath.Join(damaged, "best.json")); err != nil {
		t.Fatal(err)
	}
	broken := copied(t)
	spoil(filepath.Join(broken, "vocabulary.json"), `{"source": 5}`)
	return map[string]string{
		"folder": t.TempDir(), "file": write(t, "file", "hello\n"), "empty": write(t, "nothing", ""), "nothing": "",
		"run": run, "runs": filepath.Dir(run), "damaged": damaged, "broken": broken,
		"lm":      made("own-text", "task.path="+text, "task.length=16", "training.batch.boundaries=[15]"),
		"stories": stories, "babi": made("babi-10k-single/task01", "task.path="+stories, "task.set=en", "training.batch={\"rows\":8}"),
		"programs": made("programs/program", "task.length=2", "task.nesting=1", `training.batch={"tokens":256}`, "training.validation=32"),
		"text":     text, "pairs": write(t, "pairs.tsv", "1 2\t2 1\n"), "odd": write(t, "odd.tsv", "one\ntwo\n"),
		"list": write(t, "mine.json", "[]"), "words": write(t, "mine.json", "text"), "five": write(t, "mine.json", "5"),
		"twice": write(t, "mine.json", `{"seed":1,"seed":2}`), "cut": write(t, "mine.json", `{"name":"a","task":{"copy":{}`),
		"jsonl": write(t, "a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"b\"}\n"),
		"utf16": write(t, "mine.json", "\xff\xfe{\x00}\x00"), "cr": write(t, "cr", "a\tb\rc\td\r"), "nul": write(t, "nul", "one\ntwo\x00three\n"), "latin1": write(t, "latin1", "caf\xe9\tx\n"), "long": strings.Repeat("1", 1001),
		"tokenizer": tokenizer(t), "first": copied(t), "second": copied(t), "third": copied(t), // written by one process each
	}
}
