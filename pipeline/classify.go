package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/viewer"
)

// Explained is the answer of a classifier to one text, with what the model did to find it.
type Explained struct {
	Classified
	Attention []AttentionShare // of the last position, the most attended one first; none if the model has no attention
	Trace     *viewer.Trace
}

// AttentionShare is the attention of the last position to one position, averaged over heads and over the steps that the last position ran.
type AttentionShare struct {
	Position int // from 0
	Share    float64
}

// Errors of models of the wrong kind.
var (
	ErrNoClasses   = errors.New("answers with a sequence, not with a class") // use Decode
	ErrNoSequences = errors.New("answers with a class, not with a sequence") // use Classify
	ErrTags        = errors.New("answers with a tag for each word")          // use Tag
	ErrNoTags      = errors.New("answers with no tags")                      // use Decode or Classify
)

// A KindError means that a model answers in another way than was asked for.
type KindError struct {
	Run experiment.Run // what the model was trained on
	err error
}

func (e *KindError) Error() string { return e.err.Error() }

func (e *KindError) Unwrap() error { return e.err }

func (m *Model) kindError(format string, values ...any) error {
	return &KindError{m.Run, fmt.Errorf("%s "+format, append([]any{m.Dir()}, values...)...)}
}

// CanClassify returns an error unless the model predicts classes, with Classify.
func (m *Model) CanClassify() error {
	switch m.Run.Task.Value.Kind() {
	case task.Classification:
		return nil
	case task.Tagging:
		return m.kindError("%w", ErrTags)
	}
	return m.kindError("%w: it was trained on %s", ErrNoClasses, m.Run.Task.Value)
}

// CanDecode returns an error unless the model generates sequences, with Decode and Stream.
func (m *Model) CanDecode() error {
	switch m.Run.Task.Value.Kind() {
	case task.Classification:
		return m.kindError("%w", ErrNoSequences)
	case task.Tagging:
		return m.kindError("%w", ErrTags)
	}
	return nil
}

// CanScore returns an error unless the model gives sequences a probability, with Score.
func (m *Model) CanScore() error {
	switch m.Run.Task.Value.Kind() {
	case task.Classification:
		return m.kindError("%w, so it cannot score texts", ErrNoSequences)
	case task.Tagging:
		return m.kindError("%w, so it cannot score texts", ErrTags)
	}
	return nil
}

// Classify answers one text, such as a bAbI story with a question. Tokens that did not occur in training are read as unknown, and listed
// in Input.Unknown.
func (m *Model) Classify(ctx context.Context, text string) (*Explained, error) {
	return m.classify(ctx, text, false)
}

// classify is Classify, with readouts in the trace if they are requested.
func (m *Model) classify(ctx context.Context, text string, withReadouts bool) (*Explained, error) {
	if err := m.CanClassify(); err != nil {
		return nil, err
	}
	in, err := m.readToTrace(text)
	if err != nil {
		return nil, err
	}
	trace := m.traceOf(text, in)
	trace.Source = in.Labels
	if m.Vocabularies.Subwords != nil {
		trace.Source = m.tokens(m.Vocabularies.Source, in.Source)
	}
	trace.Encoder = &viewer.Stack{Tokens: trace.Source}
	everywhere, err := m.record(ctx, trace, []any{[][]int32{in.Source}}, withReadouts)
	if err != nil {
		return nil, err
	}
	classes := normalized(everywhere[0][vocab.End+1:]) // without padding and End
	c := &Explained{Classified: Classified{Input: in, Answer: m.spell(in, bestClass(classes)), Classes: sorted(m.Vocabularies.Target, classes)}, Trace: trace}
	for _, n := range trace.Encoder.Updates {
		c.Steps = append(c.Steps, int(n))
	}
	trace.Output = []string{c.Answer}
	if in.Answer != nil {
		trace.Reference = m.tokens(m.Vocabularies.Target, answered(in.Answer))
	}
	c.Attention = attentionShares(trace.Encoder)
	return c, nil
}

// bestClass returns the class with the highest probability, the first of several. The first probability is that of the first token.
func bestClass(probabilities []float64) vocab.ID {
	best := 0
	for i, p := range probabilities {
		if p > probabilities[best] {
			best = i
		}
	}
	return vocab.End + 1 + vocab.ID(best)
}

// spell returns the readable form of a class. If classes are words of the source, it is the word that was read.
func (m *Model) spell(in task.Input, class vocab.ID) string {
	if v := m.Vocabularies; v.Source.Equal(v.Target) {
		if at := slices.Index(in.Source, class); at >= 0 {
			return in.Labels[at]
		}
	}
	return m.Vocabularies.Target.Token(class)
}

// attentionShares averages the attention of the last position.
func attentionShares(s *viewer.Stack) []AttentionShare {
	last := len(s.Tokens) - 1
	list := make([]AttentionShare, last+1)
	ran := min(int(s.Updates[last]), len(s.Attention))
	if ran == 0 {
		return nil
	}
	for i := range list {
		list[i].Position = i
	}
	for _, heads := range s.Attention[:ran] {
		for _, queries := range heads {
			for i, weight := range queries[last] {
				list[i].Share += weight / float64(ran*len(heads))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b AttentionShare) int { return cmp.Compare(b.Share, a.Share) })
	return list
}

// Classified is the answer of a classifier to a text.
type Classified struct {
	Input   task.Input // the text as the model reads it
	Answer  string     // the most probable class; if classes are words of the text, as it spells the word
	Classes []Class    // every class, the most probable one first; their probabilities sum to 1
	Steps   []int      // of each position of the text
	Err     error      // the reason why this text has no answer, or nil
}

// Class is a class with its probability.
type Class struct {
	Name        string
	Probability float64
}

// ClassifyAll classifies several texts, with the probability of every class. A text that cannot be read, or that has more than maxSource
// tokens (0: [DefaultMaxSource]), has an error of its own.
func (m *Model) ClassifyAll(ctx context.Context, texts []string, maxSource int) ([]Classified, error) {
	if err := m.CanClassify(); err != nil {
		return nil, err
	}
	answers := make([]Classified, len(texts))
	var examples []task.Example
	var at []int
	for i, text := range texts {
		if answers[i].Input, answers[i].Err = m.readUpTo(text, maxSource); answers[i].Err == nil {
			examples, at = append(examples, task.Example{Source: answers[i].Input.Source}), append(at, i)
		}
	}
	failed := func(i int, err error) { answers[at[i]].Err = queue.SourceError(err, len(examples[i].Source)) }
	err := m.inTurns(ctx, failed, func(e *evaluation.Evaluator) error {
		found, err := e.Probabilities(ctx, examples)
		for i, f := range found {
			m.spellClasses(&answers[at[i]], f)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answers, nil
}

// readUpTo is Read with a limit of tokens; 0 means DefaultMaxSource.
func (m *Model) readUpTo(text string, maxSource int) (task.Input, error) {
	in, err := m.Read(text)
	if err == nil {
		err = checkLength(len(in.Labels), maxSource)
	}
	return in, err
}

// spellClasses adds what was computed for a text; nothing if it failed.
func (m *Model) spellClasses(a *Classified, found evaluation.ClassProbabilities) {
	if a.Err = cmp.Or(a.Err, checkFinite(found.Probabilities)); a.Err != nil {
		return
	}
	a.Answer, a.Steps = m.spell(a.Input, bestClass(found.Probabilities)), found.Updates
	a.Classes = sorted(m.Vocabularies.Target, found.Probabilities)
}

// inTurns calls compute with an evaluator that lets other calls compute between two batches. An example that cannot be computed, even
// alone, is passed to failed and does not affect the others. The error is that of ctx if that has ended, also in the last batch.
func (m *Model) inTurns(ctx context.Context, failed func(example int, err error), compute func(*evaluation.Evaluator) error) error {
	return m.queue.InTurns(ctx, func(pause func()) error {
		if m.kept == nil {
			m.kept = evaluation.NewKept(m.backend, m.store)
		}
		e := m.Evaluator()
		e.Kept, e.Pause, e.Failed = m.kept, pause, failed
		return cmp.Or(compute(e), ctx.Err())
	})
}

// sorted returns the classes with their probabilities, the most probable one first. The first probability is that of the first token.
func sorted(v *vocab.Vocabulary, probabilities []float64) []Class {
	list := make([]Class, len(probabilities))
	for i, p := range probabilities {
		list[i] = Class{v.Token(vocab.End + 1 + vocab.ID(i)), p}
	}
	slices.SortStableFunc(list, func(a, b Class) int { return cmp.Compare(b.Probability, a.Probability) })
	return list
}

// normalized scales probabilities so that they sum to 1.
func normalized(probabilities []float64) []float64 {
	sum := 0.0
	for _, p := range probabilities {
		sum += p
	}
	scaled := make([]float64, len(probabilities))
	for i, p := range probabilities {
		scaled[i] = p / max(sum, math.SmallestNonzeroFloat64)
	}
	return scaled
}
