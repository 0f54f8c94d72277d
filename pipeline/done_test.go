package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"universal-transformer/internal/vocab"
)

// Work gives its value, its error and its panic to who waits for it, unless the context ends first.
// Caught when planted: a panic that is swallowed.
func TestReportedEnds(t *testing.T) {
	broken := errors.New("broken")
	if n, err := reported(t.Context(), nil, func() (int, error) { return 3, broken }); n != 3 || !errors.Is(err, broken) {
		t.Errorf("%d, %v", n, err)
	}
	func() {
		defer func() {
			if got := recover(); got != "damaged" {
				t.Errorf("recovered %v", got)
			}
		}()
		_, err := reported(t.Context(), nil, func() (int, error) { panic("damaged") })
		t.Errorf("no panic: %v", err)
	}()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	release := make(chan struct{})
	if _, err := reported(ended, nil, func() (int, error) { <-release; return 3, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	close(release)
}

// Work that takes long is reported after two seconds and then every ten, if there is a log.
// Caught when planted: only the first report; a report every two seconds.
func TestReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		work := func() (int, error) { time.Sleep(25 * time.Second); return 3, nil } // of the test's clock
		if n, err := reported(t.Context(), func(line string) { lines = append(lines, line) }, work); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		want := []string{"reading the data: 2s so far", "reading the data: 12s so far", "reading the data: 22s so far"}
		if !slices.Equal(lines, want) {
			t.Errorf("%q, want %q", lines, want)
		}
		if n, err := reported(t.Context(), nil, work); n != 3 || err != nil {
			t.Errorf("without a log: %d, %v", n, err)
		}
	})
}

// The tokens of an answer end before its end, also if that comes first.
// Caught when planted: an end at the first place that is not seen.
func TestAnswered(t *testing.T) {
	for _, c := range []struct{ target, want []vocab.ID }{
		{[]vocab.ID{vocab.End, 7}, nil}, {[]vocab.ID{7, vocab.End, 8}, []vocab.ID{7}}, {[]vocab.ID{7, 8}, []vocab.ID{7, 8}}, {nil, nil},
	} {
		if got := answered(c.target); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.target, got, c.want)
		}
	}
}
