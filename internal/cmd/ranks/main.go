//go:build unix

// Command ranks trains a small model in one process and on 1, 2 and 4 ranks, and compares the resulting files byte for byte. Then it
// kills ranks at random moments, checks how the job ends, and resumes it with every number of ranks. scripts/ranks.sh runs it.
//
// Usage: ranks --alone FILE --mpi FILE [--kills N] [--seed N] [--launcher COMMAND]
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// counts lists the numbers of ranks.
var counts = []int{1, 2, 4}

// trial is the state that all checks share.
type trial struct {
	alone, mpi     string // programs, built without MPI and with it
	launcher       []string
	dir            string // folder for temporary files
	whole          string // run directory of the run in one process
	passed, failed int
}

func main() {
	var t trial
	kills := flag.Int("kills", 10, "`number` of jobs that lose a rank")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "`number` that the moments come from")
	launcher := flag.String("launcher", "mpirun --oversubscribe --bind-to none", "`command` that -n RANKS PROGRAM is added to")
	flag.StringVar(&t.alone, "alone", "", "the program built without MPI, a `file`")
	flag.StringVar(&t.mpi, "mpi", "", "the program built with MPI, a `file`")
	flag.Parse()
	if flag.NArg() > 0 || t.alone == "" || t.mpi == "" {
		fmt.Fprintln(os.Stderr, "ranks: --alone FILE and --mpi FILE are needed, and nothing else: see --help")
		os.Exit(2)
	}
	t.launcher = strings.Fields(*launcher)
	var err error
	if t.mpi, err = filepath.Abs(t.mpi); err == nil {
		t.mpi, err = filepath.EvalSymlinks(t.mpi) // as the system names the running program
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "ranks: --mpi:", err)
		os.Exit(2)
	}
	if err := t.all(*kills, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "ranks:", err)
		os.Exit(2)
	}
	fmt.Printf("%d passed, %d failed\n", t.passed, t.failed)
	if t.failed > 0 {
		os.Exit(1)
	}
}

// check counts and prints the result of one check.
func (t *trial) check(name string, err error) {
	if err != nil {
		t.failed++
		fmt.Printf("FAILED  %s: %v\n", name, err)
		return
	}
	t.passed++
	fmt.Printf("passed  %s\n", name)
}

// all runs all checks.
func (t *trial) all(kills int, seed uint64) (err error) {
	if t.dir, err = os.MkdirTemp("", "ranks-"); err != nil {
		return err
	}
	defer os.RemoveAll(t.dir)
	t.whole = filepath.Join(t.dir, "whole")
	fmt.Printf("seed %d\n", seed)
	if out := t.run(0, trainCommand(t.whole)...); out.err != nil {
		return fmt.Errorf("one process: %w\n%s", out.err, out.stderr)
	}
	took := map[int]time.Duration{}
	for _, n := range counts {
		dir := filepath.Join(t.dir, fmt.Sprint("ranks", n))
		out := t.run(n, trainCommand(dir)...)
		took[n] = out.took
		t.check(fmt.Sprintf("%d ranks come to the bits of one process, in %.1f s", n, out.took.Seconds()), out.sameAs(t.whole, dir))
	}
	out := t.run(2, append([]string{"train", "demo", "--out", filepath.Join(t.dir, "odd")}, "--set", "training.accumulate=3", "--backend", backend)...)
	t.check("2 ranks refuse 3 batches in one line", out.failedWith("training.accumulate is 3"))
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range kills {
		n := counts[1+i%2]
		t.kill(rng, n, took[n], filepath.Join(t.dir, fmt.Sprint("killed", i)))
	}
	return nil
}

// kill kills one rank of a job at a random moment, and resumes the job with every number of ranks.
func (t *trial) kill(rng *rand.Rand, n int, took time.Duration, dir string) {
	var out outcome
	var rank int
	for {
		rank = rng.IntN(n)
		moment := time.Duration(rng.Int64N(int64(took)))
		if out = t.killed(n, rank, moment, trainCommand(dir)...); out.killed {
			break
		}
		_ = os.RemoveAll(dir) // it finished before the kill
	}
	t.check(fmt.Sprintf("rank %d of %d, killed after %.1f s: the job ends %.1f s later, in one line that names it", rank, n, out.moment.Seconds(), out.took.Seconds()), out.namesKilled(rank))
	for _, again := range counts {
		own := dir + "-" + strconv.Itoa(again)
		if err := copyDir(own, dir); err != nil {
			t.check("copy", err)
			return
		}
		arguments := trainCommand(own)
		if _, err := os.Stat(filepath.Join(own, "config.json")); err == nil { // otherwise the kill was before the run directory existed
			arguments = []string{"train", "--resume", own, "--backend", backend}
		}
		out := t.run(again, arguments...)
		t.check(fmt.Sprintf("  resumed with %d ranks, bit-identical", again), out.sameAs(t.whole, own))
	}
}
