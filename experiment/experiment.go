// Package experiment defines the configuration of a run (task, model, training) and its JSON form. It is the only place where names become
// types. Package recipes holds the configurations of the paper's tables; users write files of the same form. Nothing runs here: package
// pipeline trains a [Run] and uses the trained model.
//
// A part that comes in variants is an object with one key, which names the variant and holds its fields:
//
//	"halting": {"frozen": {"max_steps": 6, "epsilon": 0.01, "bias": 0}}
package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"universal-transformer/internal/batch"
	"universal-transformer/runlog"
	"universal-transformer/task"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// Run is the complete configuration of a training run: everything that influences its result.
type Run struct {
	Name string `json:"name"` // of the run in reports, and of its default directory
	Task Task   `json:"task"`

	SourceEnd bool `json:"source_end,omitempty"` // sources end with End, as in the authors' code; lengths do not count it

	Model    Model    `json:"model"`
	Training Training `json:"training"`
	Seed     uint64   `json:"seed"` // of everything random: weights, order of the data, dropout
}

// Training is the configuration of training and of batches.
type Training struct {
	schedule.Config
	Schedule   Schedule `json:"schedule"`
	Batch      Batch    `json:"batch"`
	Validation int      `json:"validation"` // number of validation examples; 0: the task's default
	// ValidationLengths draws validation examples that are longer than those of training, so that the checkpoint is chosen by how well the
	// model generalizes to other lengths. Tasks that draw strings have it, those that are read from files do not. Default: lengths as in training.
	ValidationLengths Lengths `json:"validation_lengths,omitzero"`
	// ValidationHard takes hard cases for half of the validation examples: for copy and reverse one repeated digit and short periods, for
	// addition long carries, numbers of very different lengths and repeated digits. Random strings are hardly ever like them, and do not
	// tell good models apart. Only copy, reverse and addition have hard cases.
	ValidationHard bool `json:"validation_hard,omitempty"`
	// Pretrained is a run directory whose weights training starts from: those of its best checkpoint, or of the newest if none is marked.
	// The parameters of both models must be the same, including those of adaptive halting; task and number of steps may differ. Tokens
	// are found by name, whatever their ids are; new ones begin with random weights. Empty: random weights.
	Pretrained string `json:"pretrained,omitempty"`
	// Decoded is the number of validation examples that are answered at every validation, sequences by greedy decoding, and measured with
	// the task's measure, such as BLEU; 0: none.
	Decoded int `json:"decoded,omitempty"`

	// PonderCost is what training.ponder weighs, with adaptive halting: graves is the number of steps plus the remainder, geometric_prior the
	// divergence from a distribution over steps (PonderNet). Default: graves.
	PonderCost PonderCost `json:"ponder_cost,omitzero"`
	// Supervision chooses the steps that must answer in training: uniform weighs all alike, geometric early ones more, halting each by the
	// weight that the halting unit gives it. Default: only the last one.
	Supervision Supervision `json:"supervision,omitzero"`
}

// Batch is the size of batches.
type Batch struct {
	Tokens     int   `json:"tokens"`     // maximum of rows times length, including padding, of sources or targets, whichever is larger
	Rows       int   `json:"rows"`       // examples per batch, regardless of length; 0: as many as Tokens allows
	Boundaries []int `json:"boundaries"` // lengths that rows are padded to; empty: 8, 10, 12, 15, 18, ...
}

// Parse reads the configuration of a user file and validates it; see [FromDefaults] for fields that are missing. The error for an unknown key
// offers the nearest one.
func Parse(data []byte) (Run, error) {
	run, err := FromDefaults(data)
	if err != nil {
		return Run{}, suggestKey(Defaults(), err)
	}
	size := sizesIn(data)
	if err := size.check(); err != nil {
		return Run{}, err
	}
	if stated(size.Rows) {
		run.Training.Batch.Tokens = 0
	}
	return run, run.Validate()
}

// Decode reads a complete configuration from [Run.JSON], a run directory or a result. Missing fields are zero, whatever the defaults. It does
// not validate.
func Decode(data []byte) (Run, error) {
	var run Run
	if err := runlog.DecodeConfig(data, &run); err != nil {
		return Run{}, err
	}
	return run, nil
}

// JSON returns the complete configuration for [Decode]. It omits some fields that are zero. It panics if JSON cannot record the run, of which
// [Run.Validate] tells why.
func (r Run) JSON() []byte { return indented(r) }

// indented returns the JSON of a run in any form. It panics if JSON cannot record it.
func indented(run any) []byte {
	data, err := json.MarshalIndent(run, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("experiment: %v", err))
	}
	return append(data, '\n')
}

// Validate returns an error that names the first invalid field, its value, and valid values. It reads no files.
func (r Run) Validate() error {
	if r.Name == "" {
		return fmt.Errorf("name is empty: give the run a name")
	}
	if strings.ContainsFunc(r.Name, unicode.IsControl) {
		return fmt.Errorf("name is %q: it must have no control characters, such as line breaks", r.Name)
	}
	for _, check := range []func() error{r.unread, r.Task.validate, r.Model.validate, r.fits, r.Training.Schedule.validate} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := r.TrainingConfig().Validate(); err != nil {
		return fmt.Errorf("training.%w", err)
	}
	if u := r.universal(); u != nil && r.Training.RDrop > 0 && u.Dropout == (universal.Dropout{}) {
		return fmt.Errorf("training.r_drop is %v, but model.dropout is 0 everywhere, so both passes over a batch would be equal: set a dropout rate, or leave out r_drop", r.Training.RDrop)
	}
	if err := r.validateObjective(); err != nil {
		return err
	}
	if n := r.Training.Validation; n < 0 || n > task.MaxExamples {
		return fmt.Errorf("training.validation is %d: it must be from 1 to %d, or 0 for the task's default", n, task.MaxExamples)
	}
	if err := r.validateLengths(); err != nil {
		return err
	}
	if err := r.validateDecoded(); err != nil {
		return err
	}
	if err := r.Training.Batch.validate(); err != nil {
		return err
	}
	return recordable("", r)
}

// validateObjective returns an error unless the ponder cost and the supervision of steps are defined for the model.
func (r Run) validateObjective() error {
	cost, supervision := r.Training.PonderCost, r.Training.Supervision
	u := r.universal()
	for _, part := range []struct {
		chosen   bool
		validate func() error
		path     string
		check    func() error
	}{
		{!cost.IsZero(), cost.validate, "training.ponder_cost." + cost.key(), func() error { return cost.Value.CheckPolicy(u.Halting.Value) }},
		{!supervision.IsZero(), supervision.validate, "training.supervision." + supervision.key(), func() error {
			return supervision.Value.CheckPolicy(u.Halting.Value, r.Model.Value.Kind() != task.Classification)
		}},
	} {
		if !part.chosen {
			continue
		}
		if err := part.validate(); err != nil {
			return err
		}
		if u == nil {
			return fmt.Errorf("%s is set, but model.%s does not repeat a step: leave it out", part.path, r.Model.key())
		}
		if err := part.check(); err != nil {
			return fmt.Errorf("%s: %w", part.path, err)
		}
	}
	if !cost.IsZero() && r.Training.Ponder.Weight == 0 {
		return fmt.Errorf("training.ponder_cost.%s is set, but training.ponder.weight is 0: set a weight, as in 0.01, or leave the cost out", cost.key())
	}
	return nil
}

// validateDecoded returns an error if the task has no answers to decode, or if the best checkpoint depends on answers that are not decoded.
func (r Run) validateDecoded() error {
	n := r.Training.Decoded
	switch {
	case n < 0 || n > task.MaxExamples:
		return fmt.Errorf("training.decoded is %d: it must be from 1 to %d, or 0 for none", n, task.MaxExamples)
	case n > 0 && r.Task.Value.Kind() != task.Transduction && r.Task.Value.Kind() != task.Tagging:
		return fmt.Errorf("training.decoded is %d, but the answers of task.%s are %s and cannot be decoded: leave it out", n, r.Task.key(), r.Task.Value.Kind())
	case n == 0 && r.Training.BestByMeasure:
		return fmt.Errorf("training.best_by_measure is true, but no answers are measured: set training.decoded")
	}
	return nil
}

// fits returns an error unless the model can learn the task.
func (r Run) fits() error {
	want, have := r.Task.Value.Kind(), r.Model.Value.Kind()
	switch {
	case r.SourceEnd && want == task.LanguageModeling:
		return fmt.Errorf("source_end is true, but task.%s has no sources: leave it out", r.Task.key())
	case r.SourceEnd && want == task.Tagging:
		return fmt.Errorf("source_end is true, but the end of a source of task.%s has no class: leave it out", r.Task.key())
	}
	if want == have {
		return nil
	}
	for _, m := range (models{}).rows() {
		if m.defaults.Kind() == want {
			return fmt.Errorf(`model.%s does not fit task.%s, whose answers are %s: write "model": {%q: {...}}`, r.Model.key(), r.Task.key(), want, m.key)
		}
	}
	return fmt.Errorf("task.%s: no model answers with %s", r.Task.key(), want)
}

// OpenTask reads the data of the run's task.
func (r Run) OpenTask() (task.Task, error) { return r.openTask(r.Task.Value.Open) }

// OpenTaskWith is like OpenTask, for a run that was trained with these vocabularies: they are used although the data may have changed
// since. A task that does not make its vocabularies from the data alone has its own.
func (r Run) OpenTaskWith(v task.Vocabularies) (task.Task, error) {
	reopener, ok := r.Task.Value.(task.Reopener)
	if !ok {
		return r.OpenTask()
	}
	return r.openTask(func() (task.Task, error) { return reopener.OpenWith(v) })
}

func (r Run) openTask(open func() (task.Task, error)) (task.Task, error) {
	if err := r.checkReadAgain(); err != nil {
		return nil, err
	}
	opened, err := open()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, r.missingFile(err)
	case err != nil || !r.SourceEnd:
		return opened, err
	case opened.Vocabularies().Positions() > 1:
		return nil, fmt.Errorf("source_end is true, but the sources of task.%s have several tokens per position: leave it out", r.Task.key())
	}
	return task.WithSourceEnd(opened), nil
}

// Reader returns a reader of user input for a model trained by the run.
func (r Run) Reader(v task.Vocabularies) task.Reader {
	reader := r.Task.Value.Reader(v)
	if r.SourceEnd {
		return task.ReaderWithSourceEnd(reader)
	}
	return reader
}

// TrainingConfig returns the configuration of training, including schedule, width and seed.
func (r Run) TrainingConfig() schedule.Config {
	c := r.Training.Config
	c.Schedule, c.Width, c.Seed = r.Training.Schedule.Value, r.Model.Value.Channels(), r.Seed
	c.PonderCost, c.Supervision = r.Training.PonderCost.Value, r.Training.Supervision.Value
	return c
}

// Plan returns the plan of batches for the run's task, which checks every example.
func (r Run) Plan(opened task.Task) batch.Plan {
	source, target := opened.MaxLengths()
	b, v, kind := r.Training.Batch, opened.Vocabularies(), r.Task.Value.Kind()
	return batch.Plan{
		Tokens: b.Tokens, Rows: b.Rows, Boundaries: b.Boundaries, MaxSource: source, MaxTarget: target,
		TokensPerPosition: v.TokensPerPosition, Aligned: kind == task.Tagging,
		Check: func(e task.Example) error { return v.Check(kind, e) },
	}
}

// Subwords returns the size of the task's subword vocabulary as far as the configuration tells it, else 0.
func (r Run) Subwords() int {
	if t, ok := r.Task.Value.(task.Subworded); ok {
		return t.Subwords()
	}
	return 0
}

// CheckPositions returns an error if training draws positions from a range that is too small for its longest sequences.
func (r Run) CheckPositions(opened task.Task) error {
	limit := 0
	if draws := r.Model.Value.TrainingPositions(opened.Vocabularies()); draws.Random() {
		limit = draws.Positions.Limit()
	}
	source, target := opened.MaxLengths()
	if longest := max(source/opened.Vocabularies().Positions(), target); limit > 0 && limit < longest {
		return fmt.Errorf("%s is %d, but training sequences have up to %d positions: choose at least that", r.positionLimit(), limit, longest)
	}
	return nil
}

// TaskName returns the key of the run's task in JSON: "table".
func (r Run) TaskName() string { return r.Task.key() }
