package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"universal-transformer/internal/compare"
	"universal-transformer/internal/watch"
	"universal-transformer/pipeline"
)

// lookEvery is the time between two looks for new figures.
const lookEvery = time.Second

func newWatch() *cobra.Command {
	address := ""
	c := &cobra.Command{
		Use:   "watch RUN...",
		Short: "Show the curves of runs in a browser while they are trained",
		Long: `watch serves a page with the curves of training and validation, over updates and over time, and adds
new figures as they are written. A folder stands for the runs in it. Training does not notice:
watch only reads, and it may begin during or after it. If training is killed and resumed, the page
follows. What is not a run is reported and skipped. Of damaged metrics, the page shows the figures
before the damage and names the file.

The page needs no network, and only this machine can reach it. Ctrl-C ends the server.`,
		Example: `  ut watch runs/pairs
  ut watch runs/wide runs/deep
  ut watch runs --address localhost:9000`,
		Args: atLeast("RUN"),
		RunE: func(c *cobra.Command, args []string) error { return watchRuns(c, args, address) },
	}
	c.Flags().StringVar(&address, "address", "localhost:8090", "`host:port` to listen on, of this machine only; port 0 chooses one")
	return c
}

func watchRuns(c *cobra.Command, args []string, address string) error {
	defer ignoreHangup()()
	dirs, err := expandRuns(c, args, readable)
	if err != nil {
		return err
	}
	s := &watch.Server{Every: lookEvery}
	for i, name := range compare.ShortNames(dirs) {
		run, err := pipeline.ReadRun(dirs[i])
		if err != nil {
			return err
		}
		s.Runs = append(s.Runs, watch.Run{Name: name, Dir: dirs[i], Steps: run.Training.Steps, Status: func() string { return statusOf(dirs[i]) }})
	}
	listener, err := listenLoopback(c.Context(), address)
	if err != nil {
		return err
	}
	defer listener.Close()
	c.PrintErrf("watching %s at http://%s; Ctrl-C ends\n", strings.Join(dirs, ", "), listener.Addr())
	return s.Serve(c.Context(), listener)
}

// statusOf returns the status of a run as in ut runs, "" if it cannot be read.
func statusOf(dir string) string {
	info, err := pipeline.ReadInfo(dir)
	if err != nil {
		return ""
	}
	return info.Status
}

// numeric returns an address with 127.0.0.1 in place of localhost, which has no meaning where there is no /etc/hosts, as in a container
// without files.
func numeric(address string) string {
	if port, ok := strings.CutPrefix(address, "localhost:"); ok {
		return "127.0.0.1:" + port
	}
	return address
}

// listenLoopback opens an address that only this machine can reach.
func listenLoopback(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", numeric(address))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is in use: choose another --address", address)
	}
	if err != nil {
		return nil, usagef("--address is %q: %w", address, err)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		listener.Close()
		return nil, usagef("--address is %s, which other machines may reach: use localhost", address)
	}
	return listener, nil
}
