package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// program is the path of the binary under test, which is built once.
var program string

// scratch is a directory that exists as long as the tests run.
var scratch string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "ut-test-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		program = filepath.Join(scratch, "ut")
		if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
			return 1
		}
		return m.Run()
	}())
}

// A result is the output and exit code of the program, without its lines of progress.
type result struct {
	stdout, stderr string
	code           int
}

// ut runs the program in an empty directory, with an empty standard input.
func ut(t *testing.T, args ...string) result {
	t.Helper()
	return utReading(t, "", args...)
}

func utReading(t *testing.T, input string, args ...string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Dir, c.Stdin, c.Stdout, c.Stderr = t.TempDir(), strings.NewReader(input), &stdout, &stderr
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{stdout.String(), progressLine.ReplaceAllString(stderr.String(), ""), c.ProcessState.ExitCode()}
}

// progressLine matches what the program writes about work of more than two seconds, which depends on how busy the machine is.
var progressLine = regexp.MustCompile(`(?m)^(?:(?:example|merge|MB|run|second|update) \d+(?:/\d+)?(?:  .*)?|(?:reading the data|computing): .* so far)\n`)

// succeeds runs the program, which must succeed, and returns its standard output.
func succeeds(t *testing.T, args ...string) string {
	t.Helper()
	r := ut(t, args...)
	if r.code != 0 {
		t.Fatalf("ut %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// tiny holds the flags that make the demo small enough to train in a second.
func tiny(more ...string) []string {
	args := []string{}
	for _, set := range append([]string{
		"model.width=8", "model.heads=2", "model.transition.feedforward.filter=16", `model.halting={"fixed": {"steps": 1}}`,
		"model.counting={}", `model.positions={"from_one": {}}`, "training.muon=0", `training.schedule={"cosine": {"peak": 0.001, "floor": 0.00005, "warmup": 200}}`,
		"task.reverse.max_length=4", "training.steps=20", "training.log_every=5", "training.evaluate_every=10",
		"training.checkpoint_every=10", `training.batch={"tokens": 256}`, "training.validation=32",
	}, more...) {
		args = append(args, "--set", set)
	}
	return args
}

// trainedRun returns a run that several tests read and none modifies.
var trainedRun = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "trained")
	out, err := exec.Command(program, append([]string{"train", "demo", "--out", dir}, tiny()...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return dir, nil
})

func trained(t *testing.T) string {
	t.Helper()
	dir, err := trainedRun()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// copied returns a copy of the trained run that a test may modify.
func copied(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.CopyFS(dir, os.DirFS(trained(t))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// write creates a file in its own directory.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// replace replaces a part of a file.
func replace(t *testing.T, path, old, with string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(data, []byte(old)) {
		t.Fatalf("%s has no %q", path, old)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte(old), []byte(with), 1), 0o644); err != nil {
		t.Fatal(err)
	}
}
