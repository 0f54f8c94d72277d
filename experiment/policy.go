package experiment

import (
	"fmt"

	"universal-transformer/halting"
)

// universal is the recurrent step of a run's model, nil if it has none.
func (r Run) universal() *Universal {
	switch m := r.Model.Value.(type) {
	case EncoderDecoder:
		return &m.Universal
	case Classifier:
		return &m.Universal
	case Pointer:
		return &m.Universal
	case LanguageModel:
		return &m.Universal
	}
	return nil
}

// Policy is the halting policy of a run's model; nil if its model has none.
func (r Run) Policy() halting.Policy {
	if u := r.universal(); u != nil {
		return u.Halting.Value
	}
	return nil
}

// WithPolicy is a run whose model halts by another policy.
func (r Run) WithPolicy(p halting.Policy) Run {
	u := r.universal()
	if u == nil {
		panic(fmt.Sprintf("experiment: %s has no halting policy that could be another", r.Name)) // named runs have one
	}
	u.Halting.Value = p
	r.Model.Value = r.with(*u)
	return r
}

// with is the run's model with another recurrent step.
func (r Run) with(u Universal) ModelKind {
	switch m := r.Model.Value.(type) {
	case EncoderDecoder:
		m.Universal = u
		return m
	case Classifier:
		m.Universal = u
		return m
	case Pointer:
		m.Universal = u
		return m
	case LanguageModel:
		m.Universal = u
		return m
	}
	return r.Model.Value
}
