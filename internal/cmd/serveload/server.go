//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// server is a process of ut serve.
type server struct {
	address string // host:port
	command *exec.Cmd
	ended   chan error
}

var listening = regexp.MustCompile(`at http://(\S+);`)

// start starts ut serve on a free port, and waits until it listens.
func start(ctx context.Context, o options) (*server, error) {
	s := &server{command: exec.CommandContext(ctx, o.ut, "serve", o.run, "--address", "localhost:0"), ended: make(chan error, 1)}
	said, err := s.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(said)
	line, found := "", []string(nil)
	for err == nil && found == nil { // there may be notes about the checkpoint before
		line, err = lines.ReadString('\n')
		found = listening.FindStringSubmatch(line)
	}
	if found == nil {
		s.kill()
		return nil, fmt.Errorf("ut serve says %q: %w", line, err)
	}
	s.address = found[1]
	go func() {
		_, _ = io.Copy(os.Stderr, lines)
		s.ended <- s.command.Wait()
	}()
	return s, nil
}

// end ends the server with SIGTERM; its exit code must be 0.
func (s *server) end() error {
	if err := s.command.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("the server has ended before: %w", err)
	}
	select {
	case err := <-s.ended:
		if err != nil {
			return fmt.Errorf("after SIGTERM: %w", err)
		}
		return nil
	case <-time.After(time.Minute):
		return fmt.Errorf("the server does not end after SIGTERM")
	}
}

func (s *server) kill() { _ = s.command.Process.Kill() }

// decode returns the answers of ut decode to prompts.
func decode(ctx context.Context, o options, prompts []string) (map[string]string, error) {
	command := exec.CommandContext(ctx, o.ut, "decode", o.run)
	command.Stdin = strings.NewReader(strings.Join(prompts, "\n") + "\n")
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("ut decode: %w: %s", err, &problems)
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(answers) != len(prompts) {
		return nil, fmt.Errorf("ut decode has %d answers to %d lines", len(answers), len(prompts))
	}
	expected := map[string]string{}
	for i, prompt := range prompts {
		expected[prompt] = answers[i]
	}
	return expected, nil
}

// weights returns the size of the largest checkpoint of a run, in megabytes.
func weights(run string) (megabytes float64) {
	files, _ := filepath.Glob(filepath.Join(run, "checkpoints", "*.safetensors"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			megabytes = max(megabytes, float64(info.Size())/1e6)
		}
	}
	return megabytes
}
