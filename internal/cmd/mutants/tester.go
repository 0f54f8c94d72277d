package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// An outcome says what the tests of a package did with a mutant.
type outcome string

const (
	killed     outcome = "killed"           // a test failed
	survived   outcome = "survived"         // all tests passed
	notBuilt   outcome = "does not compile" // does not count
	overtime   outcome = "timeout"          // the tests did not end; counts as killed
	notStarted outcome = ""
)

// A result is a line of the file of outcomes.
type result struct {
	ID      string  `json:"id"`
	Line    int     `json:"line"` // when it was tested
	Outcome outcome `json:"outcome"`
	By      string  `json:"by,omitempty"` // the test that failed first
	Seconds float64 `json:"seconds"`
}

// A tester tests mutants of a source tree without changing it: go test -overlay reads the changed file instead of the original.
type tester struct {
	root    string // absolute
	scratch string
	limits  map[string]time.Duration // of the tests of a package, by folder
}

// limit returns how long the tests of a package may take with a mutant: several times what they take without.
func (t *tester) limit(ctx context.Context, dir string) (time.Duration, error) {
	if limit, ok := t.limits[dir]; ok {
		return limit, nil
	}
	start := time.Now()
	if out, err := t.goTest(ctx, dir, "-timeout", "30m"); err != nil {
		return 0, fmt.Errorf("the tests of %s fail without a mutant:\n%s", dir, out)
	}
	t.limits[dir] = 30*time.Second + 4*time.Since(start)
	return t.limits[dir], nil
}

// Test runs the tests of the mutant's package.
func (t *tester) Test(ctx context.Context, m mutant) (result, error) {
	r := result{ID: m.ID(), Line: m.Line}
	dir := filepath.Dir(filepath.FromSlash(m.File))
	limit, err := t.limit(ctx, dir)
	if err != nil {
		return r, err
	}
	overlay, err := t.overlay(m)
	if err != nil {
		return r, err
	}
	start := time.Now()
	out, err := t.goTest(ctx, dir, "-failfast", "-timeout", limit.String(), "-overlay", overlay)
	r.Seconds = time.Since(start).Round(time.Millisecond).Seconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	r.Outcome, r.By = judge(out, err == nil)
	return r, nil
}

// overlay writes the changed file and the overlay that puts it in place of the original.
func (t *tester) overlay(m mutant) (path string, err error) {
	original := filepath.Join(t.root, filepath.FromSlash(m.File))
	source, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(t.scratch, "mutant.go")
	if err := os.WriteFile(changed, m.Apply(source), 0o600); err != nil {
		return "", err
	}
	content, err := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	if err != nil {
		return "", err
	}
	path = filepath.Join(t.scratch, "overlay.json")
	return path, os.WriteFile(path, content, 0o600)
}

// goTest runs the tests of a package and returns their output.
func (t *tester) goTest(ctx context.Context, dir string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-vet=off", "-count=1"}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+filepath.ToSlash(dir))...)
	cmd.Dir = t.root
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// judge reads the output of go test.
func judge(output []byte, passed bool) (o outcome, by string) {
	switch {
	case passed:
		return survived, ""
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return notBuilt, ""
	case bytes.Contains(output, []byte("panic: test timed out after")):
		return overtime, ""
	}
	for line := range strings.Lines(string(output)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			by, _, _ = strings.Cut(name, " ")
			break
		}
	}
	return killed, by
}
