package ut

import (
	"context"
	"sync"

	"github.com/gomlx/compute"
	"universal-transformer/engine"
	"universal-transformer/pipeline"
)

// Model is a trained model. It is safe for concurrent use: requests that wait are decoded together, and each gets the answer that it
// would get alone, up to the rounding of float32. The end of a context cancels only its own request.
//
// After Close, every method with an error returns [ErrClosed].
type Model struct {
	model     *pipeline.Model
	backend   compute.Backend
	maxSource int // as in LoadOptions

	closing sync.Mutex     // guards closed, which is false when a call begins
	calls   sync.WaitGroup // in progress
	free    sync.Once
	closed  bool
}

// LoadOptions determines what is loaded. The zero value loads the best checkpoint on the default backend.
type LoadOptions struct {
	Backend    string // one of [Backends], with its options; "": the default
	Newest     bool   // the newest checkpoint instead of the best by validation
	MaxSource  int    // tokens of an input, longer ones are errors, except the examples of Evaluate; 0: 10,000
	Extensions Extensions
}

// Load reads the model of a run directory. The caller must close it. Its errors are [ErrNotRun], [ErrNoCheckpoint], [ErrDamaged], [ErrVersion]
// and *[MissingTypeError], besides those of the system.
func Load(dir string, o LoadOptions) (*Model, error) {
	if err := (pipeline.DecodeOptions{MaxSource: o.MaxSource}).Validate(); err != nil {
		return nil, err
	}
	backend, err := engine.New(o.Backend)
	if err != nil {
		return nil, err
	}
	m, err := pipeline.LoadOptions{Newest: o.Newest, Extensions: o.Extensions}.Load(dir, backend)
	if err != nil {
		backend.Finalize()
		return nil, err
	}
	return &Model{model: m, backend: backend, maxSource: o.MaxSource}, nil
}

// begin begins a call, which ends with m.calls.Done, unless the model is closed.
func (m *Model) begin() error {
	m.closing.Lock()
	defer m.closing.Unlock()
	if m.closed {
		return ErrClosed
	}
	m.calls.Add(1)
	return nil
}

// Close waits for the calls in progress and frees the model and its backend. Calls that begin meanwhile return [ErrClosed] at once. Closing it again
// does nothing.
func (m *Model) Close() {
	m.closing.Lock()
	m.closed = true
	m.closing.Unlock()
	m.calls.Wait()
	m.free.Do(func() {
		m.model.Close()
		m.backend.Finalize()
	})
}

// Run returns the model's configuration.
func (m *Model) Run() Run { return m.model.Run }

// Step returns the number of updates that the model was trained for.
func (m *Model) Step() int64 { return m.model.Step }

// Notes returns what the user should know: checkpoints that could not be read, a configuration edited after training.
func (m *Model) Notes() []string { return m.model.Notes }

// String describes the model in one line.
func (m *Model) String() string { return m.model.Describe() }

// SetExit changes when the model stops computing, from the next call on. It is an error for LSTMs and the Neural GPU.
func (m *Model) SetExit(e Exit) error {
	if err := m.begin(); err != nil {
		return err
	}
	defer m.calls.Done()
	return m.model.SetExit(e)
}

// Classified is an input with its class.
type Classified struct {
	Class       string   // the most probable one
	Probability float64  // of Class
	Classes     []Class  // all, the most probable one first; their probabilities sum to 1
	Steps       []int    // recurrent steps that each position of the input ran
	Unknown     []string // tokens of the input that the model does not know and reads as <unknown>
	Err         error    // why this input has no class; other inputs are not affected
}

// Classify answers each input with a class. Inputs are lines or, for bAbI, stories with a question, with at most as many tokens as LoadOptions says.
func (m *Model) Classify(ctx context.Context, inputs []string) ([]Classified, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	found, err := m.model.ClassifyAll(ctx, inputs, m.maxSource)
	if err != nil {
		return nil, err
	}
	classified := make([]Classified, len(found))
	for i, c := range found {
		classified[i] = Classified{Class: c.Answer, Classes: c.Classes, Steps: c.Steps, Unknown: c.Input.Unknown, Err: c.Err}
		if c.Err == nil {
			classified[i].Probability = c.Classes[0].Probability
		}
	}
	return classified, nil
}

// Tagged is a sentence with a tag for each word.
type Tagged struct {
	Words, Tags   []string
	Probabilities []float64 // of each tag
	Spans         []Span    // that the tags mark; none if the tags of the model mark no spans
	Unknown       []string  // words that the model does not know
	Err           error     // why this sentence has no tags; other sentences are not affected
}

// Tag tags the words of each sentence, which stand between spaces, at most as many as LoadOptions says. It is for models of tasks such as own-tags.
func (m *Model) Tag(ctx context.Context, sentences []string) ([]Tagged, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	found, err := m.model.Tag(ctx, sentences, m.maxSource)
	if err != nil {
		return nil, err
	}
	tagged := make([]Tagged, len(found))
	for i, a := range found {
		tagged[i] = Tagged{Words: a.Input.Labels, Tags: a.Tags, Spans: a.Spans, Unknown: a.Input.Unknown, Err: a.Err}
		for _, classes := range a.Classes {
			tagged[i].Probabilities = append(tagged[i].Probabilities, classes[0].Probability)
		}
	}
	return tagged, nil
}

// Scored is a text with its probability.
type Scored struct {
	LogProb       float64   // of the whole text, natural logarithm
	LogProbs      []float64 // of each token, given those before it
	Tokens        []string
	UnknownCount  int      // how many tokens of the text the model does not know and reads as <unknown>
	Unknown       []string // these tokens, as the text has them
	UnknownSource []string // tokens of the source that the model does not know and reads as <unknown>
	Err           error    // why this text has no probability; other texts are not affected
}

// Score returns the probability of each answer given its source; a language model scores the targets alone. Both have at most as many tokens as LoadOptions says.
func (m *Model) Score(ctx context.Context, pairs []Pair) ([]Scored, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	found, err := m.model.Score(ctx, pairs, m.maxSource)
	if err != nil {
		return nil, err
	}
	scored := make([]Scored, len(found))
	for i, s := range found {
		scored[i] = Scored{
			LogProbs: s.LogProbs, Tokens: s.Tokens, UnknownCount: s.UnknownCount, Unknown: s.Unknown, UnknownSource: s.UnknownSource, Err: s.Err,
		}
		for _, p := range s.LogProbs {
			scored[i].LogProb += p
		}
	}
	return scored, nil
}

// EvaluateOptions determines what a model is evaluated on. The zero value is all test examples,
// or 10,000 of a task that draws them, decoded greedily.
type EvaluateOptions struct {
	Selection     Selection // which held-out examples
	File          string    // measure on the examples of this file, in the task's format, instead
	Beam          Beam      // beam search of decoded answers, unless it is zero
	TeacherForced bool      // predict each token from the true ones before it instead of decoding, without a beam
}

// Evaluation is the result of an evaluation.
type Evaluation struct {
	Examples int
	Metrics  []Metric
	// Notes say what the reader of the metrics should know: how they were measured, and whether the data have changed since training, are not
	// where they were, are also training data, or have lines that cannot be used.
	Notes []string
	// EncoderSteps and DecoderSteps are the ponder time; nil if the model has no such stack or its depth is not adaptive.
	EncoderSteps, DecoderSteps *PonderTime
}

// Evaluate measures the model as its task defines. The test examples are the same for every run of a task. Other calls are answered between
// two batches and two tokens; the end of ctx ends the evaluation there.
func (m *Model) Evaluate(ctx context.Context, o EvaluateOptions) (Evaluation, error) {
	if err := m.begin(); err != nil {
		return Evaluation{}, err
	}
	defer m.calls.Done()
	e, err := m.model.Evaluate(ctx, pipeline.Protocol{Selection: o.Selection, File: o.File, Beam: o.Beam, TeacherForced: o.TeacherForced})
	return Evaluation{e.Row.Count, e.Metrics, e.Notes, e.Encoder, e.Decoder}, err
}

// Trace answers one input and records the steps, weights and attention of every position. The input has at most as many tokens as LoadOptions
// says, and at most 1,000.
func (m *Model) Trace(ctx context.Context, input string) (*Trace, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	if in, err := m.model.Read(input); err == nil {
		if err := (pipeline.DecodeOptions{MaxSource: m.maxSource}).Check(in); err != nil {
			return nil, err
		}
	}
	return m.model.Trace(ctx, input)
}
