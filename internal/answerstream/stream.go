// Package answerstream writes the answers to several lines in order, token by token, while they are being decoded together.
package answerstream

import (
	"io"
	"strings"
	"unicode"

	"universal-transformer/internal/vocab"
)

// A Stream writes one answer per line. Tokens of later lines wait until the lines before them are complete. It is not safe for concurrent
// use.
type Stream struct {
	Tokens [][]vocab.ID // tokens of each line so far
	Limits []int        // largest number of tokens of each line
	Failed []bool       // lines without an answer
	Stops  []string     // texts before which lines end

	w      io.Writer
	text   func([]vocab.ID) string
	begins func(vocab.ID) bool // see New
	at     int                 // the current line
	done   int                 // written tokens of it
	from   int                 // the last token that begins a text of its own, with begins
	shown  int                 // written bytes of that text
	stop   stopper             // of the current line
	last   bool                // no token will be added
	err    error
	cancel func() // called when w fails
}

// OneLine replaces line breaks, which subwords and characters may contain, by spaces.
var OneLine = strings.NewReplacer("\n", " ", "\r", " ")

// New returns a stream of a number of lines. text converts tokens to text, whose line breaks are written as spaces. If begins is nil, the
// text that a token adds depends only on the previous token; otherwise, as for subwords, on those since the last one for which begins is
// true. cancel is called when w fails.
func New(w io.Writer, text func([]vocab.ID) string, begins func(vocab.ID) bool, lines int, cancel func()) *Stream {
	return &Stream{Tokens: make([][]vocab.ID, lines), Limits: make([]int, lines), Failed: make([]bool, lines), w: w, text: text, begins: begins, cancel: cancel}
}

// Err returns the first error of writing.
func (s *Stream) Err() error { return s.err }

// Add records a token of a line and writes what can be written now.
func (s *Stream) Add(line int, token vocab.ID) {
	s.Tokens[line] = append(s.Tokens[line], token)
	if line != s.at {
		return
	}
	for s.at < len(s.Tokens) && s.write() {
		s.end()
	}
}

// write brings the current line up to date and reports whether it is complete. The text that a token adds depends only on the token
// before it: there may be a space in between.
func (s *Stream) write() bool {
	tokens := s.Tokens[s.at]
	if s.begins != nil {
		s.writeWords(tokens)
	}
	for ; s.done < len(tokens); s.done++ {
		before := tokens[max(0, s.done-1):s.done]
		s.print(s.text(tokens[s.done-len(before) : s.done+1])[len(s.text(before)):])
	}
	return s.Failed[s.at] || s.stop.stopped || s.done > 0 && (tokens[s.done-1] == vocab.End || s.done == s.Limits[s.at])
}

// writeWords writes the complete words of a text: later tokens may still change the last one.
func (s *Stream) writeWords(tokens []vocab.ID) {
	for ; s.done < len(tokens); s.done++ {
		if s.begins(tokens[s.done]) {
			s.print(s.text(tokens[s.from:s.done])[s.shown:])
			s.from, s.shown = s.done, 0
		}
	}
	text := s.text(tokens[s.from:])
	complete := strings.LastIndexFunc(text, unicode.IsSpace) + 1
	if s.last || s.done > 0 && (tokens[s.done-1] == vocab.End || s.done == s.Limits[s.at]) {
		complete = len(text)
	}
	if complete > s.shown {
		s.print(text[s.shown:complete])
		s.shown = complete
	}
}

// end ends the current line.
func (s *Stream) end() {
	s.put(OneLine.Replace(s.stop.rest()))
	s.put("\n")
	s.stop = stopper{}
	s.at, s.done, s.from, s.shown = s.at+1, 0, 0, 0
}

// Rest writes everything that is not written yet, and returns the first error of writing.
func (s *Stream) Rest() error {
	s.last = true
	for s.at < len(s.Tokens) {
		s.write()
		s.end()
	}
	return s.err
}

// print writes what can be written of the current line after more text.
func (s *Stream) print(text string) {
	s.stop.stops = s.Stops
	s.put(OneLine.Replace(s.stop.add(text)))
}

func (s *Stream) put(text string) {
	if s.err == nil && text != "" {
		if _, s.err = io.WriteString(s.w, text); s.err != nil {
			s.cancel()
		}
	}
}
