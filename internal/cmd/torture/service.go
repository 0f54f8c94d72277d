//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"universal-transformer/engine"
	"universal-transformer/pipeline"
)

// serve answers HTTP requests with the model of a run directory, one line per line of a request's body, until its standard input ends. It
// prints its address. The lines of a request are independent: one that has no answer is answered with "error: " and the reason.
func serve(dir string) error {
	backend, err := engine.New("")
	if err != nil {
		return err
	}
	model, err := pipeline.Load(dir, backend)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<22))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		answers, err := model.Decode(r.Context(), lines, pipeline.DecodeOptions{MaxSource: 100_000, MaxLength: 20})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		for _, a := range answers {
			if a.Err != nil {
				a.Text = fmt.Sprintf("error: %v", a.Err)
			}
			fmt.Fprintln(w, a.Text)
		}
	}))
}

// A service is a process that serves a model.
type service struct {
	address string
	cmd     *exec.Cmd
	stop    io.Closer
}

// serve starts a service of the base run with so much memory, in the form of GOMEMLIMIT.
func (s *scene) serve(memory string) *service {
	own, err := os.Executable()
	must(err)
	c := exec.Command(own, "--serve", s.base)
	c.Env = append(os.Environ(), "GOMEMLIMIT="+memory)
	in, err := c.StdinPipe()
	must(err)
	out, err := c.StdoutPipe()
	must(err)
	must(c.Start())
	address, err := bufio.NewReader(out).ReadString('\n')
	must(err)
	return &service{strings.TrimSpace(address), c, in}
}

// end ends the service.
func (v *service) end() {
	_ = v.stop.Close()
	_ = v.cmd.Wait()
}

// ask returns the answers to lines, or the error as an answer.
func (v *service) ask(ctx context.Context, lines ...string) []string {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+v.address, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	must(err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// status returns a number of the service's process that the system reports in kB, or 0 where it does not.
func (v *service) status(name string) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) == 3 && words[0] == name+":" {
			kilobytes, _ := strconv.Atoi(words[1])
			return kilobytes << 10
		}
	}
	return 0
}

// median returns the median time of a call.
func median(n int, call func()) time.Duration {
	took := make([]time.Duration, n)
	for i := range took {
		start := time.Now()
		call()
		took[i] = time.Since(start)
	}
	return middle(took)
}

// middle returns the median of durations.
func middle(took []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(took))
	return sorted[len(sorted)/2]
}
