package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
)

// A usageError is a command that makes no sense as it was typed.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errInterrupted is what a command returns that a signal has ended.
var errInterrupted = errors.New("interrupted")

// exitCode tells scripts what kind of error it was. 130 is what shells give to a program that Ctrl-C ended.
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

// oneLine is an error's first line that says something. GoMLX's errors go on with where they came from.
func oneLine(err error) string {
	if errors.Is(err, context.Canceled) {
		return errInterrupted.Error()
	}
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return "failed without saying why"
}

// internalError reports a fault of the program itself. UT_STACK=1 shows where it is.
func internalError(stderr io.Writer, problem any) int {
	fmt.Fprintln(stderr, "ut: internal error:", oneLine(fmt.Errorf("%v", problem)))
	if os.Getenv("UT_STACK") != "" {
		fmt.Fprintf(stderr, "%s\n", debug.Stack())
	}
	return 1
}
