package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
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
	By      string  `json:"by,omitempty"`      // the test that failed first
	Package string  `json:"package,omitempty"` // whose tests noticed, if not those of the mutant's own
	Seconds float64 `json:"seconds"`
}

// A tester tests mutants of a source tree without changing it: go test -overlay reads the changed file instead of the original.
type tester struct {
	root    string // absolute
	scratch string
	limits  *limits
}

// limits holds how long the tests of each package may take, for all testers.
type limits struct {
	mu sync.Mutex
	of map[string]func() (time.Duration, error) // by folder
}

func newLimits() *limits { return &limits{of: map[string]func() (time.Duration, error){}} }

// Of returns the limit of a folder. Only the first call for a folder measures it.
func (l *limits) Of(dir string, measure func() (time.Duration, error)) (time.Duration, error) {
	l.mu.Lock()
	if l.of[dir] == nil {
		l.of[dir] = sync.OnceValues(measure)
	}
	limit := l.of[dir]
	l.mu.Unlock()
	return limit()
}

// limit returns how long the tests of a package may take with a mutant: several times what they take without.
func (t *tester) limit(ctx context.Context, dir string) (time.Duration, error) {
	return t.limits.Of(dir, func() (time.Duration, error) {
		start := time.Now()
		if out, err := t.goTest(ctx, dir, "-timeout", "30m"); err != nil {
			return 0, fmt.Errorf("the tests of %s fail without a mutant:\n%s", dir, out)
		}
		return 30*time.Second + 4*time.Since(start), nil
	})
}

// users maps a package to packages that use most of it. Their tests run if its own tests notice nothing.
var users = map[string][]string{
	"halting": {"universal"}, "universal": {"decoding", "training"}, "internal/capacity": {"training"}, "decoding": {"internal/evaluation"},
	"runlog": {"training"}, "training": {"pipeline"}, "internal/queue": {"pipeline"},
}

// Test runs the tests of the mutant's package and then, as long as nothing fails, those of its users.
func (t *tester) Test(ctx context.Context, m mutant) (result, error) {
	r := result{ID: m.ID(), Line: m.Line}
	overlay, err := t.overlay(m)
	if err != nil {
		return r, err
	}
	own := path.Dir(m.File)
	for _, dir := range append([]string{own}, users[own]...) {
		limit, err := t.limit(ctx, dir)
		if err != nil {
			return r, err
		}
		start := time.Now()
		out, err := t.goTest(ctx, dir, "-failfast", "-timeout", limit.String(), "-overlay", overlay)
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		r.Seconds += time.Since(start).Round(time.Millisecond).Seconds()
		if r.Outcome, r.By = judge(out, err == nil); r.Outcome == notStarted {
			return r, fmt.Errorf("go test did not run the tests of %s: %s", dir, bytes.TrimSpace(out))
		}
		if r.Outcome != survived {
			if dir != own {
				r.Package = dir
			}
			break
		}
	}
	return r, nil
}

// overlay writes the changed file and the overlay that puts it in place of the original.
func (t *tester) overlay(m mutant) (name string, err error) {
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
	name = filepath.Join(t.scratch, "overlay.json")
	return name, os.WriteFile(name, content, 0o600)
}

// goTest runs the tests of a package and returns their output.
func (t *tester) goTest(ctx context.Context, dir string, flags ...string) ([]byte, error) {
	args := append([]string{"test", "-vet=off", "-count=1"}, flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Dir = t.root
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// judge reads the output of go test. The outcome is notStarted if the output has no word of a test.
func judge(output []byte, passed bool) (o outcome, by string) {
	switch {
	case passed:
		return survived, ""
	case bytes.Contains(output, []byte("[build failed]")) || bytes.Contains(output, []byte("[setup failed]")):
		return notBuilt, ""
	case bytes.Contains(output, []byte("panic: test timed out after")):
		return overtime, ""
	case !bytes.Contains(output, []byte("FAIL")):
		return notStarted, ""
	}
	for line := range strings.Lines(string(output)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			by, _, _ = strings.Cut(name, " ")
			break
		}
	}
	return killed, by
}
