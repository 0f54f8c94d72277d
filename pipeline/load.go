package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/engine"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Model is a trained model that is ready to use. Safe for concurrent use, except for [Model.Evaluator].
//
// Only one computation runs at a time, on all processors; other calls wait, until their contexts end. Waiting requests that decode with
// the same options are decoded together, and every answer is the one that its request would get alone. A context that ends cancels only
// its own request. An evaluation uses the model exclusively until it is done.
type Model struct {
	Run          experiment.Run
	Vocabularies task.Vocabularies
	Graph        universal.Model
	Store        *model.Store
	Backend      compute.Backend
	Step         int64    // of the checkpoint
	Notes        []string // what the reader should know: checkpoints that could not be used
	reader       task.Reader
	checkpoint   *runlog.Checkpoint
	log          *runlog.Run
	decoder      *decoding.Decoder // made when first used
	busy         semaphore         // held by who computes: it guards Graph, Store and decoder
	requests     queue             // to decode
}

// Load reads a run directory: its best checkpoint by validation, or the newest intact one if none was marked best or that one is missing
// or damaged. Notes record this, and edits of the configuration that do not affect answers. The caller must close the model.
func Load(dir string, backend compute.Backend) (*Model, error) {
	return load(dir, backend, (*Model).chooseBest)
}

// LoadNewest is [Load] with the newest intact checkpoint, whatever validation selected.
func LoadNewest(dir string, backend compute.Backend) (*Model, error) {
	return load(dir, backend, (*Model).chooseNewest)
}

func load(dir string, backend compute.Backend, choose func(*Model) error) (*Model, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	m := &Model{Backend: backend, Store: model.NewStore(), log: log, busy: make(semaphore, 1)}
	if m.Run, err = readRun(log); err != nil {
		return nil, err
	}
	if m.Vocabularies, err = readVocabularies(log); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	m.Graph = m.Run.Model.Value.Build(m.Vocabularies, m.Run.Seed)
	m.reader = m.Run.Reader(m.Vocabularies)
	if err := choose(m); err != nil {
		return nil, err
	}
	m.Step = m.checkpoint.Step
	if err := fits(backend, m.Run, m.Vocabularies, m.checkpoint); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if note := unsealed(m.checkpoint); note != "" {
		m.Notes = append(m.Notes, note)
	}
	if err := knownChange(log, m.Run, m.checkpoint); errors.Is(err, errEdited) {
		m.Notes = append(m.Notes, err.Error()) // how it was trained is not what it is
	} else if err != nil {
		return nil, err
	}
	return m, training.Load(m.Store, training.Parameters(m.checkpoint.Tensors))
}

// chooseBest takes the checkpoint that is marked best, or else the newest.
func (m *Model) chooseBest() error {
	best, err := m.log.Best()
	if err == nil {
		m.checkpoint = best
		return nil
	}
	switch {
	case errors.Is(err, runlog.ErrNotMarked):
	case errors.Is(err, runlog.ErrNoCheckpoint), errors.Is(err, runlog.ErrDamaged):
		m.Notes = append(m.Notes, fmt.Sprintf("%v: the newest checkpoint is used", err))
	default:
		return err
	}
	return m.chooseNewest()
}

// chooseNewest takes the newest checkpoint that is intact.
func (m *Model) chooseNewest() error {
	latest, refused, err := m.log.Latest()
	for _, r := range refused {
		m.Notes = append(m.Notes, r.String())
	}
	if err == nil && latest.Step == 0 { // the run was interrupted before its first update
		err = fmt.Errorf("%s: %w was saved yet", m.log.Dir(), runlog.ErrNoCheckpoint)
	}
	if errors.Is(err, runlog.ErrNoCheckpoint) && len(refused) > 0 {
		return fmt.Errorf("%s: no checkpoint can be used: %s; train anew", m.log.Dir(), refused[0])
	}
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		return fmt.Errorf("%w: train longer, or resume the run", err)
	}
	m.checkpoint = latest
	return err
}

// Close waits for the current computation and frees the compiled graphs.
func (m *Model) Close() {
	_ = m.busy.acquire(context.Background())
	defer m.busy.release()
	m.close()
}

// close does the work of Close; the caller must hold busy.
func (m *Model) close() {
	if m.decoder != nil {
		m.decoder.Close()
		m.decoder = nil
	}
}

// Dir returns the run directory.
func (m *Model) Dir() string { return m.log.Dir() }

// Exit changes when the model stops computing from now on, also for requests that are waiting.
func (m *Model) Exit(e halting.Exit) error {
	_ = m.busy.acquire(context.Background())
	defer m.busy.release()
	if e == (halting.Exit{}) {
		return nil
	}
	deep, ok := m.Graph.(universal.Deep)
	if !ok {
		return fmt.Errorf("an exit leaves out steps, but a model of this kind reads every position once: run it without one (%s)", m.Describe())
	}
	changed, err := deep.WithExit(e)
	if err != nil {
		return err
	}
	m.Graph = changed
	m.close()
	return nil
}

// Read converts a text, a line or a story with a question, to a source of the run's task.
func (m *Model) Read(text string) (task.Input, error) { return m.reader.Read(text) }

// Describe describes the model in one line.
func (m *Model) Describe() string { return m.Run.Model.Value.Describe() }

// fits returns an error if a checkpoint's parameters are not exactly those of a run's model (another shape, a missing or an extra
// parameter), or if it was trained under another configuration or with another vocabulary.
func fits(backend compute.Backend, r experiment.Run, v task.Vocabularies, c *runlog.Checkpoint) error {
	if err := sameParameters(backend, r, v, c); err != nil {
		return err
	}
	return sealed(r, v, c)
}

// sameParameters is the part of fits that concerns the parameters.
func sameParameters(backend compute.Backend, r experiment.Run, v task.Vocabularies, c *runlog.Checkpoint) error {
	want, err := declared(backend, r.Model.Value.Build(v, r.Seed), v.Positions())
	if err != nil {
		return err
	}
	for _, have := range training.Parameters(c.Tensors) {
		shape, ok := want[have.Name]
		switch {
		case !ok:
			return fmt.Errorf("checkpoint of step %d: parameter %s is not of the model that config.json describes", c.Step, have.Name)
		case !slices.Equal(shape, have.Shape):
			return fmt.Errorf("checkpoint of step %d: parameter %s has shape %v, but config.json asks for %v", c.Step, have.Name, have.Shape, shape)
		}
		delete(want, have.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		return fmt.Errorf("checkpoint of step %d: parameter %s of the model that config.json describes is missing", c.Step, name)
	}
	return nil
}

// declared builds a model once, without running it, to get its parameters' names and shapes, which are the same on every backend.
// perPosition is the number of ids of a source position.
func declared(backend compute.Backend, m universal.Model, perPosition int) (map[string][]int, error) {
	if engine.CompilesSlowly(backend) {
		quick, err := engine.New("")
		if err != nil {
			return nil, err
		}
		defer quick.Finalize()
		backend = quick
	}
	store := model.NewStore()
	exec, err := model.NewExec(backend, store, func(scope *model.Scope, ids *graph.Node) *graph.Node {
		return m.Forward(scope, universal.Inputs{Source: ids, Target: ids}, universal.Options{}).Logits
	})
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	ids := tensors.FromFlatDataAndDimensions(make([]int32, 2*perPosition), 1, 2*perPosition)
	if _, err := exec.Compile(ids.Shape()); err != nil {
		return nil, err
	}
	shapes := map[string][]int{}
	for v := range store.IterVariables() {
		shapes[universal.Name(v.Path())] = v.Shape().Dimensions
	}
	return shapes, nil
}
