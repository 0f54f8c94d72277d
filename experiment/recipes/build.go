package recipes

import (
	"fmt"
	"math"
	"slices"

	"universal-transformer/baseline/lstm"
	"universal-transformer/experiment"
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// A model is a row of a table: a family of recipes with one recipe per column.
type model struct {
	family    string   // "algorithmic-lstm"
	summary   string   // "LSTM with attention"
	only      []string // names of its columns; nil: all
	from      string   // recipe whose weights training starts from; "": random weights
	configure func(experiment.Run) experiment.Run
}

// A column of a table is a task with the training of its Universal Transformer.
type column struct {
	name  string // "copy"
	needs []Need
	from  string // column of the same model whose weights training starts from; "": the model's
	run   func() experiment.Run
}

// cells returns a recipe for each model and column.
func cells(group string, models []model, columns []column) (list []Recipe) {
	for _, m := range models {
		for _, c := range columns {
			if m.only != nil && !slices.Contains(m.only, c.name) {
				continue
			}
			from := m.from
			if c.from != "" {
				from = m.family + "/" + c.from
			}
			list = append(list, Recipe{
				Name: m.family + "/" + c.name, Group: group, Summary: m.summary, From: from, Needs: c.needs,
				Run: func() experiment.Run { return m.configure(c.run()) },
			})
		}
	}
	return list
}

// unchanged is the row of the Universal Transformer as the columns define it.
func unchanged(r experiment.Run) experiment.Run { return r }

// authorsPonder is the weight of the ponder cost in the authors' code (act_loss_weight).
var authorsPonder = objective.PonderSchedule{Weight: 0.01}

// lowPonder is a tenth of it. At the authors' weight, small models of translation and of programs halt after one step early in training
// and never learn to use more.
var lowPonder = objective.PonderSchedule{Weight: 0.001}

// Halting policies that several tables share.
var (
	fourSteps = halting.Fixed{Steps: 4}
	sixSteps  = halting.Fixed{Steps: 6}
)

// adaptive returns dynamic halting with the authors' epsilon; a positive bias of the halting unit starts with few steps.
func adaptive(maxSteps int, bias float64) halting.Policy {
	return halting.Frozen{ACT: halting.ACT{MaxSteps: maxSteps, Epsilon: 0.01, Bias: bias}}
}

// updates returns training by Adam with the authors' betas and epsilon and gradients clipped to norm 1. Fields that it does not set are
// zero: no label smoothing, weight decay, averaging or early stop. The arguments count updates: in all, and between metrics,
// validations and checkpoints.
func updates(steps, logEvery, evaluateEvery, checkpointEvery int64) schedule.Config {
	return schedule.Config{
		Steps: steps, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1, Ponder: authorsPonder,
		LogEvery: logEvery, EvaluateEvery: evaluateEvery, CheckpointEvery: checkpointEvery, Keep: 2,
	}
}

// cosine returns a schedule that decays to a twentieth of the peak.
func cosine(peak float64, warmup int64) experiment.Schedule {
	return cosineTo(peak, peak/20, warmup)
}

// cosineTo returns a schedule that decays to the floor.
func cosineTo(peak, floor float64, warmup int64) experiment.Schedule {
	return experiment.Schedule{Value: schedule.Cosine{Peak: peak, Floor: floor, Warmup: warmup}}
}

// inverseSquareRoot returns the authors' schedule.
func inverseSquareRoot(factor float64, warmup int64) experiment.Schedule {
	return experiment.Schedule{Value: schedule.InverseSquareRoot{Factor: factor, Warmup: warmup}}
}

// withUniversal returns a run with a changed Universal Transformer.
func withUniversal(r experiment.Run, change func(*experiment.Universal)) experiment.Run {
	kind, ok := r.Model.Value.(experiment.UniversalKind)
	if !ok {
		panic(fmt.Sprintf("recipes: the model of %s is not a Universal Transformer", r.Task.Value)) // recipes start from one
	}
	u := kind.Step()
	change(&u)
	r.Model.Value = kind.WithStep(u)
	return r
}

// withHalting returns a run with another halting policy.
func withHalting(r experiment.Run, p halting.Policy) experiment.Run {
	return withUniversal(r, func(u *experiment.Universal) { u.Halting.Value = p })
}

// withTransformer replaces the Universal Transformer by a Transformer of the given width: as many layers as the Universal Transformer
// has steps at most, each with its own weights and applied to every position. The filter grows in proportion to the width; heads are
// halved until they divide it.
func withTransformer(r experiment.Run, width int) experiment.Run {
	return withUniversal(r, func(u *experiment.Universal) {
		u.UntiedLayers, u.LearnedSteps, u.ScaleSteps = true, false, false
		u.Halting.Value = halting.Fixed{Steps: u.Halting.Value.Limit(0)}
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
	})
}

// withLSTM replaces the Universal Transformer by an LSTM of one layer and the given width, with attention if its answers are sequences.
// It keeps the Universal Transformer's residual dropout, its sharing of embeddings and its readout, and clips gradients to norm 1.
func withLSTM(r experiment.Run, width int) experiment.Run {
	l := experiment.Recurrent{Config: lstm.Config{Width: width, Layers: 1, ScaleEmbedding: true}}
	switch m := r.Model.Value.(type) {
	case experiment.EncoderDecoder:
		l.SharedEmbedding, l.TiedReadout, l.Dropout = m.SharedEmbedding, m.TiedReadout, m.Dropout.Residual
		r.Model.Value = experiment.LSTMEncoderDecoder{Recurrent: l, Attention: true}
	case experiment.Classifier:
		l.SharedEmbedding, l.Dropout = m.SharedEmbedding, m.Dropout.Residual
		r.Model.Value = experiment.LSTMClassifier{Recurrent: l, Pool: m.Pool}
	case experiment.Pointer:
		l.Dropout = m.Dropout.Residual
		r.Model.Value = experiment.LSTMPointer{Recurrent: l, Evidence: m.Evidence}
	case experiment.LanguageModel:
		l.SharedEmbedding, l.TiedReadout, l.Dropout = m.SharedEmbedding, m.TiedReadout, m.Dropout.Residual
		r.Model.Value = experiment.LSTMLanguageModel{Recurrent: l}
	default:
		panic(fmt.Sprintf("recipes: the model of %s is not a Universal Transformer", r.Task.Value)) // recipes start from one
	}
	r.Training.ClipNorm = 1
	return r
}

// withSteps multiplies the number of updates, so that a model with faster updates trains for as long as another.
func withSteps(r experiment.Run, times float64) experiment.Run {
	r.Training.Steps = int64(math.Round(float64(r.Training.Steps) * times))
	return r
}
