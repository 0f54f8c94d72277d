package task

import (
	"slices"

	"universal-transformer/vocab"
)

// WithSourceEnd is a task whose sources end in End, as in the authors' code: a token that tells where the source is over, which
// lengths do not count.
func WithSourceEnd(t Task) Task { return sourceEnded{t} }

type sourceEnded struct{ Task }

// Training is the i-th example, with End.
func (t sourceEnded) Training(seed uint64, i int64) Example {
	return withEnd(t.Task.Training(seed, i))
}

// HeldOut is examples, with End.
func (t sourceEnded) HeldOut(seed uint64, s Selection) ([]Example, error) {
	examples, err := t.Task.HeldOut(seed, s)
	return WithEnds(examples), err
}

// MaxLengths counts the End of sources.
func (t sourceEnded) MaxLengths() (source, target int) {
	source, target = t.Task.MaxLengths()
	return source + 1, target
}

// ReaderWithSourceEnd reads what r reads, and ends sources in End.
func ReaderWithSourceEnd(r Reader) Reader { return sourceEndedReader{r} }

type sourceEndedReader struct{ Reader }

// Read makes a source with End.
func (r sourceEndedReader) Read(text string) (Input, error) {
	in, err := r.Reader.Read(text)
	if err != nil {
		return in, err
	}
	in.Source, in.Labels = append(slices.Clip(in.Source), vocab.End), append(slices.Clip(in.Labels), vocab.EndToken)
	return in, nil
}

// File reads examples, with End.
func (r sourceEndedReader) File(path string) ([]Example, []string, error) {
	examples, notes, err := r.Reader.File(path)
	return WithEnds(examples), notes, err
}

func withEnd(e Example) Example {
	e.Source = append(slices.Clip(e.Source), vocab.End)
	return e
}

// WithEnds is examples whose sources end in End, as those of [WithSourceEnd] do.
func WithEnds(examples []Example) []Example {
	ended := make([]Example, len(examples))
	for i, e := range examples {
		ended[i] = withEnd(e)
	}
	return ended
}

// WithoutEnd is a source without its End, if it has one.
func WithoutEnd(source []vocab.ID) []vocab.ID {
	if n := len(source); n > 0 && source[n-1] == vocab.End {
		return source[:n-1]
	}
	return source
}
