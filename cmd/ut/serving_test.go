//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"universal-transformer/runlog"
)

// served is a process of ut serve.
type served struct {
	*exec.Cmd
	address string
	pipe    io.Closer     // its standard error
	lines   *bufio.Reader // of pipe, after the address
}

// startServe starts ut serve, and waits until it listens.
func startServe(t *testing.T, args ...string) *served {
	t.Helper()
	c := exec.Command(program, append([]string{"serve", "--address", "localhost:0"}, args...)...)
	c.Dir = t.TempDir()
	stderr, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	s := &served{Cmd: c, pipe: stderr, lines: bufio.NewReader(stderr)}
	for s.address == "" { // there may be notes about the checkpoint before
		if found := regexp.MustCompile(`http://(\S+);`).FindStringSubmatch(s.line(t)); found != nil {
			s.address = found[1]
		}
	}
	return s
}

// line returns the next line of the standard error.
func (s *served) line(t *testing.T) string {
	t.Helper()
	line, err := s.lines.ReadString('\n')
	if err != nil {
		t.Fatalf("ut serve says %q, %v", line, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// end ends the server with a signal and returns its exit code.
func (s *served) end() int {
	_ = s.Process.Signal(syscall.SIGTERM)
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// serving starts ut serve, and returns its address and a function that ends it with a signal and returns its exit code.
func serving(t *testing.T, args ...string) (address string, end func() int) {
	t.Helper()
	s := startServe(t, args...)
	return s.address, s.end
}

// openedCopy copies the trained run, and opens it for writing until the test ends. It returns the best checkpoint, too.
func openedCopy(t *testing.T) (dir string, log *runlog.Run, best *runlog.Checkpoint) {
	t.Helper()
	dir = copied(t)
	log, err := runlog.Resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	if best, err = log.Best(); err != nil {
		t.Fatal(err)
	}
	return dir, log, best
}

// A server goes on after the reader of its log has ended. Caught when planted: SIGPIPE, which ends the process.
func TestServeWithoutReaderOfLog(t *testing.T) {
	dir, log, best := openedCopy(t)
	s := startServe(t, dir, "--follow")
	if err := s.pipe.Close(); err != nil {
		t.Fatal(err)
	}
	for step := best.Step + 1; step <= best.Step+2; step++ { // when the second one is loaded, the line about the first has been written
		if err := log.SaveBest(step, best, 5); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(time.Minute); !strings.Contains(string(ask(t, s.address, "/v1/models", "")), fmt.Sprintf(`"step":%d,`, step)); {
			if t.Failed() || time.Now().After(deadline) {
				t.Fatalf("the checkpoint of step %d is not loaded", step)
			}
		}
	}
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

// The page of ut watch is served after the reader of its standard error has ended. Caught when planted: SIGPIPE, which ends the process.
func TestWatchWithoutReader(t *testing.T) {
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	reader, writer, err := os.Pipe()
	if err := errors.Join(err, free.Close(), reader.Close()); err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	c := exec.Command(program, "watch", trained(t), "--address", address)
	c.Stderr = writer
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	defer func() { _ = c.Process.Kill() }()
	for {
		if response, err := http.Get("http://" + address); err == nil {
			response.Body.Close()
			return
		}
		select {
		case err := <-ended:
			t.Fatalf("ut watch has ended: %v", err)
		default:
		}
	}
}

// SIGHUP loads a better checkpoint, and the server goes on; each signal is a line at the beginning and one with the outcome: also if there
// is nothing to load, and if an error is that of the last signal. Caught when planted: a signal that ends the server; one that loads
// nothing.
func TestServeReloadsAtHangup(t *testing.T) {
	dir, log, best := openedCopy(t)
	s := startServe(t, dir)
	if err := log.SaveBest(best.Step+1, best, 5); err != nil {
		t.Fatal(err)
	}
	hangUp(t, s, fmt.Sprintf("ut: run: loaded the checkpoint of update %d", best.Step+1), "ut: SIGHUP: the best checkpoints are loaded")
	hangUp(t, s, "ut: SIGHUP: the best checkpoints are loaded")
	config := filepath.Join(dir, "vocabulary.json")
	if err := errors.Join(log.SaveBest(best.Step+2, best, 5), os.Rename(config, config+".away")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		hangUp(t, s, fmt.Sprintf("ut: SIGHUP: run: the best checkpoint was not loaded, the one of update %d stays: %s: open %s: no such file or directory: restore the file", best.Step+1, dir, config))
	}
	if err := os.Rename(config+".away", config); err != nil {
		t.Fatal(err)
	}
	hangUp(t, s, fmt.Sprintf("ut: run: loaded the checkpoint of update %d", best.Step+2), "ut: SIGHUP: the best checkpoints are loaded")
	if text := string(ask(t, s.address, "/v1/models", "")); !strings.Contains(text, fmt.Sprintf(`"step":%d,`, best.Step+2)) {
		t.Errorf("models after SIGHUP: %s", text)
	}
	if code := s.end(); code != 0 {
		t.Errorf("exit code %d after SIGTERM", code)
	}
}

// hangUp sends SIGHUP to a server, which must say these lines after the first one.
func hangUp(t *testing.T, s *served, want ...string) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"ut: SIGHUP: looking for other checkpoints"}, want...) {
		if line := s.line(t); line != want {
			t.Fatalf("after SIGHUP %q, want %q", line, want)
		}
	}
}

// Without a token, requests for other hosts than this machine are refused, but for a --host.
func TestServeHosts(t *testing.T) {
	for _, c := range []struct {
		args []string
		want map[string]int
	}{
		{nil, map[string]int{"localhost": 200, "127.0.0.1": 200, "a.example": 403}},
		{[]string{"--host", "a.example,b.example"}, map[string]int{"localhost:80": 200, "b.example": 200, "c.example": 403}},
		{[]string{"--host", "*"}, map[string]int{"c.example": 200}},
	} {
		address, end := serving(t, append([]string{trained(t)}, c.args...)...)
		for host, want := range c.want {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/v1/models", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.StatusCode != want {
				t.Errorf("%v: %s has status %d, want %d", c.args, host, response.StatusCode, want)
			}
		}
		if code := end(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
}
