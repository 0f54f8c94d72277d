package experiment

import (
	"fmt"
	"strconv"

	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// A ModelKind is a kind of model as a configuration describes it.
type ModelKind interface {
	// Kind returns the kind of tasks that the model can learn.
	Kind() task.Kind
	// Validate returns an error that names the first invalid field, its value, and valid values.
	Validate() error
	// Build returns the model for the vocabularies of a task, with the seed of its initial weights.
	Build(v task.Vocabularies, seed uint64) universal.Model
	// Describe returns a one-line description of the model.
	Describe() string
	// Channels returns the width D. Learning rates may scale with it.
	Channels() int
	// TrainingPositions returns how positions of training sequences are drawn.
	TrainingPositions(v task.Vocabularies) universal.Draws
	// ReadoutTied reports whether logits are computed with an embedding table, which then also reads the row of padding.
	ReadoutTied() bool
	// Conventions describes, for programs that read an export, how the model computes what parameters and configuration leave open.
	Conventions() map[string]string

	// portable completes the description of the model in an export.
	portable(p *Portable, v task.Vocabularies) error
}

// A UniversalKind is a ModelKind that repeats the paper's step: a Universal Transformer, or, with untied layers, a Transformer.
type UniversalKind interface {
	ModelKind
	// Step returns the configuration of the step and of its repetition.
	Step() Universal
	// WithStep returns the same kind with another step.
	WithStep(Universal) ModelKind
}

// universal returns a copy of the step of a run's model, nil if it has none.
func (r Run) universal() *Universal {
	kind, ok := r.Model.Value.(UniversalKind)
	if !ok {
		return nil
	}
	u := kind.Step()
	return &u
}

// with returns the run's model with another step.
func (r Run) with(u Universal) ModelKind { return r.Model.Value.(UniversalKind).WithStep(u) }

// Policy returns the halting policy of a run's model, nil if it has none.
func (r Run) Policy() halting.Policy {
	if u := r.universal(); u != nil {
		return u.Halting.Value
	}
	return nil
}

// WithPolicy returns a run whose model has another halting policy. It panics if the model has none.
func (r Run) WithPolicy(p halting.Policy) Run {
	u := r.universal()
	if u == nil {
		panic(fmt.Sprintf("experiment: the model of %s has no halting policy", r.Name))
	}
	u.Halting.Value = p
	r.Model.Value = r.with(*u)
	return r
}

// Pool selects the state of an encoder that predicts a class: that of the last position, or the mean over all positions except padding.
type Pool string

// The values of Pool.
const (
	LastPool Pool = "last"
	MeanPool Pool = "mean"
)

var pools = map[Pool]universal.Pool{LastPool: universal.Last, MeanPool: universal.Mean}

func (p Pool) validate() error {
	if _, known := pools[p]; !known {
		return unknown("pool", string(p), []string{string(LastPool), string(MeanPool)})
	}
	return nil
}

// anySeparator stands for the token of a vocabulary that is not known yet.
const anySeparator = vocab.End

// separator returns the id of [task.Question], or 0 if the vocabulary does not have it.
func separator(v task.Vocabularies) vocab.ID {
	id, _ := v.Source.ID(task.Question)
	return id
}

// AssumedVocabularies returns vocabularies for a task whose data are not read. They have the given number of tokens for source and target each,
// at least 4; the last is [task.Question].
func AssumedVocabularies(size int) (task.Vocabularies, error) {
	tokens := make([]string, size-2) // the vocabulary adds padding and end
	for i := range tokens {
		tokens[i] = strconv.Itoa(i)
	}
	tokens[len(tokens)-1] = task.Question
	v, err := vocab.New(tokens)
	return task.Vocabularies{Source: v, Target: v}, err
}

// smallest has no tokens. It suffices to validate a model.
var smallest = func() task.Vocabularies {
	empty, err := vocab.New(nil)
	if err != nil {
		panic(err) // an empty list is valid
	}
	return task.Vocabularies{Source: empty, Target: empty}
}()
