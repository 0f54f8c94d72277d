//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A tally counts what the clients of the service got.
type tally struct {
	mu       sync.Mutex
	first    map[string]string // the first answer of each line
	outcomes map[string]int
	wrong    []string
}

func newTally() *tally { return &tally{first: map[string]string{}, outcomes: map[string]int{}} }

// ask lets clients send requests until the context ends.
func (t *tally) ask(ctx context.Context, url string, clients int, pause time.Duration) {
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for ctx.Err() == nil {
				t.request(ctx, url, rng)
				select {
				case <-ctx.Done():
				case <-time.After(time.Duration(rng.ExpFloat64() * float64(pause))):
				}
			}
		})
	}
	all.Wait()
}

// request sends a request of a random kind.
func (t *tally) request(ctx context.Context, url string, rng *rand.Rand) {
	switch k := rng.IntN(100); {
	case k < 80:
		t.answered(ctx, url, lines(rng, 1+rng.IntN(8)))
	case k < 82:
		t.answered(ctx, url, lines(rng, 500))
	case k < 88: // the client gives up
		early, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(20))*time.Millisecond)
		defer cancel()
		_, _, err := post(early, url, strings.NewReader(strings.Join(lines(rng, 100), "\n")))
		t.count("given up", err == nil || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil, "%v", err)
	case k < 91:
		t.refused(ctx, url, "too long a line", strings.NewReader("12\n"+strings.Repeat("7", 1500)), http.StatusUnprocessableEntity)
	case k < 94:
		t.refused(ctx, url, "no UTF-8", strings.NewReader("12\n\xff\xfe\n"), http.StatusUnprocessableEntity)
	case k < 97:
		t.refused(ctx, url, "too large a body", strings.NewReader(strings.Repeat("1\n", 600_000)), http.StatusBadRequest)
	default: // the body ends early
		_, _, err := post(ctx, url, io.MultiReader(strings.NewReader("12\n34"), brokenReader{}))
		t.count("half a body", err != nil, "accepted")
	}
}

// lines returns so many numbers of a pool of 2,000.
func lines(rng *rand.Rand, n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint(7919 * (1 + rng.IntN(2000)))
	}
	return s
}

// answered sends lines that must be answered, as they were the first time.
func (t *tally) answered(ctx context.Context, url string, lines []string) {
	status, text, err := post(ctx, url, strings.NewReader(strings.Join(lines, "\n")+"\n"))
	if ctx.Err() != nil {
		return
	}
	answers := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	ok := err == nil && status == http.StatusOK && len(answers) == len(lines)
	t.count("answered", ok, "%d lines: %d answers, status %d, %v", len(lines), len(answers), status, err)
	if !ok {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, line := range lines {
		if first, ok := t.first[line]; ok && first != answers[i] {
			t.wrong = append(t.wrong, fmt.Sprintf("%s: %q, earlier %q", line, answers[i], first))
		}
		t.first[line] = answers[i]
	}
}

// refused sends a body that must be refused with a status.
func (t *tally) refused(ctx context.Context, url, kind string, body io.Reader, want int) {
	status, text, err := post(ctx, url, body)
	if ctx.Err() == nil {
		t.count(kind, err == nil && status == want, "status %d, want %d: %s %v", status, want, text, err)
	}
}

// count counts an outcome. One that is not ok is described.
func (t *tally) count(kind string, ok bool, format string, values ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.outcomes[kind]++
	if !ok {
		t.wrong = append(t.wrong, kind+": "+fmt.Sprintf(format, values...))
	}
}

func (t *tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d different lines", len(t.first))
	for _, kind := range []string{"answered", "given up", "too long a line", "no UTF-8", "too large a body", "half a body"} {
		fmt.Fprintf(&b, "; %s %d", kind, t.outcomes[kind])
	}
	return b.String()
}

// err returns the first of what went wrong, or nil.
func (t *tally) err() error {
	if len(t.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d outcomes are wrong: %s", len(t.wrong), strings.Join(t.wrong[:min(5, len(t.wrong))], "; "))
}

// post sends a body and returns the answer.
func post(ctx context.Context, url string, body io.Reader) (status int, text string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	return response.StatusCode, string(all), err
}

// A brokenReader fails.
type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }
