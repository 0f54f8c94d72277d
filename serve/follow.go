package serve

import (
	"context"
	"errors"
	"strings"
	"time"
)

// Follow reloads models whose run directories mark another checkpoint as the best, as Reload does, until ctx ends or the server is closed.
// It looks every interval, and does nothing if that is not positive. An error is logged once, however many looks in a row it lasts. A
// checkpoint that could not be loaded is tried again at the next look, and then less and less often.
func (s *Server) Follow(ctx context.Context, interval time.Duration) {
	if interval <= 0 {
		return
	}
	list := s.watched()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			for _, f := range list {
				if !f.look() {
					return
				}
			}
		}
	}
}

// Reload loads the best checkpoint of each run directory that marks another one than is loaded. One of the same step is another one if its
// file is, as when a symbolic link leads to another run, or when a run was trained anew. Requests in progress keep the old model.
// A model that cannot be loaded stays as it is; the error says of each why, also if an earlier call has said so.
func (s *Server) Reload() error {
	var failed []error
	for _, e := range s.models {
		if _, err := e.reload(); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// watched is what Follow remembers of a model between two looks.
type watched struct {
	*entry
	said     string // the error that was logged last, or "" after a look without one
	failed   mark   // the checkpoint that could not be loaded
	failures int    // how often, in a row
	pause    int    // looks that are left out while the same checkpoint is marked
}

// watched returns one for each model.
func (s *Server) watched() (list []*watched) {
	for _, e := range s.models {
		f := &watched{entry: e}
		if e.instead != nil {
			f.said = e.instead.Error() // the notes at the start said it
		}
		list = append(list, f)
	}
	return list
}

// maxPause is the largest number of looks in a row that are left out.
const maxPause = 31

// look loads a better checkpoint if one is marked. It returns false if the model is closed.
func (f *watched) look() bool {
	if marked, _, err := f.marked(); f.pause > 0 && err == nil && marked == f.failed {
		f.pause--
		return true
	}
	marked, err := f.reload()
	switch {
	case errors.Is(err, errClosed):
		return false
	case err == nil:
		f.said, f.failed, f.failures, f.pause = "", mark{}, 0, 0
		return true
	}
	if marked != f.failed {
		f.failed, f.failures = marked, 0
	}
	if marked != (mark{}) { // it could be read, but not the checkpoint
		f.pause = min(1<<f.failures-1, maxPause) // none at first
		f.failures = min(f.failures+1, maxPause)
	}
	if text := oneLine(err); text != f.said {
		f.said = text
		f.log(text)
	}
	return true
}

// oneLine returns the first line of an error: those of libraries may continue with a stack trace.
func oneLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return line
}
