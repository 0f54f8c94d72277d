package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/task/agreement"
	"universal-transformer/universal"
)

// The depths of agreement; the fixed one is that of tables 4 and 5 too.
var (
	fourSteps     = halting.Fixed{Steps: 4}
	adaptiveSteps = halting.Frozen{ACT: halting.ACT{MaxSteps: 6, Epsilon: 0.01, Bias: 1}}
)

// Agreement is section 3.2 as a language model: the words before a verb go on with the verb's number. Fill in task.agreement.path. It
// trains on a tenth of the rows that the paper trains on; regime "full" reads numpred.train. The size is for a tenth. Task.agreement_verbs is
// the paper's own measure, for those who have the authors' table. The transition is a separable convolution, which sees the phrases
// that nouns stand in: with a feed-forward one, accuracy with an attractor is lower by three points (LOG.md). Measure with --count 0: few
// rows of the test have many attractors.
func Agreement() Run { return agreementText("agreement", fourSteps) }

// AgreementAdaptive is Agreement with adaptive halting.
func AgreementAdaptive() Run { return agreementText("agreement-adaptive", adaptiveSteps) }

// AgreementClasses is section 3.2 as a classifier, which reads all words before a verb and answers with its number.
func AgreementClasses() Run { return agreementClasses("agreement-classes", fourSteps) }

// AgreementClassesAdaptive is AgreementClasses with adaptive halting.
func AgreementClassesAdaptive() Run {
	return agreementClasses("agreement-classes-adaptive", adaptiveSteps)
}

func agreementText(name string, depth halting.Policy) Run {
	r := agreementRun(name)
	r.Task = Task{agreement.Number{Path: "data", Regime: agreement.Natural, MinCount: 2}}
	u := agreementModel(depth)
	u.TiedReadout = true
	r.Model = Model{LanguageModel{u}}
	r.Training.LabelSmoothing = 0
	return r
}

// agreementClasses selects the checkpoint by validation accuracy.
func agreementClasses(name string, depth halting.Policy) Run {
	r := agreementRun(name)
	r.Task = Task{agreement.Classes{Path: "data", Regime: agreement.Natural, MinCount: 2}}
	r.Model = Model{Classifier{Universal: agreementModel(depth), Pool: LastPool}}
	r.Training.BestByAccuracy = true
	return r
}

func agreementModel(depth halting.Policy) Universal {
	return Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true, PreNorm: true,
			Dropout: universal.Dropout{Embedding: 0.2, Transition: 0.2, Residual: 0.2},
		},
		Transition: Transition{universal.SeparableConvolution{Filter: 256}},
		Halting:    Halting{depth},
		Positions:  Positions{universal.FromOne{}},
	}
}

// agreementRun trains with Muon: with Adam, models overfit the few rows before they find the subjects (LOG.md).
func agreementRun(name string) Run {
	r := Base()
	r.Name = name
	r.Training.Steps, r.Training.Average, r.Training.Muon = 3000, 0.999, 0.95
	r.Training.Ponder = authorsPonder
	r.Training.LabelSmoothing = 0.1
	r.Training.WeightDecay, r.Training.DecayVectors = 0.1, true
	r.Training.Schedule = cosine(8e-3, 100)
	r.Training.Batch = Batch{Rows: 64, Boundaries: []int{8, 16, 32}}
	r.Training.Validation = 0
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 50, 400, 400
	return r
}
