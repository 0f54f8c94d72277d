//go:build unix

package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// numbers returns so many numbers of one to sixteen digits.
func numbers(n int) []string {
	rng := rand.New(rand.NewPCG(1, 2))
	list := make([]string, n)
	for i := range list {
		digits := make([]byte, 1+rng.IntN(16))
		for k := range digits {
			digits[k] = byte('0' + rng.IntN(10))
		}
		list[i] = string(digits)
	}
	return list
}

// answers is what clients got.
type answers struct {
	took    []time.Duration // each answer, sorted
	busy    int             // requests that got status 429
	wrong   []string        // the first few of what should not be
	elapsed time.Duration
}

// ask lets clients ask for some time, one request after the other, every second one as a stream, and compares the answers with those
// expected. A client gets a minute more for its first answer, as a busy machine may need it.
func ask(ctx context.Context, address string, clients int, d time.Duration, expected map[string]string) answers {
	first, stopFirst := context.WithTimeout(ctx, d+time.Minute)
	defer stopFirst()
	ctx, stop := context.WithTimeout(ctx, d)
	defer stop()
	transport := &http.Transport{MaxIdleConnsPerHost: clients}
	defer transport.CloseIdleConnections()
	client, prompts := &http.Client{Transport: transport}, slices.Sorted(maps.Keys(expected))
	var all answers
	var mu sync.Mutex
	var running sync.WaitGroup
	began := time.Now()
	for i := range clients {
		running.Go(func() {
			var own answers
			for k := i; k == i || ctx.Err() == nil; k++ {
				until := ctx
				if k == i {
					until = first
				}
				own.one(until, client, address, prompts[k*7919%len(prompts)], k%2 == 0, expected)
			}
			mu.Lock()
			defer mu.Unlock()
			all.took, all.wrong, all.busy = append(all.took, own.took...), append(all.wrong, own.wrong...), all.busy+own.busy
		})
	}
	running.Wait()
	all.elapsed = time.Since(began)
	slices.Sort(all.took)
	return all
}

// one sends a request and records its answer.
func (a *answers) one(ctx context.Context, client *http.Client, address, prompt string, stream bool, expected map[string]string) {
	start := time.Now()
	status, text, err := complete(ctx, client, address, prompt, stream)
	switch {
	case ctx.Err() != nil:
	case err == nil && status == http.StatusTooManyRequests:
		a.busy++
		time.Sleep(50 * time.Millisecond)
	case err != nil || status != http.StatusOK || text != expected[prompt]:
		if a.wrong = append(a.wrong, fmt.Sprintf("%s is answered %q with status %d, want %q (%v)", prompt, text, status, expected[prompt], err)); len(a.wrong) > 100 {
			a.wrong = a.wrong[:100]
		}
		fallthrough
	default:
		a.took = append(a.took, time.Since(start))
	}
}

// complete asks for a completion.
func complete(ctx context.Context, client *http.Client, address, prompt string, stream bool) (status int, text string, err error) {
	quoted, err := json.Marshal(prompt)
	if err != nil {
		return 0, "", err
	}
	body := fmt.Sprintf(`{"prompt": %s, "stream": %v}`, quoted, stream)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v1/completions", strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	if stream && response.StatusCode == http.StatusOK {
		text, err = joined(response.Body)
		return response.StatusCode, text, err
	}
	all, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		return response.StatusCode, string(all), err
	}
	text, err = textOf(all)
	return response.StatusCode, text, err
}

// textOf returns the text of a completion or of an event.
func textOf(data []byte) (string, error) {
	var c struct{ Choices []struct{ Text string } }
	if err := json.Unmarshal(data, &c); err != nil {
		return "", fmt.Errorf("%q: %w", data, err)
	}
	if len(c.Choices) != 1 {
		return "", fmt.Errorf("%d choices in %q, want 1", len(c.Choices), data)
	}
	return c.Choices[0].Text, nil
}

// joined returns the text of a stream.
func joined(body io.Reader) (text string, err error) {
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		data, found := strings.CutPrefix(lines.Text(), "data: ")
		if data == "[DONE]" {
			_, err := io.Copy(io.Discard, body) // so that the connection is kept
			return text, err
		}
		if !found {
			continue
		}
		piece, err := textOf([]byte(data))
		if err != nil {
			return text, err
		}
		text += piece
	}
	return text, fmt.Errorf("the stream ends early: %w", cmp.Or(lines.Err(), io.ErrUnexpectedEOF))
}

// rate returns the answers per second.
func (a answers) rate() float64 { return float64(len(a.took)) / a.elapsed.Seconds() }

// quantile returns the latency that a share of the answers did not exceed.
func (a answers) quantile(share float64) time.Duration {
	if len(a.took) == 0 {
		return 0
	}
	return a.took[min(len(a.took)-1, int(share*float64(len(a.took))))]
}

func (a answers) String() string {
	return fmt.Sprintf("%d answers in %.0f s, %.0f per second; p50 %.2f ms, p99 %.2f ms, slowest %.1f ms; status 429: %d; wrong: %d", len(a.took), a.elapsed.Seconds(), a.rate(),
		a.quantile(0.5).Seconds()*1e3, a.quantile(0.99).Seconds()*1e3, a.quantile(1).Seconds()*1e3, a.busy, len(a.wrong))
}

func (a answers) err() error {
	switch {
	case len(a.wrong) > 0:
		return fmt.Errorf("%d answers are wrong: %s", len(a.wrong), strings.Join(a.wrong[:min(3, len(a.wrong))], "; "))
	case len(a.took) == 0:
		return fmt.Errorf("no answer in %v", a.elapsed)
	}
	return nil
}
