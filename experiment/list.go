package experiment

import (
	"universal-transformer/halting"
	"universal-transformer/internal/objective"
	"universal-transformer/task/algorithmic"
	"universal-transformer/task/text"
	"universal-transformer/training/schedule"
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
	{"demo", "adaptive model that reverses 1 to 16 decimal digits; minutes on a laptop", Demo},
	{"copy", "table 4, copy: up to 40 digits in training, 400 in testing; positions counted from both ends; 20 to 40 minutes", Copy},
	{"reverse", "table 4, reverse, with the same settings", Reverse},
	{"addition", "table 4, addition, with the same settings", Addition},
	{"copy-paper", "copy in the paper's setting, as far as it is specified: positions with random offsets", CopyPaper},
	{"reverse-paper", "reverse in the paper's setting", ReversePaper},
	{"addition-paper", "addition in the paper's setting", AdditionPaper},
	{"copy-paper-adaptive", "copy-paper with adaptive halting", CopyPaperAdaptive},
	{"reverse-paper-adaptive", "reverse-paper with adaptive halting", ReversePaperAdaptive},
	{"addition-paper-adaptive", "addition-paper with adaptive halting", AdditionPaperAdaptive},
	{"copy-transformer", "copy with a Transformer (separate weights for each layer)", CopyTransformer},
	{"copy-lstm", "copy with an LSTM with attention", CopyLSTM},
	{"copy-neural-gpu", "copy with a Neural GPU (section 4)", CopyNeuralGPU},
	{"babi", "one bAbI task (section 3.1): set task.path; ut experiment runs all of table 1", Babi},
	{"execute-copy", "table 5, copy: numbers of up to 55 digits", ExecuteCopy},
	{"execute-copy-adaptive", "execute-copy with adaptive halting", ExecuteCopyAdaptive},
	{"execute-double", "table 5, double", ExecuteDouble},
	{"execute-double-adaptive", "execute-double with adaptive halting", ExecuteDoubleAdaptive},
	{"execute-reverse", "table 5, reverse", ExecuteReverse},
	{"execute-reverse-adaptive", "execute-reverse with adaptive halting", ExecuteReverseAdaptive},
	{"execute-program", "table 6, program: chains of two operations on numbers of up to 5 digits", ExecuteProgram},
	{"execute-program-wide", "execute-program with width 128 and 4 steps", ExecuteProgramWide},
	{"execute-program-large", "execute-program with width 256, answers from their last digit, for a GPU", ExecuteProgramLarge},
	{"execute-program-adaptive", "execute-program with adaptive halting", ExecuteProgramAdaptive},
	{"execute-control", "table 6, control: conditionals and loops", ExecuteControl},
	{"execute-control-wide", "execute-control with width 128 and 4 steps, trained on all operations of program, half of them loops", ExecuteControlWide},
	{"execute-control-little-end", "execute-control of width 128 with answers from their last digit to their first", ExecuteControlLittleEnd},
	{"execute-control-adaptive", "execute-control with adaptive halting", ExecuteControlAdaptive},
	{"execute-addition", "table 6, addition", ExecuteAddition},
	{"execute-addition-adaptive", "execute-addition with adaptive halting", ExecuteAdditionAdaptive},
	{"agreement", "subject-verb agreement (section 3.2) as language modelling: set task.path", Agreement},
	{"agreement-adaptive", "agreement with adaptive halting", AgreementAdaptive},
	{"agreement-classes", "subject-verb agreement as classification: set task.path", AgreementClasses},
	{"agreement-classes-adaptive", "agreement-classes with adaptive halting", AgreementClassesAdaptive},
	{"lambada", "LAMBADA (section 3.3) as language modelling: set task.path and task.prose", Lambada},
	{"lambada-adaptive", "lambada with adaptive halting", LambadaAdaptive},
	{"lambada-reading", "LAMBADA as reading comprehension (answers are words of the passage): set task.path and task.prose", LambadaReading},
	{"lambada-reading-adaptive", "lambada-reading with adaptive halting", LambadaReadingAdaptive},
	{"lambada-reading-annotated", "lambada-reading, trained on most of the development set as well", LambadaReadingAnnotated},
	{"lambada-paper", "lambada trained on LAMBADA's own novels, with the paper's base model size", LambadaPaper},
	{"lambada-reading-paper", "lambada-reading in the same setting", LambadaReadingPaper},
	{"multi30k", "translation of image captions, English to German, lower-cased and tokenized: set task.path; hours on one thread", Multi30k},
	{"multi30k-adaptive", "multi30k with adaptive halting", Multi30kAdaptive},
	{"multi30k-tiny", "multi30k with the smallest published Transformer", Multi30kTiny},
	{"multi30k-raw", "multi30k on the original text, with case", Multi30kRaw},
	{"translate-news", "translation of news with little training data: set task.path", TranslateNews},
	{"translate-tatoeba", "translation of short sentences: set task.path", TranslateTatoeba},
	{"translate_wmt14", "table 7 with the paper's sizes: set task.path; needs an accelerator", TranslateWMT14},
	{"translation", "translation trained on your own text: set task.training", Translation},
	{"text", "a character-level language model of your own text: set task.path", LanguageModelOfText},
	{"base", "the defaults for your own configuration files: set task.table.path", Base},
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

// authorsPonder is the price of pondering in the authors' code, and of every adaptive run of a table of the paper.
var authorsPonder = objective.PonderSchedule{Weight: 0.01}

// Base is the run that a person's own file starts from: a small adaptive model and a schedule for some thousand updates. Pondering costs
// a tenth of what the authors' code takes: at their price, and with the norms behind the sub-layers, a model that translates halts
// after one step within some hundred updates (LOG.md).
func Base() Run {
	return Run{
		Name:  "base",
		Seed:  1,
		Model: Model{EncoderDecoder{small()}},
		Training: Training{
			Config: schedule.Config{
				Steps: 3000, Beta1: 0.9, Beta2: 0.997, Epsilon: 1e-9, ClipNorm: 1,
				Ponder:   objective.PonderSchedule{Weight: 0.001},
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
	model := small()
	model.PreNorm = false
	r.Model = Model{EncoderDecoder{model}}
	r.Training.Ponder = authorsPonder
	r.Training.Batch = Batch{Rows: 64, Boundaries: []int{16}} // one shape: at this size compiling costs more than padding
	r.Training.Stop = schedule.Stop{Accuracy: 0.99}
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

func cosine(peak float64, warmup int64) Schedule {
	return Schedule{schedule.Cosine{Peak: peak, Floor: peak / 20, Warmup: warmup}}
}
