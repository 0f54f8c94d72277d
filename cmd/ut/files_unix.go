//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// passedOn lists the signals that mpirun and schedulers pass on to all processes of a job.
var passedOn = []os.Signal{syscall.SIGUSR1}

// minFiles is the least limit of open files: some are for the run and its data, and some Go itself needs to wait for signals; without
// them it ends with a stack trace.
const minFiles = 16

// enoughFiles returns an error if the system's limit of open files is too low.
func enoughFiles() error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < minFiles {
		return fmt.Errorf("the limit of open files is %d, and %d are needed: raise the limit (ulimit -n)", limit.Cur, minFiles)
	}
	return nil
}
