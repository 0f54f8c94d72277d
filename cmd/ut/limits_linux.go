package main

import (
	"fmt"
	"os"
	"syscall"
)

const (
	// fewestThreads is how many processes and threads the user must be allowed to have: Go starts some before it computes anything.
	fewestThreads = 32
	// leastMemory is the address space that Go reserves, though it uses little of it. With less it ends with a stack trace; with far less
	// it does so before this program can look.
	leastMemory = 1_500_000 << 10

	rlimitProcesses = 6 // RLIMIT_NPROC, which package syscall does not define
)

// enoughRoom is an error if the system lets this process have too little address space or too few threads.
func enoughRoom() error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_AS, &limit) == nil && limit.Cur < leastMemory {
		return fmt.Errorf("at most %d kB of address space may be used here, and %d are needed: raise the limit (ulimit -v)", limit.Cur>>10, leastMemory>>10)
	}
	if os.Geteuid() != 0 && syscall.Getrlimit(rlimitProcesses, &limit) == nil && limit.Cur < fewestThreads { // does not apply to root
		return fmt.Errorf("at most %d processes and threads may run here, and %d are needed: raise the limit (ulimit -u)", limit.Cur, fewestThreads)
	}
	return nil
}
