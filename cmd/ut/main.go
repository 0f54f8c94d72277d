// Command ut trains, evaluates, decodes and shows Universal Transformers. `ut help` lists its subcommands, one file each.
//
// Results go to the standard output, progress and notes to the standard error. An error is one line there, "ut: ...". The exit code is 1
// after an error, 2 for an invalid command line, and 130 after an interrupt.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"universal-transformer/internal/parallel"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run runs the program and returns its exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	if err := cmp.Or(enoughFiles(), enoughRoom()); err != nil {
		fmt.Fprintln(stderr, "ut:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program immediately
	defer func() {
		if problem := recover(); problem != nil {
			code = internalError(stderr, problem)
		}
	}()
	root, out := newRoot(), &output{Writer: stdout}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	err := cmp.Or(root.ExecuteContext(ctx), out.err)
	if err == nil {
		return 0
	}
	if unknown := unknownCommand(root, args); unknown != nil {
		err = unknown
	}
	name := "ut:"
	if rank, _ := parallel.Launched(); rank != 0 {
		name = fmt.Sprintf("ut: rank %d:", rank)
	}
	fmt.Fprintln(stderr, name, oneLine(err))
	return exitCode(err)
}

// An output remembers its first error, for commands that print a table or their help without looking at errors.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// endings returns the signals after which the program saves and ends. SIGHUP is one of them, unless the program was started with the
// signal ignored, as by nohup. Launchers pass on SIGUSR1; after a signal of their own they kill soon.
func endings() []os.Signal {
	all := append([]os.Signal{os.Interrupt, syscall.SIGTERM}, passedOn...)
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
