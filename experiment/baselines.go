package experiment

import (
	"fmt"

	"universal-transformer/halting"
	"universal-transformer/universal"
)

// Transformer is a run with a Transformer in place of its Universal Transformer: layers with weights of their own, as many as the
// Universal Transformer has steps at most, all of them at every position. Its name ends in "-transformer".
func Transformer(r Run) Run {
	untied := func(u Universal) Universal {
		u.UntiedLayers, u.LearnedSteps, u.ScaleSteps = true, false, false
		u.Halting = Halting{halting.Fixed{Steps: u.Halting.Value.Limit(0)}}
		return u
	}
	u := r.universal()
	if u == nil {
		panic(fmt.Sprintf("experiment: %s has no Universal Transformer that could have untied layers", r.Name)) // named runs have one
	}
	r.Model.Value = r.with(untied(*u))
	r.Name += "-transformer"
	return r
}

// LSTM is a run with an LSTM of as many channels, with attention if its answers are sequences, in place of its Universal Transformer.
// Gradients are clipped to norm 1, without which LSTMs come apart now and then. Its name ends in "-lstm".
func LSTM(r Run) Run {
	l := smallLSTM()
	l.Width = r.Model.Value.Channels()
	switch m := r.Model.Value.(type) {
	case EncoderDecoder:
		l.SharedEmbedding, l.TiedReadout, l.Dropout = m.SharedEmbedding, m.TiedReadout, m.Dropout.Residual
		r.Model.Value = LSTMEncoderDecoder{Recurrent: l, Attention: true}
	case Classifier:
		l.SharedEmbedding, l.Dropout = m.SharedEmbedding, m.Dropout.Residual
		r.Model.Value = LSTMClassifier{Recurrent: l, Pool: m.Pool}
	case Pointer:
		l.Dropout = m.Dropout.Residual
		r.Model.Value = LSTMPointer{Recurrent: l, Evidence: m.Evidence}
	case LanguageModel:
		l.SharedEmbedding, l.TiedReadout, l.Dropout = m.SharedEmbedding, m.TiedReadout, m.Dropout.Residual
		r.Model.Value = LSTMLanguageModel{l}
	default:
		panic(fmt.Sprintf("experiment: %s has no Universal Transformer that an LSTM could replace", r.Name)) // named runs have one
	}
	r.Training.ClipNorm = 1
	r.Name += "-lstm"
	return r
}

// Longer is a run with so many times the updates: a baseline whose updates take less time than those of the Universal Transformer it stands
// beside, and which is to train for as long. Its name ends in "-longer".
func Longer(r Run, times int64) Run {
	r.Training.Steps *= times
	r.Name += "-longer"
	return r
}

// Sized is a run whose model has another width, with a filter in proportion and half as many heads until they divide the width: a baseline
// with as many parameters as the Universal Transformer it stands beside.
func Sized(r Run, width int) Run {
	if u := r.universal(); u != nil {
		switch f := u.Transition.Value.(type) {
		case universal.FeedForward:
			u.Transition.Value = universal.FeedForward{Filter: f.Filter * width / u.Width}
		case universal.SeparableConvolution:
			f.Filter = f.Filter * width / u.Width
			u.Transition.Value = f
		}
		for u.Width = width; width%u.Heads != 0; {
			u.Heads /= 2
		}
		r.Model.Value = r.with(*u)
		return r
	}
	switch m := r.Model.Value.(type) {
	case LSTMEncoderDecoder:
		m.Width = width
		r.Model.Value = m
	case LSTMClassifier:
		m.Width = width
		r.Model.Value = m
	case LSTMPointer:
		m.Width = width
		r.Model.Value = m
	case LSTMLanguageModel:
		m.Width = width
		r.Model.Value = m
	default:
		panic(fmt.Sprintf("experiment: %s has no width that could be another", r.Name)) // named runs have one
	}
	return r
}
