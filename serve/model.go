package serve

import (
	"fmt"
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

	mu      sync.Mutex // guards current
	current *loaded
	loading sync.Mutex     // held while reloading
	tried   mark           // what was loaded last, or could not be; guarded by loading
	problem string         // why the mark could not be read at the last look, or ""; guarded by loading
	closed  bool           // guarded by loading
	retired sync.WaitGroup // replaced checkpoints that are still in use
}

// loaded is one checkpoint in memory.
type loaded struct {
	*pipeline.Model
	since   time.Time
	profile profile
	users   sync.WaitGroup // requests; one is added only while the checkpoint is current
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
	e.tried, _, _ = e.marked() // before loading: a better checkpoint that is marked meanwhile is loaded later
	e.current, err = e.load()
	if err != nil {
		return nil, err
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

// use returns the current checkpoint. The caller must call users.Done.
func (e *entry) use() *loaded {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.current.users.Add(1)
	return e.current
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

// reload loads the best checkpoint if another one is marked than was tried last, also by another run in the directory. It returns the step
// of the loaded checkpoint, or 0 if nothing had to be done; with an error, the step of the checkpoint that stays. An error of several looks
// in a row is returned once.
func (e *entry) reload() (int64, error) {
	e.loading.Lock()
	defer e.loading.Unlock()
	if e.closed {
		return 0, nil
	}
	stays := e.use()
	defer stays.users.Done()
	marked, ok, err := e.marked()
	if err != nil && err.Error() == e.problem {
		return 0, nil // the last look reported it
	}
	if err != nil {
		e.problem = err.Error()
		return stays.Step, err
	}
	e.problem = ""
	if !ok || marked == e.tried {
		return 0, nil
	}
	e.tried = marked
	fresh, err := e.load()
	if err != nil {
		return stays.Step, err
	}
	if fresh.Step != marked.step {
		fresh.Close()
		return stays.Step, fmt.Errorf("the checkpoint of update %d is missing or damaged", marked.step)
	}
	e.logNotes(fresh)
	old := e.replace(fresh)
	e.retired.Go(func() {
		old.users.Wait()
		old.Close()
	})
	return marked.step, nil
}

// close waits for the requests that use the model and frees it.
func (e *entry) close() {
	e.loading.Lock()
	defer e.loading.Unlock()
	e.closed = true
	e.current.users.Wait()
	e.current.Close()
	e.retired.Wait()
}
