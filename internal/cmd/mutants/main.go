// Command mutants measures which errors the tests notice: it changes one operator, condition, constant or statement of a package at a time
// and runs the package's tests, which should fail. If they pass, it runs the tests of some packages that use it. The source tree is not
// modified.
// scripts/mutants.sh runs it.
//
// Outcomes are appended to a file, so that an interrupted measurement continues where it stopped. Survivors that no test can kill, because
// they are equivalent to the original or unreachable, are explained in a file, one per line: the mutant's ID, " # ", and the argument. An
// asterisk in the ID stands for any text, to explain a class of mutants; the report counts these separately.
//
// Usage: mutants [--seed N] [--count N] [--time D] [--jobs N] [--only REGEXP] [--out FILE] [--explained FILE] [--again] [--report] [PACKAGE ...]
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"
)

// packages are measured if none are named.
var packages = []string{
	"halting", "universal", "decoding", "training", "pipeline", "runlog", "internal/score", "internal/queue", "bleu", "subword", "internal/capacity",
}

// options are the flags.
type options struct {
	seed           uint64
	count, jobs    int
	time           time.Duration
	out, explained string
	again, report  bool
	only           string
	packages       []string // none: all
}

func main() {
	var o options
	flag.Uint64Var(&o.seed, "seed", 1, "`number` that chooses the mutants")
	flag.IntVar(&o.count, "count", 500, "`number` of mutants that compile")
	flag.DurationVar(&o.time, "time", time.Hour, "no mutant is started after this `duration`")
	flag.IntVar(&o.jobs, "jobs", 1, "`number` of mutants tested at a time")
	flag.StringVar(&o.out, "out", "bin/mutants.jsonl", "`file` of outcomes")
	flag.StringVar(&o.explained, "explained", "internal/cmd/mutants/explained.txt", "`file` of explanations")
	flag.BoolVar(&o.again, "again", false, "test survivors again, after tests were added")
	flag.BoolVar(&o.report, "report", false, "test nothing, report what is known")
	flag.StringVar(&o.only, "only", "", "only mutants whose IDs match this `regexp`, such as '^bleu/chrf.go .* constant'")
	flag.Parse()
	o.packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// run tests the sample and reports.
func run(ctx context.Context, o options) error {
	searched := packages
	if len(o.packages) > 0 {
		searched = o.packages
	}
	all, err := list(searched)
	if err != nil {
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("--only: %w", err)
	}
	text, err := os.ReadFile(o.explained)
	if err != nil {
		return err
	}
	explained, err := parseExplanations(string(text))
	if err != nil {
		return fmt.Errorf("%s: %w", o.explained, err)
	}
	results, err := readResults(o.out)
	if err != nil {
		return err
	}
	order := slices.DeleteFunc(shuffled(all, o.seed), func(m mutant) bool { return !only.MatchString(m.ID()) })
	if !o.report {
		if err := measure(ctx, o, order, results); err != nil {
			return err
		}
	}
	sample := order[:sampleSize(order, results, o.count)]
	fmt.Printf("%d mutants in %d packages, seed %d\n", len(all), len(searched), o.seed)
	report(os.Stdout, sample, results, explained)
	for _, id := range stale(all, o.packages, explained) {
		fmt.Println("no such mutant any more, remove its explanation:", id)
	}
	return nil
}

// list returns the mutants of packages.
func list(packages []string) (all []mutant, err error) {
	for _, dir := range packages {
		found, err := ofPackage(".", filepath.ToSlash(filepath.Clean(dir)))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// shuffled returns the mutants in the order in which they are tested.
func shuffled(all []mutant, seed uint64) []mutant {
	order := append([]mutant(nil), all...)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// sampleSize returns the smallest n such that count of the first n mutants compile. Mutants not yet tested are assumed to compile.
func sampleSize(order []mutant, results map[string]result, count int) int {
	for i, m := range order {
		if count == 0 {
			return i
		}
		if results[m.ID()].Outcome != notBuilt {
			count--
		}
	}
	return len(order)
}

// measure tests the mutants of the sample that have no outcome yet, until the time is over, and adds their outcomes to results.
func measure(ctx context.Context, o options, order []mutant, results map[string]result) error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	out, err := appendTo(o.out)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	q := &queue{options: o, order: order, results: results, end: time.Now().Add(o.time), out: out, limits: newLimits()}
	failures := make([]error, max(o.jobs, 1))
	var jobs sync.WaitGroup
	for i := range failures {
		jobs.Go(func() { failures[i] = q.work(ctx, root) })
	}
	jobs.Wait()
	return errors.Join(failures...)
}

// A queue hands the mutants of a sample to several testers and collects their outcomes.
type queue struct {
	options
	end     time.Time
	mu      sync.Mutex
	order   []mutant
	next    int // index in order
	results map[string]result
	out     io.Writer
	limits  *limits
}

// work tests mutants of the queue until there are no more.
func (q *queue) work(ctx context.Context, root string) error {
	scratch, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	t := &tester{root: root, scratch: scratch, limits: q.limits}
	for {
		m, ok := q.take()
		if !ok {
			return nil
		}
		r, err := t.Test(ctx, m)
		if ctx.Err() != nil {
			return nil
		}
		if err == nil {
			err = q.add(r)
		}
		if err != nil {
			return err
		}
	}
}

// take returns the next mutant without an outcome, unless the sample or the time is over.
func (q *queue) take() (mutant, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.next < sampleSize(q.order, q.results, q.count) && time.Now().Before(q.end) {
		m := q.order[q.next]
		q.next++
		known := q.results[m.ID()].Outcome
		if known == notStarted || q.again && known == survived {
			return m, true
		}
	}
	return mutant{}, false
}

// add keeps an outcome and prints it.
func (q *queue) add(r result) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if _, err := q.out.Write(append(line, '\n')); err != nil {
		return err
	}
	q.results[r.ID] = r
	fmt.Printf("%4d  %-16s %5.1f s  %s\n", len(q.results), r.Outcome, r.Seconds, r.ID)
	return nil
}

// appendTo opens the file of outcomes and removes a line that a kill cut off.
func appendTo(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if err == nil {
		err = f.Truncate(int64(wholeLines(data)))
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// wholeLines returns the number of bytes up to the last line break.
func wholeLines(data []byte) int {
	for n := len(data); n > 0; n-- {
		if data[n-1] == '\n' {
			return n
		}
	}
	return 0
}
