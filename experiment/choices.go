package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/task"
	"universal-transformer/task/agreement"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/babi"
	"universal-transformer/task/execute"
	"universal-transformer/task/labels"
	"universal-transformer/task/lambada"
	"universal-transformer/task/table"
	"universal-transformer/task/tags"
	"universal-transformer/task/text"
	"universal-transformer/task/translation"
	"universal-transformer/training/schedule"
	"universal-transformer/universal"
)

// The parts of a run that have variants. Their tables are the only place where names become types.
type (
	Task       = Variant[task.Definition, tasks]
	Model      = Variant[ModelKind, models]
	Transition = Variant[universal.Transition, transitions]
	Halting    = Variant[halting.Policy, policies]
	Positions  = Variant[universal.Positions, positionings]
	Schedule   = Variant[schedule.Schedule, schedules]

	Arrangement = Variant[universal.Arrangement, arrangements]
	Coordinates = Variant[universal.Coordinates, coordinates]
	Counting    = Variant[universal.Counting, countings]

	PonderCost  = Variant[objective.PonderCost, ponderCosts]
	Supervision = Variant[objective.Supervision, supervisions]
)

// parts lists all parts.
var parts = []variantPart{Task{}, Model{}, Transition{}, Halting{}, Arrangement{}, Coordinates{}, Counting{}, Positions{}, Schedule{}, PonderCost{}, Supervision{}}

type tasks struct{}

func (tasks) part() part { return part{"task", "name a task, as in task.table.path=pairs.tsv"} }
func (tasks) rows() []row[task.Definition] {
	return []row[task.Definition]{
		{"copy", algorithmic.Copy{}},
		{"reverse", algorithmic.Reverse{}},
		{"addition", algorithmic.Addition{}},
		{"table", table.Table{}},
		{"labels", labels.Labels{}},
		{"tags", tags.Tags{}},
		{"text", text.Text{}},
		{"translation", translation.Translation{}},
		{"babi", babi.Babi{Set: "en-10k"}},
		{"execute_memory", execute.Memory{Operation: execute.Copy, Length: 55}},
		{"execute_program", execute.Program{Operations: execute.AllOperations, Nesting: 2, Length: 5}},
		{"execute_script", execute.Script{Nesting: 3, Length: 4}},
		{"agreement", agreement.Number{Regime: agreement.Natural}},
		{"agreement_classes", agreement.Classes{Regime: agreement.Natural}},
		{"agreement_verbs", agreement.Verbs{}},
		{"agreement_pairs", agreement.Pairs{}},
		{"agreement_forms", agreement.Forms{Number: agreement.Number{Regime: agreement.Natural}}},
		{"agreement_text_forms", agreement.TextForms{Forms: agreement.Forms{Number: agreement.Number{Regime: agreement.Natural}}}},
		{"lambada", lambada.Language{Data: lambada.Data{Version: lambada.Plain}}},
		{"lambada_reading", lambada.Reading{Data: lambada.Data{Version: lambada.Plain}}},
	}
}

type models struct{}

func (models) part() part { return part{path: "model"} }
func (models) rows() []row[ModelKind] {
	return []row[ModelKind]{
		{"encoder_decoder", EncoderDecoder{ownModel(64, 4, tenth)}},
		{"classifier", Classifier{Universal: ownModel(64, 4, tenth), Pool: MeanPool}},
		{"tagger", Tagger{ownModel(64, 4, tenth)}},
		{"pointer", Pointer{Universal: ownModel(64, 4, tenth)}},
		{"language_model", LanguageModel{ownModel(64, 4, tenth)}},
		{"lstm_encoder_decoder", LSTMEncoderDecoder{Recurrent: smallLSTM(), Attention: true}},
		{"lstm_classifier", LSTMClassifier{Recurrent: smallLSTM(), Pool: LastPool}},
		{"lstm_tagger", LSTMTagger{smallLSTM()}},
		{"lstm_pointer", LSTMPointer{Recurrent: smallLSTM()}},
		{"lstm_language_model", LSTMLanguageModel{smallLSTM()}},
		{"neural_gpu", neuralGPU()},
	}
}

type transitions struct{}

func (transitions) part() part { return part{path: "model.transition"} }
func (transitions) rows() []row[universal.Transition] {
	return []row[universal.Transition]{
		{"feedforward", universal.FeedForward{Filter: 256}},
		{"separable_convolution", universal.SeparableConvolution{Filter: 256}},
	}
}

type policies struct{}

func (policies) part() part { return part{path: "model.halting"} }
func (policies) rows() []row[halting.Policy] {
	act := halting.ACT{MaxSteps: 4, Epsilon: 0.01}
	return []row[halting.Policy]{
		{"frozen", halting.Frozen{ACT: act}},
		{"graves", halting.Graves{ACT: act}},
		{"listing", halting.Listing{ACT: act}},
		{"fixed", halting.Fixed{Steps: 4}},
		{"random", halting.Random{MinSteps: 2, MaxSteps: 4}},
		{"length", halting.Length{}},
	}
}

type arrangements struct{}

func (arrangements) part() part { return part{path: "model.arrangement"} }
func (arrangements) rows() []row[universal.Arrangement] {
	return []row[universal.Arrangement]{
		{"submitted", universal.Submitted{}},
		{"first_version", universal.FirstVersion{}},
		{"branched", universal.Branched{}},
	}
}

type coordinates struct{}

func (coordinates) part() part { return part{path: "model.coordinates"} }
func (coordinates) rows() []row[universal.Coordinates] {
	return []row[universal.Coordinates]{
		{"sinusoidal", universal.Sinusoidal{}},
		{"tensor2tensor", universal.Tensor2Tensor{}},
	}
}

type countings struct{}

func (countings) part() part { return part{path: "model.counting"} }
func (countings) rows() []row[universal.Counting] {
	plus := universal.Segments{Separators: []string{"+"}}
	return []row[universal.Counting]{
		{"from_start", universal.FromStart{}},
		{"from_end", universal.FromEnd{}},
		{"restarting", universal.Restarting{Segments: plus}},
		{"both_ends", universal.BothEnds{Segments: plus}},
	}
}

type positionings struct{}

func (positionings) part() part { return part{path: "model.positions"} }
func (positionings) rows() []row[universal.Positions] {
	return []row[universal.Positions]{
		{"from_one", universal.FromOne{}},
		{"random_offset", universal.RandomOffset{Max: 512}},
		{"random_subset", universal.RandomSubset{Max: 512}},
		{"random_runs", universal.RandomRuns{Max: 512}},
	}
}

type schedules struct{}

func (schedules) part() part { return part{path: "training.schedule"} }
func (schedules) rows() []row[schedule.Schedule] {
	return []row[schedule.Schedule]{
		{"cosine", schedule.Cosine{Peak: 1e-3, Floor: 5e-5, Warmup: 200}},
		{"inverse_square_root", schedule.InverseSquareRoot{Factor: 2, Warmup: 8000}},
		{"constant", schedule.Constant{LearningRate: 1e-3}},
	}
}

type ponderCosts struct{}

func (ponderCosts) part() part { return part{path: "training.ponder_cost"} }
func (ponderCosts) rows() []row[objective.PonderCost] {
	return []row[objective.PonderCost]{
		{"graves", objective.Graves{}},
		{"geometric_prior", objective.GeometricPrior{Lambda: 0.25}},
	}
}

type supervisions struct{}

func (supervisions) part() part { return part{path: "training.supervision"} }
func (supervisions) rows() []row[objective.Supervision] {
	return []row[objective.Supervision]{
		{"uniform", objective.Uniform{}},
		{"geometric", objective.Geometric{Lambda: 0.25}},
		{"halting", objective.Halting{}},
	}
}
