package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/decoding"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/safetensors"
	"universal-transformer/internal/vocab"
	"universal-transformer/runlog"
	"universal-transformer/subword"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Model is a trained model that is ready to use. It is safe for concurrent use, except for [Model.Evaluator].
//
// Only one computation runs at a time, on all processors; other calls wait until it is done or their contexts end. Waiting requests that
// decode with the same options are decoded together, and every answer is the one that its request would get alone, up to rounding (see
// package decoding). Requests of many lines are decoded in small batches, and let small requests compute between two tokens. A context that
// ends cancels only its own request. An evaluation lets others compute between two batches and two tokens.
type Model struct {
	Run          experiment.Run
	Vocabularies task.Vocabularies
	Step         int64    // of the checkpoint
	Notes        []string // checkpoints that could not be used, and edits of the configuration
	graph        universal.Model
	trained      universal.Model // graph without an exit
	exit         halting.Exit
	store        *model.Store
	backend      compute.Backend
	reader       task.Reader
	checkpoint   *runlog.Checkpoint // its tensors are those of the parameters, without their data, which are in store
	log          *runlog.Run
	decoder      *decoding.Decoder // made when first used
	kept         *evaluation.Kept  // graphs of scores and classes; made when first used
	queue        *queue.Queue      // of requests to decode; it guards graph, store, decoder and kept
}

// Load reads a run directory: its best checkpoint by validation. If best.json or that checkpoint is missing or damaged, it is the one that the newest
// intact checkpoint names as the best, or else the newest. Notes record this, and edits of the configuration that do not affect answers. The caller must
// close the model.
func Load(dir string, backend compute.Backend) (*Model, error) {
	return LoadOptions{}.Load(dir, backend)
}

// LoadOptions determines what is loaded. The zero value is that of [Load].
type LoadOptions struct {
	Newest     bool                  // the newest intact checkpoint instead of the best by validation
	Set        []string              // where the data are: assignments to the fields that name files, as in "task.path=moved/pairs.tsv"
	Extensions experiment.Extensions // types of the run that other modules define
}

// Load is like [Load], with options.
func (o LoadOptions) Load(dir string, backend compute.Backend) (*Model, error) {
	choose := (*Model).chooseBest
	if o.Newest {
		choose = (*Model).chooseNewest
	}
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	m := &Model{backend: backend, store: model.NewStore(), log: log}
	m.queue = queue.New(m.decoding)
	if m.Run, err = readRun(log, o.Extensions); err != nil {
		return nil, err
	}
	if m.Run, err = withMovedFiles(log, m.Run, o.Set); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if m.Vocabularies, err = readVocabularies(log); err == nil {
		err = checkSides(m.Run, m.Vocabularies)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	m.trained = m.Run.Model.Value.Build(m.Vocabularies, m.Run.Seed)
	m.graph = m.trained
	reading, err := withFoundFiles(log, m.Run, nil)
	if err != nil {
		reading = m.Run // without the data, the reader's notes on evaluation files are shorter
	}
	m.reader = reading.Reader(m.Vocabularies)
	if err := choose(m); err != nil {
		return nil, err
	}
	m.Step = m.checkpoint.Step
	note, err := checkCheckpoint(backend, m.Run, m.Vocabularies, m.checkpoint)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if note != "" {
		m.Notes = append(m.Notes, note)
	}
	var edited *EditedError
	if err := checkConfiguration(log, m.Run, m.checkpoint); errors.As(err, &edited) {
		m.Notes = append(m.Notes, edited.Error()) // answers do not depend on how the model was trained
	} else if err != nil {
		return nil, err
	}
	if err := m.keepParameters(); err != nil {
		return nil, err
	}
	return m, nil
}

// chooseBest chooses the checkpoint that is marked best. If the mark or that checkpoint cannot be read, it chooses the one that the newest checkpoint
// names as the best so far, or else the newest. Notes say so, unless there was no validation yet.
func (m *Model) chooseBest() error {
	best, problem := m.log.Best()
	switch {
	case problem == nil:
		m.checkpoint = best
		return nil
	case !errors.Is(problem, runlog.ErrNoCheckpoint) && !errors.Is(problem, runlog.ErrDamaged):
		return problem
	}
	at := len(m.Notes)
	m.Notes = append(m.Notes, problem.Error()) // before those of chooseNewest, which do not repeat it
	if err := m.chooseNewest(); err != nil {
		return err
	}
	saved, err := training.SavedIn(m.checkpoint)
	switch {
	case err != nil:
	case saved.BestStep == 0 && errors.Is(problem, runlog.ErrNotMarked):
		m.Notes = slices.Delete(m.Notes, at, at+1)
		return nil
	case saved.BestStep > 0 && saved.BestStep != m.checkpoint.Step:
		newest := m.checkpoint.Step
		if best, err = m.log.Load(saved.BestStep); err == nil {
			m.checkpoint = best
			m.Notes[at] += fmt.Sprintf(": using that of update %d instead, which the checkpoint of update %d names as the best", best.Step, newest)
			return nil
		}
	}
	if err != nil && err.Error() != problem.Error() {
		m.Notes[at] += fmt.Sprintf("; %v", err)
	}
	m.Notes[at] += ": using the newest checkpoint instead"
	return nil
}

// chooseNewest chooses the newest intact checkpoint.
func (m *Model) chooseNewest() error {
	latest, refused, err := m.log.Latest()
	for _, r := range refused {
		if !slices.ContainsFunc(m.Notes, func(note string) bool { return strings.Contains(note, r.Path) }) { // as the best
			m.Notes = append(m.Notes, r.String())
		}
	}
	if err == nil && latest.Step == 0 { // the run was interrupted before its first update
		err = fmt.Errorf("%s: %w was saved yet", m.log.Dir(), runlog.ErrNoCheckpoint)
	}
	if errors.Is(err, runlog.ErrNoCheckpoint) && len(refused) > 0 {
		newest, damaged := refused[0], runlog.ErrDamaged
		reason := strings.TrimPrefix(newest.Reason, damaged.Error())
		return fmt.Errorf("%s: %w can be used: %s: %w%s; train anew", m.log.Dir(), runlog.ErrNoCheckpoint, newest.Path, damaged, reason)
	}
	if missing := (*runlog.MissingError)(nil); errors.Is(err, runlog.ErrNoCheckpoint) && !errors.Is(err, runlog.ErrDamaged) && !errors.As(err, &missing) {
		return fmt.Errorf("%w: train longer, or resume the run", err)
	}
	m.checkpoint = latest
	return err
}

// keepParameters copies the parameters to the store and frees the checkpoint's tensors, which also hold the optimizer state.
func (m *Model) keepParameters() error {
	parameters := training.Parameters(m.checkpoint.Tensors)
	if err := training.Load(m.store, parameters); err != nil {
		return err
	}
	if err := decoding.Freeze(m.backend, m.store); err != nil {
		return err
	}
	kept := *m.checkpoint
	kept.Tensors = slices.Clone(parameters)
	for i := range kept.Tensors {
		kept.Tensors[i].Data = nil
	}
	m.checkpoint = &kept
	return nil
}

// parameters returns copies of the parameters, in the checkpoint's order.
func (m *Model) parameters() ([]safetensors.Tensor, error) {
	if err := m.queue.Acquire(context.Background()); err != nil {
		return nil, err
	}
	defer m.queue.Release()
	return training.Stored(m.store, m.checkpoint.Tensors)
}

// Close waits for the current computation and frees the compiled graphs.
func (m *Model) Close() {
	_ = m.queue.Exclusively(func() error {
		m.freeGraphs()
		return nil
	})
}

// freeGraphs does the work of Close, while no other call uses the model.
func (m *Model) freeGraphs() {
	if m.decoder != nil {
		m.decoder.Close()
		m.decoder = nil
	}
	if m.kept != nil {
		m.kept.Close()
		m.kept = nil
	}
}

// Dir returns the run directory.
func (m *Model) Dir() string { return m.log.Dir() }

// Read converts a text, a line or a story with a question, to a source of the run's task.
func (m *Model) Read(text string) (task.Input, error) { return m.reader.Read(text) }

// Adaptive reports whether the model weighs its steps, as [universal.Deep] says.
func (m *Model) Adaptive() bool {
	return universal.Adaptive(m.Run.Model.Value.Build(m.Vocabularies, m.Run.Seed))
}

// Describe returns a one-line description of the model.
func (m *Model) Describe() string { return m.Run.Model.Value.Describe() }

// Files of a run directory. The last two define the ids; the tokenizer exists if text is split into subwords.
const (
	configFile     = "config.json"
	vocabularyFile = "vocabulary.json"
	tokenizerFile  = "tokenizer.json"
)

// writeVocabularies writes both, the tokenizer first: a vocabulary never exists without its tokenizer.
func writeVocabularies(log *runlog.Run, v task.Vocabularies) error {
	if v.Subwords != nil {
		if err := log.WriteFile(tokenizerFile, v.Subwords.File()); err != nil {
			return err
		}
	}
	return log.WriteJSON(vocabularyFile, v)
}

// readVocabularies reads the files of writeVocabularies. It is an error if the tokenizer has been replaced. Errors are [runlog.ErrVersion]
// or [runlog.ErrDamaged], except those of the system.
func readVocabularies(log *runlog.Run) (v task.Vocabularies, err error) {
	v, err = readVocabularyFiles(log)
	if system := (*fs.PathError)(nil); err == nil || errors.Is(err, runlog.ErrVersion) || errors.As(err, &system) && !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	return v, runlog.AsDamaged(err)
}

func readVocabularyFiles(log *runlog.Run) (v task.Vocabularies, err error) {
	if err := log.ReadJSON(vocabularyFile, &v); errors.Is(err, runlog.ErrNotJSON) || errors.Is(err, runlog.ErrVersion) || errors.Is(err, fs.ErrPermission) {
		return v, err
	} else if err != nil {
		return v, fmt.Errorf("%w: restore the file", err)
	}
	if v.Target == nil {
		return v, fmt.Errorf(`%s: key "target" is missing: restore the file`, vocabularyFile)
	}
	if v.Tokenizer != vocab.Subwords {
		return v, nil
	}
	file, err := log.ReadFile(tokenizerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return v, errors.New("tokenizer.json is missing: restore it")
	}
	if err != nil {
		return v, err
	}
	if v.Subwords, err = subword.ReadPieces(file); err != nil {
		return v, fmt.Errorf("tokenizer.json: %w: restore the file", err)
	}
	if v.Subwords.Digest() != v.TokenizerDigest {
		return v, errors.New("tokenizer.json has changed since training: restore it")
	}
	for _, own := range []**vocab.Vocabulary{&v.Source, &v.Target} {
		if pieces := v.Subwords.Vocabulary(); (*own).Equal(pieces) {
			*own = pieces // makes comparisons fast
		}
	}
	return v, nil
}
