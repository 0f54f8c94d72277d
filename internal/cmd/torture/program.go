//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

// A call is one run of the program.
type call struct {
	args   []string
	stdin  io.Reader
	shell  string // run by sh instead; "$@" is the program and its arguments
	env    []string
	user   *syscall.Credential
	limit  time.Duration // time after which it counts as hanging; 0: a minute
	ending os.Signal     // signal sent at the limit instead of a kill
	again  bool          // it is sent again after two seconds
	during func(*exec.Cmd)
}

// A result is the result of a call.
type result struct {
	stdout, stderr string
	code           int            // -1: ended by a signal
	signal         syscall.Signal // the signal that ended it
	hung           bool           // it had to be killed
	took           time.Duration  // time from the signal to its end, or the total time
	memory         int64          // maximum in bytes
}

// obeys is how long a program may go on after a signal.
// nothing is a signal that only asks whether a process is there.
const nothing = syscall.Signal(0)

const obeys = 2 * time.Second

// ut runs the program in the trial's folder.
func (s *scene) ut(args ...string) result { return s.run(call{args: args}) }

func (s *scene) run(c call) result {
	name, args := s.program, c.args
	if c.shell != "" {
		name, args = "sh", append([]string{"-c", c.shell, "sh", s.program}, args...)
	}
	var stdout, stderr bounded
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.dir, c.stdin, &stdout, &stderr
	cmd.Env = append(os.Environ(), c.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: c.user}
	cmd.WaitDelay = 10 * time.Second // for its output, on a busy machine
	must(cmd.Start())
	if c.during != nil {
		go c.during(cmd)
	}
	limit := c.limit
	if limit == 0 {
		limit = time.Minute
	}
	var r result
	ended := make(chan error, 1)
	start := time.Now()
	go func() { ended <- cmd.Wait() }()
	r.hung = !within(ended, limit)
	if r.hung && c.ending != nil {
		start = time.Now()
		_ = cmd.Process.Signal(c.ending)
		if r.hung = c.again && !within(ended, obeys); r.hung {
			_ = cmd.Process.Signal(c.ending)
		}
		if r.hung || !c.again {
			r.hung = !within(ended, 10*time.Second)
		}
	}
	if r.hung {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
	r.took, r.stdout, r.stderr = time.Since(start), stdout.String(), stderr.String()
	r.code = cmd.ProcessState.ExitCode()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		r.signal = status.Signal()
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.memory = usage.Maxrss << 10
	}
	return r
}

func within(ended <-chan error, limit time.Duration) bool {
	select {
	case <-ended:
		return true
	case <-time.After(limit):
		return false
	}
}

// bounded keeps the first megabyte of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := 1<<20 - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// internals matches text that messages to users must not contain.
var internals = regexp.MustCompile(`goroutine|panic|fatal error|SIG[A-Z]{3,}|internal error|runtime|strconv|\.go:|\.tmp\b|\bfunc\b|universal-transformer/[a-z]|github\.com|u?int(8|16|32|64)\b|float(32|64)\b|interface|nil\b|unmarshal|pflag|%!`)

// fault returns what is wrong with the end of a program and its messages, whatever its task was, or "" if nothing is.
func (r result) fault() class {
	switch {
	case r.hung:
		return hang
	case internals.MatchString(r.stderr):
		return stack
	case r.signal != 0:
		return death
	}
	return ""
}

// refusal returns the class of a command that ended with an error. It is refused if the last line is a message that contains one of
// names, if there are any. Progress and notes may precede it.
func (r result) refusal(names ...string) class {
	if f := r.fault(); f != "" {
		return f
	}
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	if r.code < 1 || !strings.HasPrefix(last, "ut: ") || len(last) > 1000 || !mentions(last, names) {
		return unclear
	}
	for _, line := range lines[:len(lines)-1] {
		if strings.HasPrefix(line, "ut: ") && !strings.HasPrefix(line, "ut: line ") {
			return unclear
		}
	}
	return refused
}

func mentions(text string, names []string) bool {
	for _, name := range names {
		if strings.Contains(text, name) {
			return true
		}
	}
	return len(names) == 0
}

// says returns the output of a program for a report.
func (r result) says() string {
	text := strings.TrimSpace(r.stderr)
	if len(text) > 400 {
		text = text[:200] + " … " + text[len(text)-200:]
	}
	return strings.ReplaceAll(text, "\n", " | ")
}

// ok ends a trial whose preparation failed.
func (r result) ok() result {
	if r.code != 0 {
		must(errors.New(r.says()))
	}
	return r
}
