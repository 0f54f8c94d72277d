//go:build unix

package main

import (
	"errors"
	"testing"
)

// The judgement of how a job ended, on outputs that pass and that must not.
// Caught when planted: any rank that is named; lines of the program passed over.
func TestJudgement(t *testing.T) {
	failed := errors.New("exit status 137")
	noticed := "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9 (Killed).\n"
	for _, c := range []struct {
		o    outcome
		rank int
		want bool
	}{
		{outcome{err: failed, stderr: "update 3/9\n---\n" + noticed}, 1, true},
		{outcome{err: failed, stderr: noticed}, 2, false},
		{outcome{stderr: noticed}, 1, false},
		{outcome{err: failed}, 1, false},
		{outcome{err: failed, stderr: noticed + noticed}, 1, false},
		{outcome{err: failed, stderr: "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 567 RUNNING AT host\n"}, 1, true},
		{outcome{err: failed, stderr: "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n"}, 1, false},
		{outcome{err: failed, stderr: "ut: internal error\n" + noticed}, 1, false},
		{outcome{err: failed, stderr: "interrupted: finishing this update\n" + noticed}, 1, false},
	} {
		if err := c.o.namesKilled(c.rank); (err == nil) != c.want {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	for stderr, want := range map[string]bool{
		"ut: training.accumulate is 3\n": true, "ut: another\n": false, "": false, "ut: training.accumulate is 3\nut: training.accumulate is 3\n": false,
	} {
		if err := (outcome{err: failed, stderr: stderr}).failedWith("accumulate is 3"); (err == nil) != want {
			t.Errorf("%q: %v", stderr, err)
		}
	}
	if err := (outcome{stderr: "ut: x\n"}).failedWith("x"); err == nil {
		t.Error("a job that ended well passes for one that failed")
	}
}
