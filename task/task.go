// Package task defines where examples come from and how answers are measured.
//
// A [Definition] is a task as a configuration specifies it; its method Open reads the data. The opened [Task] provides examples,
// which are pairs of source and target ids. They are a pure function of a seed and an index: the i-th training example is always the
// same, so resuming a run only requires the next index. A [Selection] chooses held-out examples for validation and testing. A
// [Reader] reads user input and files of the task's format. An [Aligned] definition knows which source tokens each token of an answer
// depends on.
//
// A [Measure] evaluates a [Model] on examples: token and sequence accuracy ([DecodedAccuracy], [ForcedAccuracy]), class accuracy
// ([ClassAccuracy]), [Perplexity], [DecodedBLEU], or a task's own. A [WholeSetMeasure] needs all examples of a test set.
//
// The tasks are in the packages below: algorithmic (copy, reverse, addition), babi (question answering), execute (learning to
// execute), agreement (subject-verb agreement), lambada (last words of passages), translation (parallel files), table (a user's own
// pairs), labels (texts with labels), tags (a tag for each word), text (a user's own text, for language models) and generated (examples
// that a function draws). Package tasktest tests every implementation of [Task]. Tasks know tokens, not batches (package internal/batch)
// or tensors (package training).
package task

import (
	"fmt"

	"universal-transformer/internal/vocab"
	"universal-transformer/subword"
)

// An Example is one pair. If answers are sequences, Target ends with vocab.End; if they are classes ([Classification]), it is one id;
// segments of a continuous text have no End. Source has no End unless the task says so, and is empty for language models. If a position
// of the source has several tokens, as in bAbI, shorter positions are padded at their end.
type Example struct {
	Source, Target []vocab.ID
	Origin         any // what the task made the example from, for measures that need more than ids; models do not read it
}

// Readable is an Origin that can spell out words that are not in the vocabulary.
type Readable interface {
	Text() (source, target string)
}

// A Task is a source of examples. Package task/tasktest checks implementations against this contract.
type Task interface {
	// Name returns the task's name in reports.
	Name() string
	// Vocabularies returns the meaning of the ids.
	Vocabularies() Vocabularies
	// Training returns the i-th example, i >= 0, of the endless training stream of seed: same arguments, same example. The caller owns
	// the example. Safe for concurrent use. It panics with an [ExampleError] if there is no such example.
	Training(seed uint64, i int64) Example
	// HeldOut returns validation or test examples, drawn independently of all training streams. A smaller Count gives a prefix of a
	// larger one; all examples, Count 0, may be in another order.
	HeldOut(seed uint64, s Selection) ([]Example, error)
	// MaxLengths returns the longest source and target of any training example, including End.
	MaxLengths() (source, target int)
	// Notes returns lines to show before training: what the data contain and what was skipped.
	Notes() []string
}

// Vocabularies defines the meaning of ids. It is stored as vocabulary.json in a run directory.
type Vocabularies struct {
	Tokenizer         vocab.Tokenizer   `json:"tokenizer"`                  // how a line of text is split into tokens
	Subwords          *subword.Pieces   `json:"-"`                          // the subwords, if Tokenizer is Subwords; a run directory keeps their file as tokenizer.json
	TokenizerDigest   string            `json:"tokenizer_sha256,omitempty"` // SHA-256 of that file
	Source            *vocab.Vocabulary `json:"source"`
	Target            *vocab.Vocabulary `json:"target"`
	TokensPerPosition int               `json:"tokens_per_position,omitempty"` // ids at each position of a source; 0 means 1
}

// Equal reports whether both give every token the same id.
func (v Vocabularies) Equal(other Vocabularies) bool {
	return v.Tokenizer == other.Tokenizer && v.TokenizerDigest == other.TokenizerDigest && v.Source.Equal(other.Source) && v.Target.Equal(other.Target) && v.Positions() == other.Positions()
}

// Positions returns TokensPerPosition, at least 1.
func (v Vocabularies) Positions() int { return max(v.TokensPerPosition, 1) }

// SourceSize returns the number of ids of sources, 0 if there are none.
func (v Vocabularies) SourceSize() int {
	if v.Source == nil {
		return 0
	}
	return v.Source.Size()
}

// Text returns an example as text: source and target, one line each.
func (v Vocabularies) Text(e Example) (source, target string) {
	if v.Source != nil {
		source = v.join(v.Source, WithoutEnd(e.Source))
	}
	return source, v.TargetText(e.Target)
}

// OfPieces returns vocabularies in which sources and targets are split into the same subwords.
func OfPieces(p *subword.Pieces) Vocabularies {
	return Vocabularies{Tokenizer: vocab.Subwords, Subwords: p, TokenizerDigest: p.Digest(), Source: p.Vocabulary(), Target: p.Vocabulary()}
}

// Split splits a line of text into tokens.
func (v Vocabularies) Split(line string) ([]string, error) {
	if v.Subwords != nil {
		return v.Subwords.Split(line)
	}
	return v.Tokenizer.Split(line)
}

// TargetText returns the text of a target up to its End.
func (v Vocabularies) TargetText(ids []vocab.ID) string { return v.join(v.Target, ids) }

func (v Vocabularies) join(of *vocab.Vocabulary, ids []vocab.ID) string {
	if v.Subwords != nil && (of == v.Subwords.Vocabulary() || of.Equal(v.Subwords.Vocabulary())) { // classes are no subwords
		return v.Subwords.Text(ids)
	}
	return v.Tokenizer.Join(of.Decode(ids))
}

// A Selection specifies held-out examples. At most one of Length and Mix is set; with neither, lengths are as in training. Tasks that are
// read from files reject both, and Hard: [Selection.ValidateOfFile].
type Selection struct {
	// Validation selects validation examples, which are disjoint from the test examples.
	Validation bool `json:"validation,omitempty"`

	Length int `json:"length,omitempty"` // source tokens: exactly this many
	Mix    int `json:"mix,omitempty"`    // source tokens: a uniform mix of 1..Mix
	From   int `json:"from,omitempty"`   // with Mix: a uniform mix of From..Mix; 0 means 1
	Count  int `json:"count,omitempty"`  // number of examples; 0 means all, or the task's default

	// Hard selects hard cases for every second example, the task's kinds in turn. Tasks without hard cases reject it.
	Hard bool `json:"hard,omitempty"`
}

// Limits of what can be drawn at once, far above any evaluation.
const (
	MaxExamples = 1_000_000
	maxLength   = 1_000_000
	maxTokens   = 100_000_000 // of all examples together
)

// A SelectionError is the error for a field of a selection, whose JSON name it begins with.
type SelectionError struct {
	Field   string
	Problem string // "is 7: it must ..."
}

func (e *SelectionError) Error() string { return e.Field + " " + e.Problem }

// wrong returns the error for a field.
func wrong(field, format string, args ...any) error {
	return &SelectionError{field, fmt.Sprintf(format, args...)}
}

// Validate returns a [SelectionError] for the first field out of range.
func (s Selection) Validate() error {
	switch {
	case s.Length > maxLength:
		return wrong("length", "is %d: it must be at most %d", s.Length, maxLength)
	case s.Mix > maxLength:
		return wrong("mix", "is %d: it must be at most %d", s.Mix, maxLength)
	case s.Length < 0:
		return wrong("length", "is %d: it must be positive, or 0 for lengths as in training", s.Length)
	case s.Mix < 0:
		return wrong("mix", "is %d: it must be positive, or 0 for lengths as in training", s.Mix)
	case s.From < 0:
		return wrong("from", "is %d: it must be positive, or 0 for 1", s.From)
	case s.From > s.Mix:
		return wrong("from", "is %d and mix is %d: lengths go from the first to the second", s.From, s.Mix)
	case s.Count < 0:
		return wrong("count", "is %d: it must be positive, or 0 for all", s.Count)
	case s.Count > MaxExamples:
		return wrong("count", "is %d: it must be at most %d", s.Count, MaxExamples)
	case s.Length > 0 && s.Mix > 0:
		return wrong("length", "is %d and mix is %d: give only one of them", s.Length, s.Mix)
	}
	return nil
}

// ValidateSize rejects numbers of examples that would need too much memory at their length.
func ValidateSize(count, length int) error {
	switch {
	case count > MaxExamples:
		return fmt.Errorf("count is %d: it must be at most %d", count, MaxExamples)
	case count > maxTokens/max(length, 1):
		return fmt.Errorf("%d examples of up to %d tokens are more than %d tokens: lower count or the length", count, length, maxTokens)
	}
	return nil
}

// ValidateOfFile is like Validate, for tasks that read their examples from files and therefore have no choice of lengths.
func (s Selection) ValidateOfFile() error {
	if err := s.Validate(); err != nil {
		return err
	}
	const why = "the lengths of this task are those of its files: leave it out"
	switch {
	case s.Length > 0:
		return wrong("length", "is %d, but %s", s.Length, why)
	case s.Mix > 0:
		return wrong("mix", "is %d, but %s", s.Mix, why)
	}
	return s.RejectHard()
}

// RejectHard returns the [SelectionError] of a task that has no hard cases.
func (s Selection) RejectHard() error {
	if s.Hard {
		return wrong("hard", "is true, but this task has no hard cases: leave it out")
	}
	return nil
}

// TestSeed is the seed of test examples. They are the same in every run of a task, whatever the seed of the run.
const TestSeed = 1

// String returns "length 40", "lengths 1..40" or "lengths as in training", followed by ", half of them hard cases" if they are.
func (s Selection) String() string {
	lengths := "lengths as in training"
	switch {
	case s.Length > 0:
		lengths = fmt.Sprintf("length %d", s.Length)
	case s.Mix > 0:
		lengths = fmt.Sprintf("lengths %d..%d", max(s.From, 1), s.Mix)
	}
	if s.Hard {
		lengths += ", half of them hard cases"
	}
	return lengths
}

// A Case is a named set of examples that test one difficulty.
type Case struct {
	Name     string
	Examples []Example
}
