package task

import (
	"errors"
	"fmt"
	"io/fs"

	"universal-transformer/internal/vocab"
)

// A Definition is a task as specified in a configuration. Its fields are JSON; fields that name files have the tag `file:"..."`, which
// determines how much of the path is part of the configuration's identity: "name" is the base name, "any" nothing. With the tag
// `inside:"Path"`, they name files in the folder or archive of the definition's field Path, unless that is empty.
type Definition interface {
	// Kind returns the kind of answers, which determines the models that can be trained.
	Kind() Kind
	// Validate returns an error that names the first missing or invalid field, its value, and valid values. It opens no file.
	Validate() error
	// Open reads the task's data.
	Open() (Task, error)
	// Reader returns a reader of user input for a model that was trained with these vocabularies.
	Reader(Vocabularies) Reader
	// Measure returns how answers are scored.
	Measure(Vocabularies) Measure
	// String returns the task's name in reports and traces.
	String() string
}

// A MissingDataError means that files of a public data set are missing, or that no path names them.
type MissingDataError struct {
	Set string // the name of the data set: "babi"
	Err error  // what is missing
}

func (e *MissingDataError) Error() string { return e.Err.Error() }

// Unwrap returns what is missing.
func (e *MissingDataError) Unwrap() error { return e.Err }

// OfDataSet returns a [MissingDataError] for an error that says that a file of a public data set does not exist, and any other error as it is.
func OfDataSet(set string, err error) error {
	if known := new(MissingDataError); !errors.Is(err, fs.ErrNotExist) || errors.As(err, &known) {
		return err
	}
	return &MissingDataError{Set: set, Err: err}
}

// Aligned is a Definition that knows which source tokens each token of an answer depends on.
type Aligned interface {
	// Align returns the alignments of the correct answer, which has the given number of tokens, including End.
	Align(source []string, places int) []Alignment
}

// Reopener is a Definition that makes vocabularies from its data. It is an interface of its own because tasks that are generated,
// and data sets that do not change, need none.
type Reopener interface {
	// OpenWith is like Open, with the vocabularies of a run that was trained on an earlier state of the data. Tokens that they do not have become
	// <unknown>; a label or a tag that they do not have is an error.
	OpenWith(Vocabularies) (Task, error)
}

// Subworded is a Definition whose text is cut into subwords.
type Subworded interface {
	// Subwords returns the size of the subword vocabulary; 0 if only the data tell.
	Subwords() int
}

// Limited is a Definition that knows how long an answer to a source may get.
type Limited interface {
	// AnswerLimit returns the maximum number of tokens of an answer, End included, to a source with the given number of tokens, without
	// an End.
	AnswerLimit(source int) int
}

// An Alignment maps every token of an answer to one source token it depends on.
type Alignment struct {
	Name   string // what the token depends on, such as "the digit of the first number"
	Source []int  // position in the source, from 0, for each position of the answer; -1 if the token depends on none
}

// A Kind is the kind of a task's answers.
type Kind int

// The kinds of tasks.
const (
	Transduction     Kind = iota // a source is mapped to a target, token by token
	Classification               // a source is mapped to one of several classes
	LanguageModeling             // a text is continued; there is no source
	Tagging                      // every position of a source is mapped to one of several classes
)

func (k Kind) String() string {
	return [...]string{"transduction of sequences", "classes", "language modelling", "a class for each position"}[k]
}

// Question is the token between the context and the question, in sources that have both. Models that answer with a word of the context
// find its end there.
const Question = "<question>"

// A Reader reads user input.
type Reader interface {
	// Read converts one line, or one story, of text to a source. Text that the model cannot read is an error.
	Read(text string) (Input, error)
	// Target converts one line of text to a target, with End if the task's targets have it.
	Target(text string) ([]vocab.ID, error)
	// File reads the examples of a file in the task's format. Notes say what was skipped.
	File(path string) (examples []Example, notes []string, err error)
}

// An Input is a source and how it was read.
type Input struct {
	Source  []vocab.ID
	Labels  []string   // label of each position for display
	Unknown []string   // tokens that are not in the vocabulary and were read as <unknown>
	Answer  []vocab.ID // the correct target, where the task knows it; otherwise nil
}

// LineReader reads text in which every line is one source. FileOf reads files.
type LineReader struct {
	Vocabularies
	Name   string // what messages call a line: Source, or Prompt, which may be empty
	Open   bool   // targets have no End: they are segments of a longer text
	FileOf func(path string) ([]Example, []string, error)
}

// File calls r.FileOf.
func (r LineReader) File(path string) ([]Example, []string, error) { return r.FileOf(path) }

// Read splits a line into tokens. Tokens outside the vocabulary are an error unless it has an unknown token.
func (r LineReader) Read(line string) (in Input, err error) {
	v := r.Vocabularies.Source
	if r.Name == Prompt {
		v = r.Vocabularies.Target
	}
	if in.Labels, err = r.Split(line); err != nil {
		return in, err
	}
	if len(in.Labels) == 0 && r.Name != Prompt {
		return in, fmt.Errorf("the %s is empty", r.Name)
	}
	if !v.HasUnknown() {
		in.Source, err = v.Encode(in.Labels)
		return in, err
	}
	in.Source, _ = v.EncodeLossy(in.Labels)
	for _, token := range in.Labels {
		if _, known := v.ID(token); !known {
			in.Unknown = append(in.Unknown, token)
		}
	}
	return in, nil
}

// Target splits a line into tokens and adds End.
func (r LineReader) Target(line string) ([]vocab.ID, error) {
	tokens, err := r.Split(line)
	if err != nil {
		return nil, err
	}
	var ids []vocab.ID
	if v := r.Vocabularies.Target; v.HasUnknown() {
		ids, _ = v.EncodeLossy(tokens)
	} else if ids, err = v.Encode(tokens); err != nil {
		return nil, err
	}
	switch {
	case !r.Open:
		ids = append(ids, vocab.End)
	case len(ids) == 0:
		return nil, fmt.Errorf("the text is empty")
	}
	return ids, nil
}

// Values of LineReader.Name.
const (
	Source = "source"
	Prompt = "prompt" // of a language model: its ids belong to the target
)
