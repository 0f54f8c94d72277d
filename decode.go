package ut

import (
	"cmp"
	"context"
	"io"

	"universal-transformer/decoding"
	"universal-transformer/pipeline"
)

// Answer is the answer to one input.
type Answer struct {
	Text         string
	Err          error         // why this input has no answer; other inputs are not affected
	Unknown      []string      // tokens of the input that the model does not know and reads as <unknown>
	LogProb      float64       // of Text and its end, natural logarithm
	Finished     bool          // false: the answer was cut off at its largest length
	Alternatives []Alternative // further answers of beam search, often none unless Beam.Best asks for them; the best first
	Details      *Details      // nil unless DecodeOptions.Details asks for them, and for an answer without tokens
}

// Alternative is another answer to the same input. It is finished if the first answer is, and cut off if that is.
type Alternative struct {
	Text     string
	LogProb  float64
	Finished bool // false: it was cut off at its largest length
}

// DecodeOptions determines how answers are searched for. The zero value is greedy decoding.
type DecodeOptions struct {
	Beam      Beam     // beam search, unless it is zero
	Sampling  Sampling // sampling, unless it is zero; with a temperature, a TopP of 0 means all tokens, too
	Seed      uint64   // of sampling
	First     int64    // number of the first input: input i is sampled with the random numbers of Seed and First + i
	MaxLength int      // tokens of an answer; 0: enough for the task
	MaxSource int      // tokens of an input, longer ones are errors; 0: as in LoadOptions
	Stop      []string // texts before which an answer is cut; not for beam search
	Details   bool     // Decode returns Answer.Details, for which the model runs once more over each input and its answer; Stream has none
	Memory    int64    // bytes, estimated, of the caches of what is decoded at a time; 0: 1 GiB, or a quarter of GOMEMLIMIT if that is less
}

func (m *Model) options(o DecodeOptions) pipeline.DecodeOptions {
	if o.Sampling.Temperature != 0 && o.Sampling.TopP == 0 {
		o.Sampling.TopP = 1
	}
	return pipeline.DecodeOptions{
		Method:    decoding.Method{Beam: o.Beam, Sampling: o.Sampling, Seed: o.Seed, First: o.First},
		MaxLength: o.MaxLength, MaxSource: cmp.Or(o.MaxSource, m.maxSource), Stop: o.Stop, Details: o.Details, Memory: o.Memory,
	}
}

// Decode answers each input; a language model continues it. An input that cannot be answered has an Err of its own. The error that is
// returned concerns the whole call: invalid options, a model that answers with classes, or a context that ended.
func (m *Model) Decode(ctx context.Context, inputs []string, o DecodeOptions) ([]Answer, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	found, err := m.model.Decode(ctx, inputs, m.options(o))
	if err != nil {
		return nil, err
	}
	return answersOf(found), nil
}

func answersOf(found []pipeline.Answer) []Answer {
	answers := make([]Answer, len(found))
	for i, a := range found {
		answers[i] = Answer{Text: a.Text, Err: a.Err, Unknown: a.Unknown, LogProb: a.LogProb, Finished: a.Finished, Details: a.Details}
		for _, other := range a.Others {
			answers[i].Alternatives = append(answers[i].Alternatives, Alternative{other.Text, other.LogProb, other.Finished})
		}
	}
	return answers
}

// Stream writes the answers to inputs, one per line and in order, token by token as they are generated, and returns them as Decode does. An
// input that cannot be answered gets an empty line, and Stream also returns [LineErrors]. If ctx ends, the last line that was written may
// be a part of an answer; it has no line break.
func (m *Model) Stream(ctx context.Context, w io.Writer, inputs []string, o DecodeOptions) ([]Answer, error) {
	if err := m.begin(); err != nil {
		return nil, err
	}
	defer m.calls.Done()
	found, err := m.model.Stream(ctx, w, inputs, m.options(o))
	return answersOf(found), err
}
