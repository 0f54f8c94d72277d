//go:build !mpi && !mpich

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If a build without MPI is launched as several ranks, every rank prints one line about it and fails, as with a usage error, and nothing is
// trained. A rank that ended without an error would leave the launcher and ranks with other arguments waiting.
// Caught when planted: a rank that trains.
func TestLaunchedWithoutMPI(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{append([]string{"train", "demo"}, tiny()...), "3 ranks were launched, but this program was built without MPI: build it with -tags mpi"},
		{[]string{"table", "run", "4", "--rows", "algorithmic"}, "3 ranks were launched"},
		{[]string{"demo"}, "3 ranks were launched, but the demo uses one process"},
		{[]string{"train", "demo", "--ouut", "x"}, "unknown flag"},
	} {
		for rank, prefix := range []string{"ut: ", "ut: rank 1: ", "ut: rank 2: "} {
			dir := t.TempDir()
			cmd := exec.Command(program, c.args...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "OMPI_COMM_WORLD_SIZE=3", "OMPI_COMM_WORLD_RANK="+string('0'+rune(rank)))
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			lines := strings.Count(stderr.String(), "\n")
			if err == nil || lines != 1 || !strings.HasPrefix(stderr.String(), prefix+c.want) {
				t.Errorf("ut %s, rank %d: %v, %q, want %q", c.args[0], rank, err, &stderr, prefix+c.want)
			}
			if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
				t.Errorf("ut %s, rank %d leaves %v", c.args[0], rank, left)
			}
		}
	}
}
