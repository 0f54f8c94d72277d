package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"

	"universal-transformer/internal/vocab"
)

// Work gives its value, its error and its panic to who waits for it, unless the context ends first.
// Caught when planted: a panic that is swallowed.
func TestUnlessDone(t *testing.T) {
	broken := errors.New("broken")
	if n, err := unlessDone(t.Context(), func() (int, error) { return 3, broken }); n != 3 || !errors.Is(err, broken) {
		t.Errorf("%d, %v", n, err)
	}
	func() {
		defer func() {
			if got := recover(); got != "damaged" {
				t.Errorf("recovered %v", got)
			}
		}()
		_, err := unlessDone(t.Context(), func() (int, error) { panic("damaged") })
		t.Errorf("no panic: %v", err)
	}()
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	release := make(chan struct{})
	if _, err := unlessDone(ended, func() (int, error) { <-release; return 3, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
	close(release)
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
