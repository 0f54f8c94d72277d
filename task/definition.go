package task

import (
	"fmt"

	"universal-transformer/vocab"
)

// A Definition is a task as a configuration names it. Its fields are JSON; those that name files have the tag `file:"..."`, by
// which the identity of a configuration leaves out where they lie: "name" keeps the file's own name, "any" nothing.
type Definition interface {
	// Kind says what its answers are, and so which models can learn it.
	Kind() Kind
	// Validate names the field that is missing or out of range, its value, and what would do. It opens no file.
	Validate() error
	// Open reads the task's data.
	Open() (Task, error)
	// Reader reads what people write for a model that was trained with these vocabularies.
	Reader(Vocabularies) Reader
	// Measure says how its answers are scored.
	Measure(Vocabularies) Measure
	// String is what reports and traces call the task.
	String() string
}

// Aligned is a Definition that knows which source tokens the tokens of an answer are made of.
type Aligned interface {
	// Align says so of a right answer with so many places, End included.
	Align(source []string, places int) []Alignment
}

// An Alignment is one thing that every token of an answer is made of.
type Alignment struct {
	Name   string // "the digit of the first number"
	Source []int  // its place in the source, from 0, for each place of the answer; -1: nothing is needed there
}

// A Kind says what a task's answers are.
type Kind int

// The kinds of tasks.
const (
	Transduction     Kind = iota // a source gives a target, token by token
	Classification               // a source gives one of some classes
	LanguageModeling             // a text goes on: there is no source
)

func (k Kind) String() string {
	return [...]string{"sequences from sequences", "classes", "how a text goes on"}[k]
}

// A Reader reads what people write.
type Reader interface {
	// Read makes a source of one line, or one story, of text. What the model cannot read is an error.
	Read(text string) (Input, error)
	// Target makes a target of one line of text, which ends as targets of the task do.
	Target(text string) ([]vocab.ID, error)
	// File reads the examples of a file of the task's format. Notes say what was left out.
	File(path string) (examples []Example, notes []string, err error)
}

// An Input is what was read.
type Input struct {
	Source  []vocab.ID
	Labels  []string // what stands at each position, for people
	Unknown []string // tokens that the vocabulary does not have and that were read as <unknown>
}

// LineReader reads lines of text: one line is one source. FileOf reads files.
type LineReader struct {
	Vocabularies
	Name   string // of what a line is, in messages: Source, or Prompt, which may be empty
	Open   bool   // targets have no End: pieces of a text that goes on
	FileOf func(path string) ([]Example, []string, error)
}

// File is r.FileOf.
func (r LineReader) File(path string) ([]Example, []string, error) { return r.FileOf(path) }

// Read splits a line into tokens. Those that the vocabulary does not have are an error, unless it has one for unknown ones.
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

// Target splits a line into tokens, and adds an End.
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

// What a line of a LineReader is.
const (
	Source = "source"
	Prompt = "prompt" // of a language model: its ids are the target's
)
