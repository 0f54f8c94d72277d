package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/gomlx/compute"
	"github.com/spf13/cobra"
	"universal-transformer/internal/regularfile"
	"universal-transformer/pipeline"
	"universal-transformer/serve"
)

const serveHelp = `serve answers HTTP requests with the best checkpoint of each RUN. A model's name is the last element
of its directory. The paths are

  GET  /                a page to try the models in a browser
  GET  /v1/models       the models
  POST /v1/completions  answers or continuations, in the format of the OpenAI API, also streamed
  POST /v1/classify     labels, or tags of words
  POST /v1/score        log-probabilities of answers or texts
  POST /v1/trace        steps, weights and attention of one input
  GET  /healthz         answers "ok"
  GET  /metrics         metrics for Prometheus
  GET  /openapi.json    the description of all of this

Requests that arrive together are decoded together, and each gets the answer of ut decode. At most
--max-queue requests wait or are computed; others get status 429. Ctrl-C or SIGTERM ends the server
after the requests in progress; the second one ends it at once. SIGHUP loads better checkpoints, as
--follow does, and says what came of it.

The server listens on the loopback interface. An --address that other machines can reach needs a
token, in the file of --token-file or in the environment variable UT_TOKEN. Clients send it in the
header "Authorization: Bearer TOKEN". There is no encryption: use a proxy with TLS outside a trusted
network. Without a token, requests must name localhost, a loopback address, the host of --address
or a --host: pages of other sites cannot pass as this one.`

// serveFlags holds the flags of ut serve.
type serveFlags struct {
	serve.Options
	address, tokenFile, backend string
	follow                      bool
}

func newServe() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve RUN...",
		Short: "Answer HTTP requests, in the format of the OpenAI API and others",
		Long:  serveHelp,
		Example: `  ut serve runs/pairs
  ut serve runs/pairs runs/reviews --address localhost:9000 --follow
  ut serve runs/pairs --address :8080 --token-file token.txt
  curl localhost:8080/v1/completions --json '{"model": "pairs", "prompt": "5 Mar 2015"}'`,
		Args: atLeast("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			return using(f.backend, func(backend compute.Backend) error { return f.serve(c, args, backend) })
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.address, "address", "localhost:8080", "`host:port` to listen on; port 0 chooses one")
	flags.StringVar(&f.tokenFile, "token-file", "", "`file` with the token that clients must send")
	flags.StringSliceVar(&f.Hosts, "host", nil, "also answer requests for this `name`, as of a proxy; * for any")
	flags.BoolVar(&f.follow, "follow", false, "load better checkpoints while a run is being trained")
	flags.DurationVar(&f.Timeout, "timeout", time.Minute, "`time` for computing an answer, as in 30s")
	flags.IntVar(&f.MaxQueue, "max-queue", 128, "at most `N` requests wait or are computed")
	flags.IntVar(&f.MaxPrompts, "max-prompts", 128, "at most `N` prompts or texts in a request")
	flags.IntVar(&f.MaxSource, "max-source", 2000, "reject prompts and texts of more than `N` tokens")
	flags.IntVar(&f.MaxTokens, "max-tokens", 2000, "requests may ask for answers of at most `N` tokens")
	flags.Int64Var(&f.MaxBody, "max-body", 1<<20, "reject requests of more than `N` bytes")
	backendFlag(c, &f.backend)
	return c
}

// check rejects values out of range, and reads the token.
func (f *serveFlags) check(c *cobra.Command) error {
	if err := cmp.Or(between(c, "max-queue", serve.MaxQueue), between(c, "max-prompts", serve.MaxPrompts), between(c, "max-source", pipeline.MaxTokens),
		between(c, "max-tokens", pipeline.MaxTokens)); err != nil {
		return err
	}
	if f.MaxBody < 1 || f.MaxBody > serve.MaxBody {
		return usagef("--max-body is %d: it must be from 1 to %d", f.MaxBody, serve.MaxBody)
	}
	if f.Timeout <= 0 {
		return usagef("--timeout is %v: it must be positive", f.Timeout)
	}
	if err := (serve.Options{Hosts: f.Hosts}).Validate(); err != nil {
		return usagef("--host: %w", err)
	}
	return f.readToken()
}

// readToken reads the token from the file or, if none is named, from the environment.
func (f *serveFlags) readToken() error {
	from, text, given := "UT_TOKEN", "", false
	if f.tokenFile != "" {
		data, err := regularfile.Read(f.tokenFile)
		if err != nil {
			return err
		}
		from, text, given = "--token-file: "+f.tokenFile, string(data), true
	} else {
		text, given = os.LookupEnv("UT_TOKEN")
	}
	f.Token = strings.TrimSpace(text)
	if unfit := func(c rune) bool { return c <= ' ' || c > '~' }; given && (f.Token == "" || strings.ContainsFunc(f.Token, unfit)) {
		return usagef("%s must contain a token, one word of ASCII characters", from)
	}
	return nil
}

// serve loads the models and answers until a signal.
func (f *serveFlags) serve(c *cobra.Command, dirs []string, backend compute.Backend) error {
	defer ignoreHangup()()
	listener, err := f.listen(c.Context())
	if err != nil {
		return err
	}
	defer listener.Close()
	hangups, stop := hangups()
	defer stop()
	f.Log = func(line string) { c.PrintErrln("ut:", line) }
	if host, _, err := net.SplitHostPort(f.address); err == nil && host != "" && f.Token == "" {
		f.Hosts = append(f.Hosts, host) // may be another name of the loopback interface
	}
	s, err := serve.Open(dirs, backend, f.Options)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.follow {
		go s.Follow(c.Context(), followEvery)
	}
	go func() {
		for range hangups {
			f.Log("SIGHUP: looking for other checkpoints")
			if err := s.Reload(); err != nil {
				f.Log("SIGHUP: " + strings.ReplaceAll(err.Error(), "\n", "; "))
			} else {
				f.Log("SIGHUP: the best checkpoints are loaded")
			}
		}
	}()
	c.PrintErrf("serving %s at http://%s; Ctrl-C ends\n", strings.Join(s.Names(), ", "), listener.Addr())
	return s.Serve(c.Context(), listener)
}

// hangups returns a channel of signals SIGHUP, which end other commands. stop restores the default and closes the channel.
func hangups() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 1)
	signal.Ignore(syscall.SIGHUP) // only the channel gets it
	signal.Notify(signals, syscall.SIGHUP)
	return signals, func() {
		signal.Stop(signals)
		close(signals)
	}
}

// followEvery is the time between two looks for a better checkpoint.
const followEvery = 2 * time.Second

// listen opens the address. Addresses that other machines can reach need a token.
func (f *serveFlags) listen(ctx context.Context) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", numeric(f.address))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use: choose another --address", f.address)
	}
	if err != nil {
		return nil, usagef("--address is %q: %w", f.address, cmp.Or(errors.Unwrap(err), err))
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); f.Token == "" && !(ok && tcp.IP.IsLoopback()) {
		listener.Close()
		return nil, usagef("--address is %s, which other machines may reach: give a token with --token-file or UT_TOKEN", f.address)
	}
	return listener, nil
}
