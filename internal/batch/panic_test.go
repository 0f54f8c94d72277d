package batch_test

import (
	"errors"
	"testing"

	"universal-transformer/internal/batch"
	"universal-transformer/task"
)

// A panic of a source that is called in the background reaches the caller who needs the window, who can recover from it; other windows
// are not affected. Caught when planted: a goroutine that does not recover, which ends the program.
func TestPanicOfTheNextWindow(t *testing.T) {
	problem := errors.New("the source fails")
	s, err := batch.NewStream(func(i int64) task.Example {
		if i == 150 {
			panic(problem)
		}
		return numbered(i)
	}, plan, 1)
	if err != nil {
		t.Fatal(err)
	}
	for s.Position().Window == 0 {
		next(t, s)
	}
	for range 2 { // of the background, and of the caller's own goroutine
		func() {
			defer func() {
				if got := recover(); got != problem {
					t.Errorf("recovered %v, want %v", got, problem)
				}
			}()
			s.Next()
		}()
	}
	if err := s.Seek(batch.Position{Window: 2}); err != nil {
		t.Fatal(err)
	}
	if got := numbers(next(t, s))[0]; got < 200 || got >= 300 {
		t.Errorf("window 2 begins with example %d", got)
	}
}
