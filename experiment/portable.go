package experiment

import (
	"fmt"
	"math"
	"strings"

	"universal-transformer/halting"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/universal"
)

// Portable describes the model of exported weights for programs that know nothing of this one: every choice by name, with defaults filled in and
// tokens as ids. docs/weights.md gives the formulas. Dropout, random positions and initial values concern training only and are not in it.
type Portable struct {
	Kind              string              `json:"kind"` // the key of the model in a configuration: "encoder_decoder"
	Width             int                 `json:"width"`
	SourceVocabulary  int                 `json:"source_vocabulary,omitempty"` // number of ids; 0: no source
	TargetVocabulary  int                 `json:"target_vocabulary"`           // number of ids, or of classes and two unused ones
	SourceUnknown     int32               `json:"source_unknown,omitempty"`    // id of the unknown token; 0: none
	TargetUnknown     int32               `json:"target_unknown,omitempty"`
	SourceEnd         bool                `json:"source_end"`                // sources end with id 1
	TargetEnd         bool                `json:"target_end"`                // targets end with id 1
	TokensPerPosition int                 `json:"tokens_per_position"`       // W, at least 1
	EmbeddingScale    float64             `json:"embedding_scale"`           // factor of embeddings: 1 or sqrt(width)
	EmbeddingWidth    int                 `json:"embedding_width,omitempty"` // E of factored embeddings; 0: not factored
	SharedEmbedding   bool                `json:"shared_embedding"`
	TiedReadout       bool                `json:"tied_readout"`
	Pool              string              `json:"pool,omitempty"`        // "mean", "last" or "each"
	FirstClass        int                 `json:"first_class,omitempty"` // id of the first class; the columns before it are unused
	Separator         int32               `json:"separator,omitempty"`   // of a pointer: the id between context and question
	Evidence          bool                `json:"evidence,omitempty"`    // of a pointer
	Layers            int                 `json:"layers,omitempty"`      // of an LSTM
	Attention         bool                `json:"attention,omitempty"`   // of an LSTM
	*PortableStep     `json:",omitempty"` // nil for LSTMs and the Neural GPU
}

// PortableStep describes the recurrent step and how often it is applied.
type PortableStep struct {
	Heads       int                `json:"heads"`
	Arrangement string             `json:"arrangement"` // "post_norm", "pre_norm", the key of an arrangement, or "branched_pre_norm"
	OwnLayers   bool               `json:"own_layers"`  // every step has weights of its own
	Coordinates string             `json:"coordinates"` // "sinusoidal", "tensor2tensor" or "tensor2tensor_alternate"
	StepSignal  string             `json:"step_signal"` // "coordinates", "learned" or "none"
	StepScale   float64            `json:"step_scale"`  // factor of learned step signals: 1 or sqrt(width)
	Counting    PortableCounting   `json:"counting"`
	Transition  PortableTransition `json:"transition"`
	Halting     PortableHalting    `json:"halting"`
}

// PortableCounting describes the numbers of source positions.
type PortableCounting struct {
	Rule       string  `json:"rule"` // the key of a counting
	Separators []int32 `json:"separators"`
	Blocks     []int   `json:"blocks"` // channels of each number of a position, in order; their sum is the width
}

// PortableTransition describes a transition.
type PortableTransition struct {
	Rule   string `json:"rule"` // the key of a transition
	Filter int    `json:"filter"`
	Widths []int  `json:"widths,omitempty"` // of the two convolutions
}

// PortableHalting describes a halting policy outside of training.
type PortableHalting struct {
	Rule      string  `json:"rule"`                // the key of a policy
	Steps     int     `json:"steps"`               // the number, or the maximum number, of steps; 0: unlimited
	Threshold float64 `json:"threshold,omitempty"` // 1 - epsilon
}

// Portable describes the run's model for exported weights. It returns an error that names the part if the model has a type of another module.
func (r Run) Portable(v task.Vocabularies) (Portable, error) {
	p := Portable{
		Kind: r.Model.key(), Width: r.Model.Value.Channels(), TargetVocabulary: v.Target.Size(), TokensPerPosition: v.Positions(), EmbeddingScale: 1,
		SourceEnd: r.SourceEnd, TiedReadout: r.Model.Value.ReadoutTied(),
	}
	p.TargetUnknown, _ = v.Target.Unknown()
	if v.Source != nil {
		p.SourceVocabulary = v.Source.Size()
		p.SourceUnknown, _ = v.Source.Unknown()
	}
	ids, err := r.Reader(v).Target("")
	p.TargetEnd = err == nil && len(ids) > 0 && ids[len(ids)-1] == vocab.End
	err = r.Model.Value.portable(&p, v)
	return p, err
}

// portable adds the step.
func (u Universal) portable(p *Portable, v task.Vocabularies) (err error) {
	p.embeddings(u.ScaleEmbedding, u.SharedEmbedding)
	p.EmbeddingWidth = u.EmbeddingWidth
	s := &PortableStep{Heads: u.Heads, OwnLayers: u.UntiedLayers, Arrangement: "post_norm", Coordinates: "sinusoidal", StepSignal: "coordinates", StepScale: 1}
	switch {
	case !u.Arrangement.IsZero():
		s.Arrangement = u.Arrangement.key()
		if b, ok := u.Arrangement.Value.(universal.Branched); ok && b.PreNorm {
			s.Arrangement += "_pre_norm"
		}
	case u.PreNorm:
		s.Arrangement = "pre_norm"
	}
	switch {
	case u.UntiedLayers:
		s.StepSignal = "none"
	case u.LearnedSteps:
		s.StepSignal = "learned"
	}
	if u.ScaleSteps {
		s.StepScale = math.Sqrt(float64(u.Width))
	}
	if !u.Coordinates.IsZero() {
		s.Coordinates = u.Coordinates.key()
	}
	if c, ok := u.Coordinates.Value.(universal.Tensor2Tensor); ok && c.Alternate {
		s.Coordinates += "_alternate"
	}
	counting := u.counting(v)
	s.Counting = PortableCounting{Rule: Counting{counting}.key(), Separators: universal.SeparatorIDs(counting), Blocks: universal.Blocks(counting, u.Width)}
	if s.Transition, err = portableTransition(u.Transition); err != nil {
		return err
	}
	p.PortableStep = s
	s.Halting, err = portableHalting(u.Halting)
	return err
}

func portableTransition(t Transition) (PortableTransition, error) {
	switch f := t.Value.(type) {
	case universal.FeedForward:
		return PortableTransition{Rule: t.key(), Filter: f.Filter}, nil
	case universal.SeparableConvolution:
		widths := f.WindowWidths()
		return PortableTransition{Rule: t.key(), Filter: f.Filter, Widths: widths[:]}, nil
	}
	return PortableTransition{}, notPortable(t)
}

func portableHalting(h Halting) (PortableHalting, error) {
	act := func(a halting.ACT) (PortableHalting, error) {
		return PortableHalting{Rule: h.key(), Steps: a.MaxSteps, Threshold: 1 - a.Epsilon}, nil
	}
	switch p := h.Value.(type) {
	case halting.Fixed:
		return PortableHalting{Rule: h.key(), Steps: p.Steps}, nil
	case halting.Random:
		return PortableHalting{Rule: h.key(), Steps: p.MaxSteps}, nil
	case halting.Length:
		return PortableHalting{Rule: h.key(), Steps: p.Max}, nil
	case halting.Frozen:
		return act(p.ACT)
	case halting.Graves:
		return act(p.ACT)
	case halting.Listing:
		return act(p.ACT)
	}
	return PortableHalting{}, notPortable(h)
}

// notPortable is the error for a variant without a description.
func notPortable(v variantPart) error {
	key, _ := v.choice()
	return fmt.Errorf("%s.%s has no description that other programs could read: export the run for this program (a run directory), or choose one of this program's variants", v.place(), key)
}

// VariantKeys returns the keys of all variants of the parts at a path or below it.
func VariantKeys(path string) (keys []string) {
	for _, p := range parts {
		if p.place() == path || strings.HasPrefix(p.place(), path+".") {
			keys = append(keys, p.keys()...)
		}
	}
	return keys
}
