package experiment

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/compute"
	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/batch"
	"universal-transformer/decoding"
	"universal-transformer/evaluation"
	"universal-transformer/internal/safetensors"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Trained is a model that has been trained, with all that is needed to use it. Not safe for concurrent use.
type Trained struct {
	Run        Run
	Words      Vocabularies
	Model      universal.Model
	Store      *model.Store
	Backend    compute.Backend
	Step       int64    // of the checkpoint
	Notes      []string // what the reader should know: checkpoints that could not be used
	checkpoint *runlog.Checkpoint
	log        *runlog.Run
	decoder    *decoding.Decoder // made when first used
}

// Load reads a run directory: its best checkpoint by held-out cross entropy, or the newest intact one if none was marked best
// or that is damaged.
func Load(dir string, backend compute.Backend) (*Trained, error) {
	log, err := runlog.Open(dir)
	if err != nil {
		return nil, err
	}
	t := &Trained{Backend: backend, Store: model.NewStore(), log: log}
	if t.Run, err = read(log); err != nil {
		return nil, err
	}
	if err := log.ReadJSON(vocabularyFile, &t.Words); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	if t.Model, err = t.Run.Model.with(t.Words.Source.Size(), t.Words.Target.Size(), t.Run.Seed); err != nil {
		return nil, err
	}
	if err := t.choose(); err != nil {
		return nil, err
	}
	t.Step = t.checkpoint.Step
	if err := t.Run.fits(backend, t.Model, t.checkpoint); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return t, training.Load(t.Store, parameters(t.checkpoint))
}

// choose finds the checkpoint to use.
func (t *Trained) choose() error {
	best, err := t.log.Best()
	if err == nil {
		t.checkpoint = best
		return nil
	}
	if !errors.Is(err, runlog.ErrNoCheckpoint) {
		t.Notes = append(t.Notes, err.Error())
	}
	latest, refused, err := t.log.Latest()
	for _, r := range refused {
		t.Notes = append(t.Notes, r.String())
	}
	if err == nil && latest.Step == 0 { // the run was interrupted before its first update
		err = fmt.Errorf("%s: %w was saved yet", t.log.Dir(), runlog.ErrNoCheckpoint)
	}
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		return fmt.Errorf("%w: train longer, or resume the run", err)
	}
	t.checkpoint = latest
	return err
}

// Encode turns a line of text into a source. Tokens that the vocabulary does not have are an error, unless it has one for
// unknown ones; then unknown counts them.
func (t *Trained) Encode(line string) (source []vocab.ID, unknown int, err error) {
	return encode(t.Words.Source, t.Words.Tokens, line)
}

func encode(v *vocab.Vocabulary, tokens vocab.Tokenizer, line string) (ids []vocab.ID, unknown int, err error) {
	split, err := tokens.Split(line)
	if err != nil {
		return nil, 0, err
	}
	if len(split) == 0 {
		return nil, 0, fmt.Errorf("the source is empty")
	}
	if v.HasUnknown() {
		ids, unknown = v.EncodeLossy(split)
		return ids, unknown, nil
	}
	ids, err = v.Encode(split)
	return ids, 0, err
}

// Text turns decoded ids into a line.
func (t *Trained) Text(ids []vocab.ID) string {
	return t.Words.Tokens.Join(t.Words.Target.Decode(ids))
}

// Protocol says how to evaluate: on which held-out examples, and how to predict.
type Protocol struct {
	Selection     task.Selection
	TeacherForced bool
	Masked        bool          // transform halted positions like the others, as published
	Beam          decoding.Beam // Width 0: greedy
	Progress      func(done, total int)
}

// Evaluate measures the model on examples that its task holds out.
func (t *Trained) Evaluate(ctx context.Context, p Protocol) (evaluation.Row, error) {
	opened, _, err := t.Run.Task.Open()
	if err != nil {
		return evaluation.Row{}, err
	}
	if !t.Words.Source.Equal(opened.SourceVocabulary()) || !t.Words.Target.Equal(opened.TargetVocabulary()) {
		return evaluation.Row{}, fmt.Errorf("%s: the task's data give another vocabulary than the one this run was trained with", t.log.Dir())
	}
	examples, err := opened.HeldOut(t.Run.Seed, p.Selection)
	if err != nil {
		return evaluation.Row{}, err
	}
	if t.Run.Task.isFile() {
		p.Selection = task.Selection{Count: p.Selection.Count} // a file has the lengths it has
	}
	e := evaluation.Evaluator{Backend: t.Backend, Store: t.Store, Plan: batch.Plan{Tokens: evaluationTokens, TokensPerPosition: t.Run.Model.TokensPerPosition}, Masked: p.Masked, Progress: p.Progress}
	var row evaluation.Row
	switch m := t.Model.(type) {
	case universal.EncoderDecoder:
		if !p.TeacherForced {
			row, err = e.Decode(ctx, m, examples, p.Beam)
			break
		}
		row, err = e.TeacherForce(ctx, m, examples)
	default:
		if p.Beam.Width > 0 {
			return row, fmt.Errorf("%s answers with a class: there is nothing to search", t.log.Dir())
		}
		row, _, err = e.Classify(ctx, m, examples, t.Words.Target)
	}
	row.Task, row.Lengths = opened.Name(), p.Selection.String()
	return row, err
}

// evaluationTokens is how many positions a batch has where nothing is learned.
const evaluationTokens = 4096

// Export writes the model's parameters and configuration to the run directory's export/, for use elsewhere, and gives its path.
func (t *Trained) Export() (string, error) {
	file := &safetensors.File{Metadata: map[string]string{"step": fmt.Sprint(t.Step), "format": "universal-transformer"}, Tensors: parameters(t.checkpoint)}
	return t.log.WriteExport(file, struct {
		Run
		Vocabulary Vocabularies `json:"vocabulary"`
	}{t.Run, t.Words})
}
