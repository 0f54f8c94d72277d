//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// passedOn are signals that mpirun and schedulers pass on to all processes of a job.
var passedOn = []os.Signal{syscall.SIGUSR1}

// fewestFiles is how many files must be allowed to be open: some for the run and its data, and some that Go itself needs to wait for
// signals, without which it ends with a stack trace.
const fewestFiles = 16

// enoughFiles is an error if the system lets this process open too few files.
func enoughFiles() error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < fewestFiles {
		return fmt.Errorf("at most %d files may be open here, and %d are needed: raise the limit (ulimit -n)", limit.Cur, fewestFiles)
	}
	return nil
}
