//go:build unix

// Command serveload puts ut serve under load and reports what it does: answers of one client and of many at a time, which must be those of
// ut decode; latencies and throughput; memory and goroutines over time; then requests that nobody should send, each of which must get one
// clear error. scripts/serve_load.sh runs it.
//
// Usage: serveload [--time 5m] [--clients 32] [--hostile 10000] [--ratio 3] [--ut bin/ut] [--run models/reverse] [--prompts FILE]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// options holds the options of the command line.
type options struct {
	time    time.Duration
	clients int
	hostile int
	ratio   float64
	ut, run string
	prompts string
}

// read returns the prompts: the lines of the file, or numbers.
func (o options) read() ([]string, error) {
	if o.prompts == "" {
		return numbers(500), nil
	}
	text, err := os.ReadFile(o.prompts)
	return strings.Split(strings.TrimSpace(string(text)), "\n"), err
}

func main() {
	var o options
	flag.DurationVar(&o.time, "time", 5*time.Minute, "`duration` of the load of all clients; that of one client is a tenth, at most 30s")
	flag.IntVar(&o.clients, "clients", 32, "`number` of clients")
	flag.IntVar(&o.hostile, "hostile", 10_000, "`number` of hostile requests")
	flag.Float64Var(&o.ratio, "ratio", 3, "least `throughput` of all clients, as a multiple of that of one; 0: any")
	flag.StringVar(&o.ut, "ut", "bin/ut", "`path` of the program")
	flag.StringVar(&o.run, "run", "models/reverse", "run `directory` of a model that answers prompts")
	flag.StringVar(&o.prompts, "prompts", "", "`file` with a prompt in each line; empty: numbers of up to 16 digits")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := load(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "serveload:", err)
		os.Exit(1)
	}
}

// perAnswer describes the time of processors that the server took for an answer between two samples.
func perAnswer(from, to sample, a answers) string {
	return fmt.Sprintf("%.2f ms of the server's processors per answer", 1e3*(to.cpu-from.cpu)/float64(max(1, len(a.took))))
}

// load runs all parts and prints their results.
func load(ctx context.Context, o options) error {
	prompts, err := o.read()
	if err != nil {
		return err
	}
	expected, err := decode(ctx, o, prompts)
	if err != nil {
		return err
	}
	s, err := start(ctx, o)
	if err != nil {
		return err
	}
	defer s.kill()
	idle, err := sampled(ctx, s.address)
	if err != nil {
		return err
	}
	fmt.Printf("idle: resident memory %.1f MB, of which files %.1f MB; %d goroutines; the weights have %.1f MB\n",
		idle.memory/1e6, (idle.memory-idle.anonymous)/1e6, idle.goroutines, weights(o.run))
	one := ask(ctx, s.address, 1, min(o.time/10, 30*time.Second), expected)
	between, err := sampled(ctx, s.address)
	if err != nil {
		return err
	}
	fmt.Printf("1 client: %s; %s\n", one, perAnswer(idle, between, one))
	memory := watch(ctx, s.address, o.time)
	many := ask(ctx, s.address, o.clients, o.time, expected)
	last, err := sampled(ctx, s.address)
	if err != nil {
		return err
	}
	fmt.Printf("%d clients: %s; %s; %.2f times the throughput of one\n", o.clients, many, perAnswer(between, last, many), many.rate()/one.rate())
	grown := (<-memory).verdict()
	trouble := attack(ctx, s.address, o.hostile, true)
	fmt.Println(trouble)
	after := ask(ctx, s.address, 1, time.Second, expected)
	problem := errors.Join(one.err(), many.err(), grown, trouble.err(), after.err(), settles(ctx, s.address, idle), s.end())
	if ratio := many.rate() / one.rate(); ratio < o.ratio {
		problem = errors.Join(problem, fmt.Errorf("the throughput of %d clients is %.2f times that of one, less than %v times", o.clients, ratio, o.ratio))
	}
	return errors.Join(problem, ctx.Err())
}
