package task

import (
	"slices"

	"universal-transformer/internal/vocab"
)

// WithSourceEnd returns a task whose sources end with the token End, as in the authors' code. End does not count in lengths. The result is a
// [Digester] if t is one.
func WithSourceEnd(t Task) Task {
	if reads, ok := t.(Digester); ok {
		return struct {
			sourceEnded
			Digester
		}{sourceEnded{t}, reads}
	}
	return sourceEnded{t}
}

type sourceEnded struct{ Task }

// Training returns the i-th example, with End.
func (t sourceEnded) Training(seed uint64, i int64) Example {
	return withEnd(t.Task.Training(seed, i))
}

// HeldOut returns examples with End.
func (t sourceEnded) HeldOut(seed uint64, s Selection) ([]Example, error) {
	examples, err := t.Task.HeldOut(seed, s)
	return WithEnds(examples), err
}

// MaxLengths includes the End of sources.
func (t sourceEnded) MaxLengths() (source, target int) {
	source, target = t.Task.MaxLengths()
	return source + 1, target
}

// ReaderWithSourceEnd returns a reader that appends End to the sources of r.
func ReaderWithSourceEnd(r Reader) Reader { return sourceEndedReader{r} }

type sourceEndedReader struct{ Reader }

// Read returns a source with End.
func (r sourceEndedReader) Read(text string) (Input, error) {
	in, err := r.Reader.Read(text)
	if err != nil {
		return in, err
	}
	in.Source, in.Labels = append(slices.Clip(in.Source), vocab.End), append(slices.Clip(in.Labels), vocab.EndToken)
	return in, nil
}

// File returns examples with End.
func (r sourceEndedReader) File(path string) ([]Example, []string, error) {
	examples, notes, err := r.Reader.File(path)
	return WithEnds(examples), notes, err
}

func withEnd(e Example) Example {
	e.Source = append(slices.Clip(e.Source), vocab.End)
	return e
}

// WithEnds appends End to the sources of examples, as [WithSourceEnd] does.
func WithEnds(examples []Example) []Example {
	ended := make([]Example, len(examples))
	for i, e := range examples {
		ended[i] = withEnd(e)
	}
	return ended
}

// WithoutEnd returns a source without its End, if it has one.
func WithoutEnd(source []vocab.ID) []vocab.ID {
	if n := len(source); n > 0 && source[n-1] == vocab.End {
		return source[:n-1]
	}
	return source
}
