package experiment

import (
	"fmt"
	"strconv"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/task/lambada"
	"universal-transformer/universal"
)

// A ModelKind is a kind of model as a configuration describes it.
type ModelKind interface {
	// Kind says which tasks it can learn.
	Kind() task.Kind
	// Validate names the first field that makes no sense, its value, and what would.
	Validate() error
	// Build completes the model with the vocabularies of its task and the seed of its weights.
	Build(v task.Vocabularies, seed uint64) universal.Model
	// Describe says in a line what the model is.
	Describe() string
	// Channels is D, which learning rates may scale with.
	Channels() int
	// TrainingPositions says where the places of training sequences stand.
	TrainingPositions(v task.Vocabularies) universal.Draws
	// Conventions is what parameters and configuration do not say of how the model computes, for programs that read an export.
	Conventions() map[string]string
}

// Universal is what the kinds that are made of the paper's recurrent step have in common: a Universal Transformer, or, with untied
// layers, a Transformer.
type Universal struct {
	universal.Config
	Transition  Transition  `json:"transition"`
	Halting     Halting     `json:"halting"`
	Coordinates Coordinates `json:"coordinates,omitzero"` // not chosen: sinusoidal, as in the paper
	Counting    Counting    `json:"counting,omitzero"`    // not chosen: from the start, as in the paper
	Positions   Positions   `json:"positions"`
}

// EncoderDecoder answers sequences with sequences: figure 2 of the paper.
type EncoderDecoder struct{ Universal }

// Classifier is an encoder that answers with a class.
type Classifier struct {
	Universal
	Pool Pool `json:"pool"` // what is read out
}

// Pointer is an encoder that answers with a word of the context that it has read.
type Pointer struct {
	Universal
	Evidence bool `json:"evidence,omitzero"` // positions are told how often their token stands in the context, whether in the question, and more
}

// LanguageModel is a decoder without a source.
type LanguageModel struct{ Universal }

// Pool says which state of an encoder answers: "last", that of the last position, or "mean", that of all real ones.
type Pool string

// The pools there are.
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

// small is the defaults of every kind: a small adaptive model, with the norms in front of the sub-layers.
func small() Universal {
	return Universal{
		Config:     universal.Config{Width: 64, Heads: 4, ScaleEmbedding: true, PreNorm: true},
		Transition: Transition{universal.FeedForward{Filter: 256}},
		Halting:    Halting{halting.Frozen{ACT: halting.ACT{MaxSteps: 4, Epsilon: 0.01}}},
		Positions:  Positions{universal.FromOne{}},
	}
}

// config is the model's configuration, complete but for its weights' seed.
func (u Universal) config(v task.Vocabularies, seed uint64) universal.Config {
	c := u.Config
	c.Transition, c.Halting, c.Coordinates, c.Positions = u.Transition.Value, u.Halting.Value, u.Coordinates.Value, u.Positions.Value
	c.Counting, c.Seed = u.counting(v), seed
	c.TargetVocabulary = v.Target.Size()
	if v.Source != nil {
		c.SourceVocabulary = v.Source.Size()
	}
	c.TokensPerPosition = v.TokensPerPosition
	return c
}

// validate checks the parts that are in tables; the rest is Build's model's to check.
func (u Universal) validate() error {
	checks := []func() error{u.Transition.validate, u.Halting.validate, u.Positions.validate}
	if !u.Counting.IsZero() {
		checks = append(checks, u.Counting.validate)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Channels is the width.
func (u Universal) Channels() int { return u.Width }

// TrainingPositions is the choice of positions and counting.
func (u Universal) TrainingPositions(v task.Vocabularies) universal.Draws {
	return universal.Draws{Counting: u.counting(v), Positions: u.Positions.Value}
}

// counting is how sources are counted, with the ids of separators.
func (u Universal) counting(v task.Vocabularies) universal.Counting {
	switch {
	case u.Counting.IsZero():
		return universal.FromStart{}
	case v.Source == nil:
		return u.Counting.Value
	}
	return u.Counting.Value.Resolve(v.Source.ID)
}

// Conventions says how the layers are to be computed.
func (Universal) Conventions() map[string]string { return universal.Conventions() }

// Describe says what the model is, how deep and how wide.
func (u Universal) Describe() string {
	name, depth := "Universal Transformer", ""
	switch p := u.Halting.Value.(type) {
	case halting.Fixed:
		depth = fmt.Sprintf("%d steps", p.Steps)
	case halting.Random:
		depth = fmt.Sprintf("%d steps, in training drawn from %d", p.MaxSteps, p.MinSteps)
	case halting.Length:
		depth = "as many steps as source tokens"
	case halting.Listing:
		depth = fmt.Sprintf("adaptive (ACT as listed in appendix B), at most %d steps", p.MaxSteps)
	case halting.Graves:
		depth = fmt.Sprintf("adaptive (ACT, halted positions computed on), at most %d steps", p.MaxSteps)
	case halting.Frozen:
		depth = fmt.Sprintf("adaptive (ACT, halted states copied), at most %d steps", p.MaxSteps)
	}
	if u.UntiedLayers {
		name, depth = "Transformer", strings.Replace(depth, "steps", "layers", 1)
	}
	return fmt.Sprintf("%s, %s, width %d, %d heads", name, depth, u.Width, u.Heads) + u.counted()
}

// counted says how sources are counted, where that is not as in the paper.
func (u Universal) counted() string {
	switch u.Counting.Value.(type) {
	case universal.FromEnd:
		return ", sources counted from their end"
	case universal.Restarting:
		return ", sources counted anew after separators"
	case universal.BothEnds:
		return ", sources counted from both ends"
	}
	return ""
}

// Kind is task.Transduction.
func (EncoderDecoder) Kind() task.Kind { return task.Transduction }

// Validate checks all fields.
func (m EncoderDecoder) Validate() error { return valid(m, m.Universal) }

// Build makes the model.
func (m EncoderDecoder) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.EncoderDecoder{Config: m.config(v, seed)}
}

// Kind is task.Classification.
func (Classifier) Kind() task.Kind { return task.Classification }

// Validate checks all fields.
func (m Classifier) Validate() error {
	if err := m.Pool.validate(); err != nil {
		return err
	}
	return valid(m, m.Universal)
}

// Build makes the model.
func (m Classifier) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Encoder{Config: m.config(v, seed), Pool: pools[m.Pool]}
}

// Kind is task.Classification: the classes are words.
func (Pointer) Kind() task.Kind { return task.Classification }

// Validate checks all fields.
func (m Pointer) Validate() error {
	if err := m.validate(); err != nil {
		return err
	}
	return universal.Pointer{Config: m.config(smallest, 1), Separator: anySeparator}.Validate()
}

// Build makes the model. Its separator is that of questions; 0, which no model takes, where the task has none.
func (m Pointer) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Pointer{Config: m.config(v, seed), Separator: separator(v), Evidence: m.Evidence}
}

// anySeparator stands for that of a vocabulary which is not known yet.
const anySeparator = vocab.End

func separator(v task.Vocabularies) vocab.ID {
	id, _ := v.Source.ID(lambada.Question)
	return id
}

// AssumedVocabularies stand for those of a task whose data are not read: so many tokens for source and target each, at least 4. The last is the
// separator of a Pointer.
func AssumedVocabularies(size int) (task.Vocabularies, error) {
	tokens := make([]string, size-2) // padding and end are there
	for i := range tokens {
		tokens[i] = strconv.Itoa(i)
	}
	tokens[len(tokens)-1] = lambada.Question
	v, err := vocab.New(tokens)
	return task.Vocabularies{Source: v, Target: v}, err
}

// Kind is task.LanguageModeling.
func (LanguageModel) Kind() task.Kind { return task.LanguageModeling }

// Validate checks all fields.
func (m LanguageModel) Validate() error { return valid(m, m.Universal) }

// Build makes the model.
func (m LanguageModel) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Decoder{Config: m.config(v, seed)}
}

// valid builds a kind with vocabularies of the smallest size and lets the model check itself.
func valid(m ModelKind, u Universal) error {
	if err := u.validate(); err != nil {
		return err
	}
	return m.Build(smallest, 1).Validate()
}

// smallest is vocabularies of no tokens: enough to check a model.
var smallest = func() task.Vocabularies {
	empty, err := vocab.New(nil)
	if err != nil {
		panic(err) // no token is no mistake
	}
	return task.Vocabularies{Source: empty, Target: empty}
}()
