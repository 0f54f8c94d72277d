package experiment

import (
	"fmt"

	"universal-transformer/task"
	"universal-transformer/universal"
)

// Universal is what the kinds of models with the paper's recurrent step have in common: a Universal Transformer, or, with untied layers,
// a Transformer.
type Universal struct {
	universal.Config
	Transition  Transition  `json:"transition"`
	Halting     Halting     `json:"halting"`
	Arrangement Arrangement `json:"arrangement,omitzero"` // default: as in the camera-ready paper, or as pre_norm says
	Coordinates Coordinates `json:"coordinates,omitzero"` // default: sinusoidal, as in the paper
	Counting    Counting    `json:"counting,omitzero"`    // default: from the start, as in the paper
	Positions   Positions   `json:"positions"`
}

// EncoderDecoder maps sequences to sequences: figure 2 of the paper.
type EncoderDecoder struct{ Universal }

// Classifier is an encoder that predicts a class.
type Classifier struct {
	Universal
	Pool Pool `json:"pool"` // the state that the class is read from
}

// Tagger is an encoder that predicts a class at each position.
type Tagger struct{ Universal }

// Pointer is an encoder that answers a question with a word of its context.
type Pointer struct {
	Universal
	Evidence bool `json:"evidence,omitzero"` // embeddings also tell how often the token occurs in the context, whether it occurs in the question, and more
}

// LanguageModel is a decoder without a source.
type LanguageModel struct{ Universal }

// config returns the complete configuration of the model.
func (u Universal) config(v task.Vocabularies, seed uint64) universal.Config {
	c := u.Config
	c.Transition, c.Halting, c.Coordinates, c.Positions = u.Transition.Value, u.Halting.Value, u.Coordinates.Value, u.Positions.Value
	c.Arrangement = u.Arrangement.Value
	c.Counting, c.Seed = u.counting(v), seed
	c.TargetVocabulary = v.Target.Size()
	if v.Source != nil {
		c.SourceVocabulary = v.Source.Size()
	}
	c.TokensPerPosition = v.TokensPerPosition
	return c
}

// valid checks the parts that come in variants, and then the model that a kind builds.
func (u Universal) valid(m ModelKind) error {
	if err := u.validate(); err != nil {
		return err
	}
	return m.Build(smallest, 1).Validate()
}

// validate checks the parts that come in variants.
func (u Universal) validate() error {
	checks := []func() error{u.Transition.validate, u.Halting.validate, u.Positions.validate}
	for _, optional := range []interface {
		IsZero() bool
		validate() error
	}{u.Arrangement, u.Coordinates, u.Counting} {
		if !optional.IsZero() {
			checks = append(checks, optional.validate)
		}
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// Channels returns the width.
func (u Universal) Channels() int { return u.Width }

// TrainingPositions combines counting and positions.
func (u Universal) TrainingPositions(v task.Vocabularies) universal.Draws {
	return universal.Draws{Counting: u.counting(v), Positions: u.Positions.Value}
}

// counting determines how sources are counted, with the ids of separators.
func (u Universal) counting(v task.Vocabularies) universal.Counting {
	switch {
	case u.Counting.IsZero():
		return universal.FromStart{}
	case v.Source == nil:
		return u.Counting.Value
	}
	return u.Counting.Value.Resolve(v.Source.ID)
}

// ReadoutTied is u.TiedReadout.
func (u Universal) ReadoutTied() bool { return u.TiedReadout }

// Step returns u.
func (u Universal) Step() Universal { return u }

// Conventions tells how the layers are computed.
func (Universal) Conventions() map[string]string { return universal.Conventions() }

// Describe names the model, its depth, its size, and how sources are counted if not as in the paper.
func (u Universal) Describe() string {
	name, depth := "Universal Transformer", u.Halting.Value.Describe()
	if u.UntiedLayers {
		name, depth = "Transformer", fmt.Sprintf("%d layers", u.Halting.Value.Limit(0))
	}
	if _, ok := u.Arrangement.Value.(universal.Branched); ok && u.UntiedLayers {
		name = "Weighted Transformer"
	} else if ok {
		name += " with branched attention"
	}
	text := fmt.Sprintf("%s, %s, width %d, %d heads", name, depth, u.Width, u.Heads)
	if u.Counting.IsZero() {
		return text
	}
	if counted := u.Counting.Value.Describe(); counted != "" {
		text += ", " + counted
	}
	return text
}

// Kind is task.Transduction.
func (EncoderDecoder) Kind() task.Kind { return task.Transduction }

// WithStep returns the same kind with another step.
func (m EncoderDecoder) WithStep(u Universal) ModelKind {
	m.Universal = u
	return m
}

// Validate validates all fields.
func (m EncoderDecoder) Validate() error { return m.valid(m) }

// Build makes the model.
func (m EncoderDecoder) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.EncoderDecoder{Config: m.config(v, seed)}
}

// Kind is task.Classification.
func (Classifier) Kind() task.Kind { return task.Classification }

// WithStep returns the same kind with another step.
func (m Classifier) WithStep(u Universal) ModelKind {
	m.Universal = u
	return m
}

// Validate validates all fields.
func (m Classifier) Validate() error {
	if err := m.Pool.validate(); err != nil {
		return err
	}
	return m.valid(m)
}

// Build makes the model.
func (m Classifier) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Encoder{Config: m.config(v, seed), Pool: pools[m.Pool]}
}

// Kind is task.Tagging.
func (Tagger) Kind() task.Kind { return task.Tagging }

// WithStep returns the same kind with another step.
func (m Tagger) WithStep(u Universal) ModelKind {
	m.Universal = u
	return m
}

// Validate validates all fields.
func (m Tagger) Validate() error { return m.valid(m) }

// Build makes the model.
func (m Tagger) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Encoder{Config: m.config(v, seed), Pool: universal.Each}
}

// Kind is task.Classification; the classes are words.
func (Pointer) Kind() task.Kind { return task.Classification }

// WithStep returns the same kind with another step.
func (m Pointer) WithStep(u Universal) ModelKind {
	m.Universal = u
	return m
}

// Validate validates all fields.
func (m Pointer) Validate() error {
	if err := m.validate(); err != nil {
		return err
	}
	return universal.Pointer{Config: m.config(smallest, 1), Separator: anySeparator}.Validate()
}

// Build makes the model. A task without [task.Question] gives a model that does not validate.
func (m Pointer) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Pointer{Config: m.config(v, seed), Separator: separator(v), Evidence: m.Evidence}
}

// Kind is task.LanguageModeling.
func (LanguageModel) Kind() task.Kind { return task.LanguageModeling }

// WithStep returns the same kind with another step.
func (m LanguageModel) WithStep(u Universal) ModelKind {
	m.Universal = u
	return m
}

// Validate validates all fields.
func (m LanguageModel) Validate() error { return m.valid(m) }

// Build makes the model.
func (m LanguageModel) Build(v task.Vocabularies, seed uint64) universal.Model {
	return universal.Decoder{Config: m.config(v, seed)}
}
