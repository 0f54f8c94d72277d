//go:build unix

// Command soak runs a service of a model and an adaptive training for hours, and reports whether their memory and goroutines grow. Clients
// of the service send small and large requests, give up, send half of a body, and send what must be refused; every answer must be the
// first one that its line got. scripts/soak.sh runs it.
//
// Usage: soak [--time 2h] [--clients N] [--pause D] [--every D] [--out FILE] [--steps N]
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options holds the options of the command line.
type options struct {
	time, pause, every time.Duration
	clients            int
	out                string
	steps              int64 // updates of the model that is served
	role, dir          string
}

func main() {
	var o options
	flag.DurationVar(&o.time, "time", 2*time.Hour, "`duration` of the test")
	flag.IntVar(&o.clients, "clients", 8, "`number` of clients of the service")
	flag.DurationVar(&o.pause, "pause", 200*time.Millisecond, "mean `pause` of a client between two requests")
	flag.DurationVar(&o.every, "every", 30*time.Second, "`time` between two samples")
	flag.StringVar(&o.out, "out", "", "`file` for the samples, one JSON object per line")
	flag.Int64Var(&o.steps, "steps", 300, "`number` of updates of the model that is served")
	flag.StringVar(&o.role, "role", "", "for the test's own processes: serve or train")
	flag.StringVar(&o.dir, "dir", "", "for the test's own processes: the run `directory`")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch o.role {
	case "serve":
		err = serve(ctx, o)
	case "train":
		err = train(ctx, o)
	default:
		err = soak(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// A sample is the state of a process at one time.
type sample struct {
	Process    string  `json:"process"` // "service" or "training"
	Seconds    float64 `json:"seconds"` // since the process started
	RSS        int     `json:"rss"`     // resident memory in bytes
	Heap       uint64  `json:"heap"`    // bytes of live and not yet collected objects
	Goroutines int     `json:"goroutines"`
	Done       int64   `json:"done"` // requests or updates so far
}

// printSamples prints a sample of this process at every interval, until the context ends.
func printSamples(ctx context.Context, process string, every time.Duration, done func() int64) {
	start := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		line, err := json.Marshal(sample{process, time.Since(start).Seconds(), residentMemory(), m.HeapAlloc, runtime.NumGoroutine(), done()})
		if err != nil {
			panic(err) // a sample holds numbers only
		}
		fmt.Println(string(line))
	}
}

// residentMemory returns the resident memory of this process in bytes, or 0 where the system does not report it.
func residentMemory() int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "VmRSS:" {
			kilobytes, _ := strconv.Atoi(words[1])
			return kilobytes << 10
		}
	}
	return 0
}

// soak runs the whole test and prints its verdict.
func soak(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := trainServed(ctx, filepath.Join(dir, "serve"), o.steps); err != nil {
		return err
	}
	log := io.Discard
	if o.out != "" {
		file, err := os.Create(o.out)
		if err != nil {
			return err
		}
		defer file.Close()
		log = file
	}
	ctx, stop := context.WithTimeout(ctx, o.time)
	defer stop()
	r := &recorder{out: log}
	var processes sync.WaitGroup
	var problems [2]error
	address := make(chan string, 1)
	for i, role := range []string{"serve", "train"} {
		processes.Go(func() {
			defer stop() // if one ends early, the test is over
			problems[i] = r.run(ctx, o, role, filepath.Join(dir, role), address)
		})
	}
	tally := newTally()
	select {
	case a := <-address:
		tally.ask(ctx, "http://"+a, o.clients, o.pause)
	case <-ctx.Done():
	}
	processes.Wait()
	fmt.Println(tally)
	err = errors.Join(problems[0], problems[1], tally.err())
	for _, process := range []string{"service", "training"} {
		err = errors.Join(err, r.verdict(os.Stdout, process))
	}
	return err
}

// A recorder collects the samples of all processes.
type recorder struct {
	mu      sync.Mutex
	out     io.Writer
	samples []sample
}

// run runs one of the test's processes until the context ends, and records its samples. A line that is no sample is an address.
func (r *recorder) run(ctx context.Context, o options, role, dir string, address chan<- string) error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, own, "--role", role, "--dir", dir, "--every", o.every.String())
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var s sample
		if json.Unmarshal(lines.Bytes(), &s) != nil {
			address <- lines.Text()
			continue
		}
		r.mu.Lock()
		r.samples = append(r.samples, s)
		fmt.Fprintln(r.out, lines.Text())
		r.mu.Unlock()
	}
	if err := c.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	if ctx.Err() == nil {
		return fmt.Errorf("%s ended before the test", role)
	}
	return nil
}
