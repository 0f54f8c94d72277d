package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/objective"
	"universal-transformer/task"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/text"
	"universal-transformer/training"
	"universal-transformer/universal"
)

// Entry is a named experiment.
type Entry struct {
	Name    string
	Summary string
	Run     func() Run
}

// List is every named experiment, in the order in which they are worth trying.
var List = []Entry{
	{"demo", "adaptive model on decimal reversal of 1..16 tokens; minutes on a laptop", Demo},
	{"copy", "table 4, copy: decimal strings up to 40, positions with random offsets", Copy},
	{"reverse", "table 4, reverse", Reverse},
	{"addition", "table 4, addition", Addition},
	{"copy-adaptive", "copy with adaptive halting", CopyAdaptive},
	{"reverse-adaptive", "reverse with adaptive halting", ReverseAdaptive},
	{"addition-adaptive", "addition with adaptive halting", AdditionAdaptive},
	{"copy-transformer", "copy with a Transformer, whose layers have weights of their own", CopyTransformer},
	{"copy-lstm", "copy with an LSTM with attention", CopyLSTM},
	{"babi", "one task of bAbI, section 3.1: fill in task.path; ut experiment runs all of table 1", Babi},
	{"execute-copy", "table 5, copy: the digits of numbers up to 55", ExecuteCopy},
	{"execute-copy-adaptive", "execute-copy with adaptive halting", ExecuteCopyAdaptive},
	{"execute-double", "table 5, double", ExecuteDouble},
	{"execute-double-adaptive", "execute-double with adaptive halting", ExecuteDoubleAdaptive},
	{"execute-reverse", "table 5, reverse", ExecuteReverse},
	{"execute-reverse-adaptive", "execute-reverse with adaptive halting", ExecuteReverseAdaptive},
	{"execute-program", "table 6, program: chains of two operations on numbers up to 5 digits", ExecuteProgram},
	{"execute-program-adaptive", "execute-program with adaptive halting", ExecuteProgramAdaptive},
	{"execute-control", "table 6, control: if and loops", ExecuteControl},
	{"execute-control-adaptive", "execute-control with adaptive halting", ExecuteControlAdaptive},
	{"execute-addition", "table 6, addition", ExecuteAddition},
	{"execute-addition-adaptive", "execute-addition with adaptive halting", ExecuteAdditionAdaptive},
	{"agreement", "subject-verb agreement, section 3.2, as a language model: fill in task.path", Agreement},
	{"agreement-adaptive", "agreement with adaptive halting", AgreementAdaptive},
	{"agreement-classes", "subject-verb agreement as two classes: fill in task.path", AgreementClasses},
	{"agreement-classes-adaptive", "agreement as two classes with adaptive halting", AgreementClassesAdaptive},
	{"text", "a language model on your own text, character by character: fill in task.path", LanguageModelOfText},
	{"base", "what files of your own start from: fill in task.table.path", Base},
}

// Named gives an experiment of List; a name that is not there is an error that offers the nearest.
func Named(name string) (Run, error) {
	var names []string
	for _, e := range List {
		if e.Name == name {
			return e.Run(), nil
		}
		names = append(names, e.Name)
	}
	return Run{}, unknown("experiment", name, names)
}

// Base is the run that a person's own file starts from: a small adaptive model and a schedule for some thousand updates.
func Base() Run {
	return Run{
		Name:  "base",
		Seed:  1,
		Model: Model{EncoderDecoder{small()}},
		Training: Training{
			Config: training.Config{
				Steps: 3000, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1,
				Ponder:   objective.PonderSchedule{Weight: 0.01},
				LogEvery: 20, EvaluateEvery: 200, CheckpointEvery: 200, Keep: 2,
			},
			Schedule:   cosine(1e-3, 200),
			Batch:      Batch{Tokens: 1088},
			Validation: 512,
		},
	}
}

// Demo is a first result: reversal of up to 16 decimal digits with adaptive halting, halted states copied as section 2.2 says. It ends
// as soon as 99 % of the validation sequences are correct.
//
// Command: make demo. It takes about 2000 updates.
func Demo() Run {
	r := Base()
	r.Name = "demo"
	r.Task = Task{algorithmic.Reverse{Base: 10, MaxLength: 16}}
	r.Training.Batch = Batch{Rows: 64, Boundaries: []int{16}} // one shape: at this size compiling costs more than padding
	r.Training.Stop = training.Stop{Accuracy: 0.99}
	r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 100
	return r
}

// LanguageModelOfText learns a text character by character: fill in task.text.path. It is a start for a person's own text: some
// minutes on a laptop for a book.
func LanguageModelOfText() Run {
	r := Base()
	r.Name = "text"
	r.Task = Task{text.Text{Path: "text.txt", Length: 128}}
	r.Model = Model{LanguageModel{Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true, PreNorm: true,
			Dropout: universal.Dropout{Transition: 0.1, Residual: 0.1},
		},
		Transition: Transition{universal.FeedForward{Filter: 512}},
		Halting:    Halting{halting.Fixed{Steps: 4}},
		Positions:  Positions{universal.FromOne{}},
	}}}
	r.Training.Schedule = cosine(2e-3, 200)
	r.Training.Batch = Batch{Rows: 16, Boundaries: []int{127}}
	r.Training.Validation = 64
	return r
}

// table4 is what the paper's table 4 is trained with, as far as paper and code tell: the authors' "tiny" set (width 128,
// filter 512, 4 heads, 8 steps), learning rate 2 d^-0.5 min(s/8000, 1) / sqrt(max(s, 8000)), batches of 4096 positions, dropout and label smoothing of
// 0.1, and positions that start anywhere as long as they end by 400, the length of the test.
//
//	positions: sequences of up to 41 tokens start at 1 .. 361
func table4(name string, depth halting.Policy, of task.Definition) Run {
	r := Base()
	r.Name = name
	r.Task = Task{of}
	r.Model = Model{EncoderDecoder{Universal{
		Config: universal.Config{
			Width: 128, Heads: 4, ScaleEmbedding: true,
			Dropout: universal.Dropout{Embedding: 0.1, Attention: 0.1, Transition: 0.1, Residual: 0.1},
		},
		Transition: Transition{universal.FeedForward{Filter: 512}},
		Halting:    Halting{depth},
		Positions:  Positions{universal.RandomOffset{Max: 401}},
	}}}
	r.Training.Schedule = Schedule{training.InverseSquareRoot{Factor: 2, Warmup: 8000}}
	r.Training.Steps = 50_000
	r.Training.LabelSmoothing = 0.1
	r.Training.ClipNorm = 0
	r.Training.Batch = Batch{Tokens: 4096}
	r.Training.LogEvery, r.Training.EvaluateEvery, r.Training.CheckpointEvery = 100, 1000, 500
	return r
}

// The depths of table 4: the authors' "tiny" set has 8 steps; adaptive models have up to 12, and the authors' epsilon, bias and
// ponder weight.
var (
	eightSteps    = halting.Fixed{Steps: 8}
	adaptiveDepth = halting.Frozen{ACT: halting.ACT{MaxSteps: 12, Epsilon: 0.01, Bias: 1}}
)

// The tasks of table 4, with the training sets of the authors' code.
var (
	copying   = algorithmic.Copy{Base: 10, MaxLength: 40, Examples: 100_000}
	reversing = algorithmic.Reverse{Base: 10, MaxLength: 40, Examples: 100_000}
	adding    = algorithmic.Addition{Base: 10, MaxLength: 40, Examples: 100_000}
)

// Copy is table 4's copy: trained on lengths up to 40, to be evaluated at 400. Paper: character accuracy 0.91, sequence accuracy 0.35.
func Copy() Run { return table4("copy", eightSteps, copying) }

// Reverse is table 4's reverse. Paper: character accuracy 0.96, sequence accuracy 0.46.
func Reverse() Run { return table4("reverse", eightSteps, reversing) }

// Addition is table 4's addition, lengths counting both operands and the separator. Paper: character accuracy 0.34,
// sequence accuracy 0.02.
func Addition() Run { return table4("addition", eightSteps, adding) }

// CopyAdaptive, ReverseAdaptive and AdditionAdaptive are the same with adaptive halting.
func CopyAdaptive() Run     { return table4("copy-adaptive", adaptiveDepth, copying) }
func ReverseAdaptive() Run  { return table4("reverse-adaptive", adaptiveDepth, reversing) }
func AdditionAdaptive() Run { return table4("addition-adaptive", adaptiveDepth, adding) }

// CopyTransformer and CopyLSTM are the baselines of copy; those of other runs are made by [Transformer] and [LSTM] in the same way.
func CopyTransformer() Run { return Transformer(Copy()) }
func CopyLSTM() Run        { return LSTM(Copy()) }

func cosine(peak float64, warmup int64) Schedule {
	return Schedule{training.Cosine{Peak: peak, Floor: peak / 20, Warmup: warmup}}
}
