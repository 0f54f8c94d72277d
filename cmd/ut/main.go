// Command ut trains, evaluates, decodes and shows Universal Transformers. `ut help` lists its subcommands, one file each.
//
// Results go to the standard output, progress and notes to the standard error. What goes wrong is one line there, "ut: ...",
// and an exit code: 1, 2 if the command itself is wrong, 130 if it was interrupted.
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

// run is the whole program: it gives the exit code.
func run(args []string, stdout, stderr io.Writer) (code int) {
	if err := cmp.Or(enoughFiles(), enoughRoom()); err != nil {
		fmt.Fprintln(stderr, "ut:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	defer func() {
		if problem := recover(); problem != nil {
			code = internalError(stderr, problem)
		}
	}()
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if unknown := unknownCommand(root, args); unknown != nil {
		err = unknown
	}
	if unsaid(err) {
		return 0
	}
	name := "ut:"
	if rank, _ := parallel.Launched(); rank != 0 {
		name = fmt.Sprintf("ut: rank %d:", rank)
	}
	fmt.Fprintln(stderr, name, oneLine(err))
	return exitCode(err)
}

// endings are the signals that end the program politely. The end of a terminal is one unless nohup, or whoever started the program,
// has it ignored. Launchers pass on a signal of the user's, and kill soon after one of their own.
func endings() []os.Signal {
	all := append([]os.Signal{os.Interrupt, syscall.SIGTERM}, passedOn...)
	if !signal.Ignored(syscall.SIGHUP) {
		all = append(all, syscall.SIGHUP)
	}
	return all
}
