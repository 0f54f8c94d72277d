package experiment

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"universal-transformer/decoding"
	"universal-transformer/halting"
	"universal-transformer/universal"
	"universal-transformer/vocab"
)

// Answering says how sources are answered. The zero value is greedy decoding.
type Answering struct {
	decoding.Method
	MaxLength int // tokens of an answer; 0: four times as many as its source has, and 50 more
}

// Validate names the field that makes no sense.
func (a Answering) Validate() error {
	if a.MaxLength < 0 {
		return fmt.Errorf("max-length is %d: give at least 1, or 0 for four times the source and 50 more", a.MaxLength)
	}
	return a.Method.Validate()
}

// limit is how many tokens the answer to a source may have.
func (a Answering) limit(source []vocab.ID) int {
	if a.MaxLength > 0 {
		return a.MaxLength
	}
	return longestAnswer(len(source))
}

// longestAnswer is how many tokens the answer to a source may have if nothing else is said.
func longestAnswer(source int) int { return 4*source + 50 }

// Exit makes the model stop computing by another criterion from now on.
func (t *Trained) Exit(e halting.Exit) error {
	m, err := t.Model.WithExit(e)
	if err != nil {
		return err
	}
	t.Model = m
	t.Close()
	return nil
}

// Close frees what was compiled to decode.
func (t *Trained) Close() {
	if t.decoder != nil {
		t.decoder.Close()
		t.decoder = nil
	}
}

// decoding gives the decoder, which keeps what it has compiled.
func (t *Trained) decoding() (d *decoding.Decoder, err error) {
	m, writes := t.Model.(universal.EncoderDecoder)
	if !writes {
		return nil, fmt.Errorf("%s answers stories with a class and decodes nothing: use ut answer", t.log.Dir())
	}
	if t.decoder == nil {
		t.decoder, err = decoding.New(t.Backend, t.Store, m)
	}
	return t.decoder, err
}

// Decode answers lines of text.
func (t *Trained) Decode(ctx context.Context, lines []string, how Answering) ([]string, error) {
	var out bytes.Buffer
	if err := t.Stream(ctx, &out, lines, how); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")[:len(lines)], nil
}

// Stream writes the answers to lines of text, each on a line of its own and in their order, token by token as the model chooses
// them. Sequences are decoded together, so those behind the first unfinished one wait for it. If ctx ends, so does the answer.
func (t *Trained) Stream(ctx context.Context, w io.Writer, lines []string, how Answering) error {
	if err := how.Validate(); err != nil {
		return err
	}
	sources, limits := make([][]vocab.ID, len(lines)), make([]int, len(lines))
	for i, line := range lines {
		source, _, err := t.Encode(line)
		if err != nil {
			return fmt.Errorf("source %d: %w", i+1, err)
		}
		sources[i], limits[i] = source, how.limit(source)
	}
	d, err := t.decoding()
	if err != nil {
		return err
	}
	s := stream{w: w, text: t.Text, found: make([][]vocab.ID, len(lines)), limits: limits}
	found, err := d.Decode(ctx, sources, limits, how.Method, s.chosen)
	if err != nil {
		s.broken()
		return err
	}
	for i, h := range found {
		s.found[i] = h.Tokens
	}
	return s.rest()
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
