//go:build unix

// Command torture injects faults into the program ut. It damages copies of a run directory, kills and interrupts training, removes
// permissions, limits memory, descriptors and disk space, feeds it invalid input, and lets many clients of a service meet. After each fault
// it checks the messages and the files, and prints the outcomes by class. scripts/torture.sh runs it.
//
// Usage: torture [--quick] [--seed N] [--only REGEXP] [--program FILE] [--jobs N] [--keep]
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
)

// options holds the options of the command line.
type options struct {
	quick   bool
	seed    uint64
	only    string
	program string
	keep    bool
	jobs    int
}

func main() {
	var o options
	flag.BoolVar(&o.quick, "quick", false, "a tenth of the trials, in two minutes")
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that all that is random comes from")
	flag.StringVar(&o.only, "only", "", "only trials whose name matches this `expression`, as in 'flip 17'")
	flag.StringVar(&o.program, "program", "", "the `file` to torture (default built from cmd/ut)")
	flag.BoolVar(&o.keep, "keep", false, "leave the folders of failed trials")
	flag.IntVar(&o.jobs, "jobs", runtime.GOMAXPROCS(0), "`number` of trials at a time")
	run := flag.String("serve", "", "only serve the model of this run `directory` over HTTP, until the standard input ends")
	flag.Parse()
	if *run != "" {
		if err := serve(*run); err != nil {
			fmt.Fprintln(os.Stderr, "torture:", err)
			os.Exit(2)
		}
		return
	}
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "torture: %q is no option: see --help\n", flag.Arg(0))
		os.Exit(2)
	}
	failed, err := torture(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// torture runs all trials, prints their outcomes, and returns the number of failed checks.
func torture(o options) (failed int, err error) {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return 0, fmt.Errorf("--only: %w", err)
	}
	start := time.Now()
	w, err := newWorld(o)
	if err != nil {
		return 0, err
	}
	defer w.close()
	fmt.Printf("seed %d, %d at a time, in %s\n", o.seed, w.workers, w.dir)
	tally := newTally(os.Stdout)
	for _, part := range parts(w) {
		if part = part.matching(only); len(part.trials) > 0 {
			w.do(part, tally)
			tally.print()
		}
	}
	return tally.end(time.Since(start)), nil
}

// world is the state that all trials share: the program, a run directory to copy, and what ut makes of it if nothing is wrong.
type world struct {
	options
	dir     string // folder for temporary files
	program string
	workers int
	base    string // a run that was interrupted and reconfigured once, with an export and a trace
	answers map[string]string
	final   contents // of base after training it to its end
	killed  contents // of the run that kills are compared with
	took    time.Duration
	table   string // a run on a table of pairs
	stories string // a folder of artificial bAbI tasks
	failing bool   // a trial has failed; with --keep its folder is kept
}

// newWorld builds the program and trains the models for the trials.
func newWorld(o options) (*world, error) {
	dir, err := os.MkdirTemp("", "torture-")
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // another user runs its files
		return nil, err
	}
	w := &world{options: o, dir: dir, program: o.program, workers: max(o.jobs, 1), answers: map[string]string{}}
	if w.program == "" {
		w.program = filepath.Join(dir, "ut")
		build := exec.Command("go", "build", "-o", w.program, "./cmd/ut")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	if w.program, err = filepath.Abs(w.program); err != nil {
		return nil, err
	}
	return w, w.train()
}

func (w *world) close() {
	if !w.keep || !w.failing {
		_ = os.RemoveAll(w.dir)
	}
}

// some returns the number of trials, given that of a full run.
func (w *world) some(full int) int {
	if w.quick {
		return (full + 9) / 10
	}
	return full
}
