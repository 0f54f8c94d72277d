package pipeline

import (
	"context"
	"fmt"
	"io"

	"universal-transformer/decoding"
	"universal-transformer/task"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// DecodeOptions says how sources are answered. The zero value is greedy decoding.
type DecodeOptions struct {
	decoding.Method
	MaxLength int // tokens of an answer; 0: four times as many as its source has, and 50 more, or 200 of a language model
}

// Validate names the field that makes no sense.
func (o DecodeOptions) Validate() error {
	if o.MaxLength < 0 {
		return fmt.Errorf("max-length is %d: give at least 1, or 0 for four times the source and 50 more", o.MaxLength)
	}
	return o.Method.Validate()
}

// limit is how many tokens the answer to a source may have.
func (m *Model) limit(o DecodeOptions, source []vocab.ID) int {
	switch {
	case o.MaxLength > 0:
		return o.MaxLength
	case m.Run.Task.Value.Kind() == task.LanguageModeling:
		return 200
	}
	return 4*len(source) + 50
}

// Decode answers lines of text: sources are answered, and prompts of a language model go on.
func (m *Model) Decode(ctx context.Context, lines []string, o DecodeOptions) ([]string, error) {
	found, _, err := m.decode(ctx, lines, o, nil)
	answers := make([]string, len(found))
	for i, h := range found {
		answers[i] = m.text(h.Tokens)
	}
	return answers, err
}

// Stream writes the answers to lines of text, each on a line of its own and in their order, token by token as the model chooses
// them. Sequences are decoded together, so those behind the first unfinished one wait for it. If ctx ends, so does the answer.
func (m *Model) Stream(ctx context.Context, w io.Writer, lines []string, o DecodeOptions) error {
	s := stream{w: w, text: m.text, found: make([][]vocab.ID, len(lines))}
	found, limits, err := m.decode(ctx, lines, o, func(limits []int) func(int, vocab.ID) {
		s.limits = limits
		return s.chosen
	})
	if err != nil {
		s.broken()
		return err
	}
	s.limits = limits
	for i, h := range found {
		s.found[i] = h.Tokens
	}
	return s.rest()
}

// decode reads and decodes lines; watch, if not nil, gives what is told of every token when the limits are known.
func (m *Model) decode(ctx context.Context, lines []string, o DecodeOptions, watch func(limits []int) func(int, vocab.ID)) ([]decoding.Hypothesis, []int, error) {
	if err := o.Validate(); err != nil {
		return nil, nil, err
	}
	sources, limits := make([][]vocab.ID, len(lines)), make([]int, len(lines))
	for i, line := range lines {
		in, err := m.Read(line)
		if err != nil {
			return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		sources[i], limits[i] = in.Source, m.limit(o, in.Source)
	}
	d, err := m.decoding()
	if err != nil {
		return nil, nil, err
	}
	var chosen func(int, vocab.ID)
	if watch != nil {
		chosen = watch(limits)
	}
	found, err := d.Decode(ctx, sources, limits, o.Method, chosen)
	return found, limits, err
}

// decoding gives the decoder, which keeps what it has compiled.
func (m *Model) decoding() (d *decoding.Decoder, err error) {
	if m.decoder != nil {
		return m.decoder, nil
	}
	switch graph := m.Graph.(type) {
	case universal.EncoderDecoder:
		m.decoder, err = decoding.New(m.Backend, m.Store, graph)
	case universal.Decoder:
		m.decoder, err = decoding.NewLanguage(m.Backend, m.Store, graph)
	default:
		return nil, fmt.Errorf("%s answers with a class and decodes nothing: use ut answer", m.Dir())
	}
	return m.decoder, err
}

// text turns decoded ids into a line.
func (m *Model) text(ids []vocab.ID) string {
	return m.Vocabularies.Tokenizer.Join(m.Vocabularies.Target.Decode(ids))
}

// stream writes answers in order while they are found.
type stream struct {
	w      io.Writer
	text   func([]vocab.ID) string
	found  [][]vocab.ID // of each line, so far
	limits []int
	at     int // the line that is being written
	done   int // tokens of it that are
	err    error
}

// chosen takes a token of a line and writes what can be written by now.
func (s *stream) chosen(line int, token vocab.ID) {
	s.found[line] = append(s.found[line], token)
	for s.at < len(s.found) && s.write() {
		s.end()
	}
}

// write brings the present line up to date and tells whether it is complete. What a token adds to a text depends on the token
// before it only: there may be space in between.
func (s *stream) write() bool {
	tokens := s.found[s.at]
	for ; s.done < len(tokens); s.done++ {
		before := tokens[max(0, s.done-1):s.done]
		s.print(s.text(tokens[s.done-len(before) : s.done+1])[len(s.text(before)):])
	}
	return s.done > 0 && (tokens[s.done-1] == vocab.End || s.done == s.limits[s.at])
}

// end ends the present line.
func (s *stream) end() {
	s.print("\n")
	s.at, s.done = s.at+1, 0
}

// rest writes all that is not written yet.
func (s *stream) rest() error {
	for s.at < len(s.found) {
		s.write()
		s.end()
	}
	return s.err
}

// broken ends a line that will not be completed.
func (s *stream) broken() {
	if s.done > 0 {
		s.print("\n")
	}
}

func (s *stream) print(text string) {
	if s.err == nil && text != "" {
		_, s.err = io.WriteString(s.w, text)
	}
}
