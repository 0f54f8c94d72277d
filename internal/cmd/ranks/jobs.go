//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const backend = "cpu:threads=1"

// trainCommand returns the command that trains a small model with all features that affect the bits of results: adaptive depth with planned
// capacity, dropout, random positions, four batches per update, means of the weights, and a best checkpoint that is not the last.
func trainCommand(dir string) []string {
	arguments := []string{"train", "demo", "--out", dir, "--backend", backend}
	for _, set := range []string{
		`task={"reverse": {"max_length": 6}}`, "model.width=16", "model.heads=2",
		`model.halting={"frozen": {"max_steps": 3, "epsilon": 0.01}}`,
		`model.dropout={"embedding": 0.1, "attention": 0.1, "transition": 0.1, "residual": 0.1}`,
		`model.positions={"random_offset": {"max": 12}}`, "training.accumulate=4", "training.average=0.9", "training.ponder.warmup=30",
		"training.steps=60", `training.batch={"tokens": 96}`, "training.log_every=3", "training.evaluate_every=7", "training.checkpoint_every=5", "training.validation=30",
	} {
		arguments = append(arguments, "--set", set)
	}
	return arguments
}

// An outcome describes how a job ended.
type outcome struct {
	err    error
	stderr string        // output on standard error, and the launcher's standard output
	took   time.Duration // since the start, or since the kill
	killed bool          // the rank was running when it was killed
	moment time.Duration // time of the kill after the start
}

// longest is the maximum time for a job to end after it has lost a rank.
const longest = 10 * time.Second

// command returns the command of a job of n ranks, or of the program without MPI if n is 0.
func (t *trial) command(n int, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	line := append([]string{t.alone}, arguments...)
	if n > 0 {
		line = slices.Concat(t.launcher, []string{"-n", strconv.Itoa(n), t.mpi}, arguments)
	}
	c := exec.Command(line[0], line[1:]...)
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = &stderr, &stderr
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c, &stderr
}

// run runs a job until it ends.
func (t *trial) run(n int, arguments ...string) outcome {
	c, stderr := t.command(n, arguments...)
	start := time.Now()
	err := c.Run()
	return outcome{err: err, stderr: stderr.String(), took: time.Since(start)}
}

// killed runs a job and kills one of its ranks after some time.
func (t *trial) killed(n, rank int, moment time.Duration, arguments ...string) outcome {
	c, stderr := t.command(n, arguments...)
	if err := c.Start(); err != nil {
		return outcome{err: err, killed: true}
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return outcome{err: err, stderr: stderr.String()}
	case <-time.After(moment):
	}
	for { // until the launcher has started the rank
		if pid := rankProcess(t.mpi, rank, c.Process.Pid); pid != 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			break
		}
		select {
		case err := <-ended:
			return outcome{err: err, stderr: stderr.String()}
		case <-time.After(10 * time.Millisecond):
		}
	}
	start := time.Now()
	o := outcome{killed: true, moment: moment}
	select {
	case o.err = <-ended:
	case <-time.After(longest):
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		<-ended
		o.err = errors.New("it had to be ended")
	}
	o.took, o.stderr = time.Since(start), stderr.String()
	return o
}

// rankProcess returns the process id of a rank started by a launcher, or 0 if it does not exist.
func rankProcess(program string, rank, launcher int) int {
	found, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range found {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if exe, err := os.Readlink(filepath.Join(filepath.Dir(path), "exe")); err != nil || exe != program {
			continue
		}
		environment, err := os.ReadFile(path)
		group, err2 := syscall.Getpgid(pid)
		variables := strings.Split(string(environment), "\x00")
		isRank := slices.Contains(variables, fmt.Sprint("OMPI_COMM_WORLD_RANK=", rank)) || slices.Contains(variables, fmt.Sprint("PMI_RANK=", rank))
		if err == nil && err2 == nil && isRank && (group == launcher || descends(pid, launcher)) {
			return pid
		}
	}
	return 0
}

// descends reports whether a process is a descendant of the launcher.
func descends(pid, launcher int) bool {
	for pid > 1 && pid != launcher {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return false
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		var state string
		if _, err := fmt.Sscan(rest, &state, &pid); err != nil {
			return false
		}
	}
	return pid == launcher
}

// failedWith returns an error unless the job failed with one line of the program, which contains what.
func (o outcome) failedWith(what string) error {
	var lines []string
	for line := range strings.Lines(o.stderr) {
		if strings.HasPrefix(line, "ut: ") {
			lines = append(lines, line)
		}
	}
	if o.err == nil || len(lines) != 1 || !strings.Contains(lines[0], what) {
		return fmt.Errorf("it ended with %v and said %q", o.err, lines)
	}
	return nil
}

// namesKilled returns an error unless the job ended in time with an error and one line that names the rank (Open MPI) or a process of
// the job (MPICH, which may name another one), and without a line of the program, other than that it was told to end: the launcher ends the
// other ranks by a signal.
func (o outcome) namesKilled(rank int) error {
	named := 0
	for line := range strings.Lines(o.stderr) {
		if strings.Contains(line, fmt.Sprintf("rank %d ", rank)) && strings.Contains(line, "signal 9") {
			named++
		}
		if strings.Contains(line, " PID ") && strings.Contains(line, " RUNNING AT ") {
			named++
		}
		if strings.HasPrefix(line, "ut: ") || strings.Contains(line, "interrupted") && !strings.Contains(line, "unless one has ended") {
			return fmt.Errorf("it says %q", line)
		}
	}
	if o.err == nil || named != 1 {
		return fmt.Errorf("it ended with %v, and named the rank %d times:\n%s", o.err, named, o.stderr)
	}
	return nil
}
