package serve

import (
	"fmt"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gomlx/compute"
	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// entry is a served model, which can be replaced while requests use it.
type entry struct {
	name, dir string
	backend   compute.Backend
	types     experiment.Extensions
	metrics   *metrics
	log       func(string)

	mu      sync.Mutex // guards current and closed
	current *loaded
	closed  bool           // no request begins to use the model any more
	loading sync.Mutex     // held while reloading
	tried   mark           // what was loaded last; guarded by loading
	instead error          // why another checkpoint than the best one was loaded at the start, or nil
	retired sync.WaitGroup // replaced checkpoints that are still in use
}

// loaded is one checkpoint in memory.
type loaded struct {
	*pipeline.Model
	since   time.Time
	profile profile
	users   sync.WaitGroup // requests; one is added only while the checkpoint is current and the model is not closed
}

// nameOf returns the name of the model in a run directory, the last element of its path.
func nameOf(dir string) (string, error) {
	whole, err := filepath.Abs(dir)
	return filepath.Base(whole), err
}

func newEntry(dir string, backend compute.Backend, s *Server) (*entry, error) {
	name, err := nameOf(dir)
	if err != nil {
		return nil, err
	}
	e := &entry{name: name, dir: dir, backend: backend, types: s.options.Extensions, metrics: s.metrics, log: s.options.Log}
	marked, ok, problem := e.marked() // before loading: a better checkpoint that is marked meanwhile is loaded later
	e.current, err = e.load()
	if err != nil {
		return nil, err
	}
	switch {
	case problem != nil:
		e.instead = e.stays(e.current, problem)
	case ok && e.current.Step != marked.step:
		e.instead = e.stays(e.current, unusable(marked))
	default:
		e.tried = marked
	}
	e.logNotes(e.current)
	return e, nil
}

// read counts tokens that the model is about to read.
func (e *entry) read(tokens int) { e.metrics.tokens(e.name, readTokens).Add(tokens) }

// logNotes reports why another checkpoint than the best one was loaded, and what else was noted.
func (e *entry) logNotes(m *loaded) {
	for _, note := range m.Notes {
		e.log(fmt.Sprintf("%s: serving update %d: %s", e.name, m.Step, note))
	}
}

func (e *entry) load() (*loaded, error) {
	m, err := pipeline.LoadOptions{Extensions: e.types}.Load(e.dir, e.backend)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory() // the checkpoint had the state of training, too
	m.OnBatch(e.metrics.batch)
	m.OnToken(e.metrics.tokens(e.name, decodedTokens).Inc)
	return &loaded{Model: m, since: time.Now(), profile: newProfile(m)}, nil
}

// errClosed is the failure of requests that come after [Server.Close].
var errClosed = failure{status: http.StatusServiceUnavailable, code: "closed", message: "the server is ending: try again later"}

// use returns the current checkpoint, or errClosed. The caller must call users.Done.
func (e *entry) use() (*loaded, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return nil, errClosed
	}
	e.current.users.Add(1)
	return e.current, nil
}

// replace makes another checkpoint current and returns the old one.
func (e *entry) replace(with *loaded) *loaded {
	e.mu.Lock()
	defer e.mu.Unlock()
	old := e.current
	e.current = with
	return old
}

// mark identifies a checkpoint. Another run may have one of the same step.
type mark struct {
	step     int64
	identity string // "" if the file is missing
}

// marked returns the checkpoint that the run directory marks as the best.
func (e *entry) marked() (m mark, ok bool, err error) {
	log, err := runlog.Open(e.dir)
	if err != nil {
		return mark{}, false, err
	}
	if m.step, ok, err = log.Marked(); ok {
		m.identity, err = log.Identity(m.step)
	}
	return m, ok, err
}

// stays returns the error of a checkpoint that was not loaded, so that another one is served.
func (e *entry) stays(served *loaded, problem error) error {
	return fmt.Errorf("%s: the best checkpoint was not loaded, the one of update %d stays: %w", e.name, served.Step, problem)
}

// unusable returns the error of a marked checkpoint in whose place another one would be loaded.
func unusable(m mark) error {
	return fmt.Errorf("the checkpoint of update %d is missing or damaged", m.step)
}

// reload loads the best checkpoint if another one is marked than was loaded last, also by another run in the directory. It returns what was
// marked. One that could not be loaded is tried again each time.
func (e *entry) reload() (mark, error) {
	e.loading.Lock()
	defer e.loading.Unlock()
	served, err := e.use()
	if err != nil {
		return mark{}, fmt.Errorf("%s: %w", e.name, err)
	}
	defer served.users.Done()
	marked, ok, err := e.marked()
	if err != nil {
		return mark{}, e.stays(served, err)
	}
	if !ok || marked == e.tried {
		return marked, nil
	}
	fresh, err := e.load()
	if err != nil {
		return marked, e.stays(served, err)
	}
	if fresh.Step != marked.step {
		fresh.Close()
		return marked, e.stays(served, unusable(marked))
	}
	e.tried = marked
	e.logNotes(fresh)
	old := e.replace(fresh)
	e.retired.Go(func() {
		old.users.Wait()
		old.Close()
	})
	e.log(fmt.Sprintf("%s: loaded the checkpoint of update %d", e.name, marked.step))
	return marked, nil
}

// close waits for the requests that use the model and frees it. Others fail from then on.
func (e *entry) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.loading.Lock() // a checkpoint that is being loaded is freed, too
	defer e.loading.Unlock()
	e.current.users.Wait()
	e.current.Close()
	e.retired.Wait()
}
