package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// A usageError is the error of an invalid command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errInterrupted is returned by a command that a signal has ended.
var errInterrupted = errors.New("interrupted")

// exitCode returns the exit code of an error: 2 for an invalid command line, 130 after an interrupt (as in shells), otherwise 1.
func exitCode(err error) int {
	var wrong usageError
	switch {
	case errors.As(err, &wrong):
		return 2
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		return 130
	}
	return 1
}

// grace is the time in which an interrupted command may end by itself.
const grace = time.Second

// interruptible calls work that has nothing to save. If work has not ended soon after an interrupt, because it waits for a file or
// compiles a large model, interruptible returns errInterrupted without waiting for it.
func interruptible(ctx context.Context, work func() error) error {
	done, crashed := make(chan error, 1), make(chan crash, 1)
	go func() {
		defer func() {
			if problem := recover(); problem != nil {
				crashed <- crash{problem, debug.Stack()}
			}
		}()
		done <- work()
	}()
	var late <-chan time.Time
	interrupted := ctx.Done()
	for {
		select {
		case err := <-done:
			return err
		case problem := <-crashed:
			panic(problem)
		case <-interrupted:
			interrupted, late = nil, time.After(grace)
		case <-late:
			return errInterrupted
		}
	}
}

// prompt wraps a command in interruptible, so that an interrupt ends it promptly.
func prompt(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(c *cobra.Command, args []string) error {
		return interruptible(c.Context(), func() error { return run(c, args) })
	}
}

// crash is a panic in another goroutine.
type crash struct {
	problem any
	stack   []byte
}

// oneLine returns the first non-empty line of an error, with advice. GoMLX's errors continue with a stack trace.
func oneLine(err error) string {
	if errors.Is(err, context.Canceled) {
		return errInterrupted.Error()
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			if next := advice(err); next != "" {
				line += ": " + next
			}
			return line
		}
	}
	return "failed for an unknown reason"
}

// elsewhere adds to an error of the file system, such as one that is read-only or full, how to write to another place.
func elsewhere(err error, how string) error {
	if number := syscall.Errno(0); errors.As(err, &number) {
		return fmt.Errorf("%w: %s", err, how)
	}
	return err
}

// missingFile adds to the error of a file that does not exist which argument or flag names it, and what it should name.
func missingFile(err error, argument, what string) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w: name %s", argument, err, what)
	}
	return err
}

// internalError reports a fault of the program itself, with the stack if UT_STACK is set.
func internalError(stderr io.Writer, problem any) int {
	stack := debug.Stack()
	if c, elsewhere := problem.(crash); elsewhere {
		problem, stack = c.problem, c.stack
	}
	fmt.Fprintln(stderr, "ut: internal error:", oneLine(fmt.Errorf("%v", problem)))
	if os.Getenv("UT_STACK") != "" {
		fmt.Fprintf(stderr, "%s\n", stack)
	}
	return 1
}
