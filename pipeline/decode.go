package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"universal-transformer/decoding"
	"universal-transformer/experiment"
	"universal-transformer/internal/answerstream"
	"universal-transformer/internal/evaluation"
	"universal-transformer/internal/queue"
	"universal-transformer/internal/vocab"
	"universal-transformer/task"
	"universal-transformer/training"
)

// DecodeOptions determines how sources are answered. The zero value is greedy decoding.
type DecodeOptions struct {
	decoding.Method
	MaxLength int   // maximum tokens of an answer; 0: [Model.AnswerLimit]
	MaxSource int   // maximum tokens of a source; 0: DefaultMaxSource
	Memory    int64 // estimated bytes of the caches of one batch; 0: 1 GiB, or a quarter of GOMEMLIMIT if that is less
	// An answer is cut before the first occurrence of a text of Stop. Decoding ends at the token that completes it. A line break in Stop is that of the
	// model's text, which answers show as a space. LogProb is that of all decoded tokens. Not for beam search.
	Stop    []string
	Details bool // Decode adds Answer.Details, for which it runs the model once more over each line and its answer
}

// Limits of decoding.
const (
	DefaultMaxSource = 10_000    // tokens
	MaxTokens        = 1_000_000 // upper bound of MaxLength and MaxSource
)

// Validate returns an error that names the first invalid field.
func (o DecodeOptions) Validate() error {
	switch {
	case o.MaxLength < 0 || o.MaxLength > MaxTokens:
		return maxLengthError(o.MaxLength)
	case o.MaxSource < 0 || o.MaxSource > MaxTokens:
		return fmt.Errorf("MaxSource is %d: give 1 to %d, or 0 for %d", o.MaxSource, MaxTokens, DefaultMaxSource)
	case o.Memory < 0:
		return fmt.Errorf("DecodeOptions.Memory is %d: give at least 1 byte, or 0 for the default", o.Memory)
	case len(o.Stop) > 0 && o.Beam != decoding.Beam{}:
		return fmt.Errorf("both beam search and Stop are requested: choose one")
	case slices.Contains(o.Stop, ""):
		return fmt.Errorf("there is an empty text in Stop")
	}
	return o.Method.Validate()
}

func maxLengthError(tokens int) error {
	return fmt.Errorf("MaxLength is %d: give 1 to %d, or 0 for the default", tokens, MaxTokens)
}

// Check returns an error if a source is longer than MaxSource.
func (o DecodeOptions) Check(in task.Input) error { return checkLength(len(in.Labels), o.MaxSource) }

// checkLength returns a [LengthError] if a text has more than a maximum number of tokens; 0 means DefaultMaxSource.
func checkLength(tokens, maxSource int) error {
	if limit := cmp.Or(maxSource, DefaultMaxSource); tokens > limit {
		return &LengthError{tokens, limit}
	}
	return nil
}

// A LengthError means that a source or a text has more tokens than are allowed.
type LengthError struct {
	Tokens int // that it has
	Limit  int // that it may have
}

func (e *LengthError) Error() string {
	return fmt.Sprintf("%d tokens are more than the limit, %d: shorten the line, or allow more", e.Tokens, e.Limit)
}

// AnswerLimit returns the maximum number of tokens of the answer to a source of the given number of tokens, both with their End: the
// same in decoding and in evaluation, where it does not depend on the reference.
//
//   - Continuations of language models have at most 200 tokens.
//   - A task that knows more than this rule states its limit ([task.Limited]): copy, reverse, addition and memory tasks five
//     quarters of the longest correct answer plus 10, translation twice the source plus 10.
//   - Otherwise an answer has at most four times the source's tokens plus 50, or as many as the longest training target if that is
//     more.
//
// It is never more than [MaxTokens].
func (m *Model) AnswerLimit(source int) int {
	if m.Run.Task.Value.Kind() == task.LanguageModeling {
		return 200
	}
	longest, _ := strconv.Atoi(m.checkpoint.Meta[training.LongestTargetKey]) // 0 for checkpoints of earlier versions
	return answerLimit(m.Run, longest)(source)
}

// answerLimit returns the limit of the length of answers of a run whose longest training target has the given number of tokens.
func answerLimit(r experiment.Run, longestTarget int) func(source int) int {
	limit := func(source int) int { return max(evaluation.SourceLimit(source), longestTarget) }
	if limited, ok := r.Task.Value.(task.Limited); ok {
		limit = limited.AnswerLimit
	}
	end := 0
	if r.SourceEnd {
		end = 1 // which is not part of what people write
	}
	return func(source int) int { return min(limit(source-end), MaxTokens) }
}

// Answer is the answer to one line.
type Answer struct {
	Text     string
	Err      error    // the reason why this line has no answer, or nil
	Unknown  []string // tokens of the line that were read as <unknown>
	LogProb  float64  // natural logarithm of the answer's probability, including its end
	Score    float64  // by which answers of a beam search are ranked; otherwise LogProb
	Finished bool     // false: cut off at the maximum length
	Others   []Answer // further answers of a beam search, the best first
	Details  *Details // nil unless requested

	tokens []vocab.ID
}

// Tokens returns the number of tokens of the answer, without its end.
func (a Answer) Tokens() int { return len(answered(a.tokens)) }

// Decode answers lines of text; a language model continues them. It returns an error that concerns all lines: invalid options, a model that
// does not generate sequences, or a context that has ended.
func (m *Model) Decode(ctx context.Context, lines []string, o DecodeOptions) ([]Answer, error) {
	answers, queries, at, err := m.queries(lines, o)
	if err != nil {
		return nil, err
	}
	found, errs, err := m.queue.Answer(queue.Request{Context: ctx, Method: o.Method, Memory: o.Memory, Queries: queries})
	if err != nil {
		return nil, err
	}
	for i, h := range found {
		answers[at[i]] = m.answer(h, answers[at[i]].Unknown, errs[i], o.Stop)
	}
	if o.Details {
		return answers, m.detail(ctx, lines, answers)
	}
	return answers, nil
}

// answer returns what was decoded for a line, or why nothing was.
func (m *Model) answer(h decoding.Hypothesis, unknown []string, err error, stops []string) Answer {
	a := m.spellAnswer(h)
	m.cut(&a, stops)
	a.Unknown, a.Err = unknown, err
	return a
}

// spellAnswer turns a decoded sequence and its alternatives into text.
func (m *Model) spellAnswer(h decoding.Hypothesis) Answer {
	a := Answer{Text: m.text(h.Tokens), LogProb: h.LogProb, Score: h.Score, Finished: h.Finished, tokens: h.Tokens}
	for _, other := range h.Others {
		a.Others = append(a.Others, m.spellAnswer(other))
	}
	return a
}

// LineError is the error of one of several lines.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns e.Err.
func (e *LineError) Unwrap() error { return e.Err }

// LineErrors holds the errors of some of several lines, in the order of the lines.
type LineErrors []*LineError

func (e LineErrors) Error() string {
	if len(e) == 1 {
		return e[0].Error()
	}
	return fmt.Sprintf("%v (and %d more lines without an answer)", e[0], len(e)-1)
}

// Unwrap returns all errors.
func (e LineErrors) Unwrap() (errs []error) {
	for _, one := range e {
		errs = append(errs, one)
	}
	return errs
}

// Stream writes the answers to lines of text, one per line and in order, token by token as the model generates them. Sequences are decoded
// together, so answers after the first unfinished one wait for it. If ctx ends, so does the output: its last line may be a part of an
// answer, without a line break. Nothing is written after Stream has returned. It returns the answers as Decode does. Lines without an
// answer are written empty, and Stream returns [LineErrors] at the end. It cannot return details.
func (m *Model) Stream(ctx context.Context, w io.Writer, lines []string, o DecodeOptions) ([]Answer, error) {
	answers, err := m.StreamTokens(ctx, w, lines, o, nil)
	if err != nil {
		return nil, err
	}
	return answers, lineErrors(answers)
}

// StreamTokens is like Stream, but returns errors of lines in their answers only, and calls watch with each token of each line as soon as it is
// chosen, after writing what is complete. Tokens of different lines come in any order. watch may be nil.
func (m *Model) StreamTokens(ctx context.Context, w io.Writer, lines []string, o DecodeOptions, watch func(line int, t Token)) ([]Answer, error) {
	if o.Details {
		return nil, errors.New("DecodeOptions.Details is set, but a stream has no details: use Decode")
	}
	answers, queries, at, err := m.queries(lines, o)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var begins func(vocab.ID) bool
	if m.Vocabularies.Subwords != nil {
		begins = m.Vocabularies.Subwords.Begins
	}
	s := answerstream.New(w, m.Vocabularies.TargetText, begins, len(lines), cancel)
	s.Stops = o.Stop
	for i, a := range answers {
		s.Failed[i] = a.Err != nil
	}
	for i, q := range queries {
		s.Limits[at[i]] = q.Limit
	}
	add := func(source int, token vocab.ID) { s.Add(at[source], token) }
	if watch != nil {
		add = m.watched(s, queries, at, watch)
	}
	found, errs, err := m.queue.Answer(queue.Request{Context: ctx, Method: o.Method, Memory: o.Memory, Queries: queries, Watch: add})
	if err := s.Err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	for i, h := range found {
		s.Tokens[at[i]] = h.Tokens
		answers[at[i]] = m.answer(h, answers[at[i]].Unknown, errs[i], o.Stop)
	}
	return answers, s.Rest()
}

// lineErrors returns the errors of answers, or nil if there are none.
func lineErrors(answers []Answer) error {
	var failed LineErrors
	for i, a := range answers {
		if a.Err != nil {
			failed = append(failed, &LineError{i + 1, a.Err})
		}
	}
	if len(failed) > 0 {
		return failed
	}
	return nil
}

// queries reads lines. Lines that can be read become queries, whose line indices are at; the answers of the other lines hold their errors.
func (m *Model) queries(lines []string, o DecodeOptions) (answers []Answer, queries []decoding.Query, at []int, err error) {
	if err := o.Validate(); err != nil {
		return nil, nil, nil, err
	}
	if err := m.CanDecode(); err != nil {
		return nil, nil, nil, err
	}
	answers = make([]Answer, len(lines))
	for i, line := range lines {
		in, err := m.readUpTo(line, o.MaxSource)
		if answers[i] = (Answer{Unknown: in.Unknown, Err: err}); err == nil {
			queries = append(queries, decoding.Query{
				Source: in.Source, Limit: cmp.Or(o.MaxLength, m.AnswerLimit(len(in.Source))), Number: int64(i), Ends: m.ends(o.Stop),
			})
			at = append(at, i)
		}
	}
	return answers, queries, at, nil
}

// decoding returns the decoder, which keeps its compiled graphs. The caller must have exclusive use of the model.
func (m *Model) decoding() (d *decoding.Decoder, err error) {
	if m.decoder != nil {
		return m.decoder, nil
	}
	graph, decodes := m.graph.(decoding.Model)
	if !decodes {
		return nil, fmt.Errorf("a model of type %T does not generate sequences", m.graph)
	}
	m.decoder, err = decoding.New(m.backend, m.store, graph)
	return m.decoder, err
}
