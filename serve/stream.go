package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"universal-transformer/pipeline"
)

// eventStream is the type of an answer that consists of events.
const eventStream = "text/event-stream"

// stream answers with events: the pieces of all choices, one choice after the other, then the reasons why they end.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, j *job) error {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no") // nginx and others would hold events back
	p := &pieces{w: w, reply: j.reply, choices: make([]stopper, len(j.lines))}
	for i := range p.choices {
		p.choices[i].stops = j.options.Stop
	}
	answers, err := j.StreamTokens(ctx, p, j.lines, j.options, p.watch(j.stream.Steps))
	if err != nil {
		return err
	}
	u, err := j.finish(answers)
	if err != nil {
		return err
	}
	for i, a := range answers { // these are sent together with the end
		if err := writeEvent(w, p.event(choice{Index: i, Finish: reason(a), Unknown: a.Unknown})); err != nil {
			return err
		}
	}
	if j.stream.Usage {
		end := j.reply
		end.Choices, end.Usage = []choice{}, &u
		if err := writeEvent(w, end); err != nil {
			return err
		}
	}
	_, err = fmt.Fprint(w, "data: [DONE]\n\n")
	return err
}

// pieces turns lines that are written piece by piece into events. Line i is choice i.
type pieces struct {
	w       http.ResponseWriter
	reply   completion
	choices []stopper
	at      int // the current choice
}

// Write sends an event for each piece of a line.
func (p *pieces) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0 && p.at < len(p.choices); {
		piece, after, ended := bytes.Cut(rest, []byte("\n"))
		current := &p.choices[p.at]
		out := current.add(string(piece))
		if ended {
			out += current.rest()
		}
		if out != "" {
			if err := p.send(choice{Text: out, Index: p.at}); err != nil {
				return 0, err
			}
		}
		if ended {
			p.at++
		}
		rest = after
	}
	return len(text), nil
}

// watch returns a function that sends an event for each token, or nil if none is wanted.
func (p *pieces) watch(wanted bool) func(line int, t pipeline.Token) {
	if !wanted {
		return nil
	}
	return func(line int, t pipeline.Token) {
		if p.choices[line].stopped {
			return
		}
		_ = p.send(choice{Index: line, Token: &t.Text, Steps: &t.Steps}) // Write fails too, which ends the stream
	}
}

// send sends a piece at once.
func (p *pieces) send(c choice) error {
	if err := writeEvent(p.w, p.event(c)); err != nil {
		return err
	}
	return http.NewResponseController(p.w).Flush()
}

func (p *pieces) event(c choice) completion {
	event := p.reply
	event.Choices = []choice{c}
	return event
}

// writeEvent writes a server-sent event.
func writeEvent(w io.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "data: %s\n\n", data)
	return err
}

// stopper ends a text, which comes in pieces, before the first of some texts.
type stopper struct {
	stops   []string
	held    string // may be the beginning of one of them
	stopped bool
}

// add returns what can be shown of the text after another piece.
func (s *stopper) add(piece string) string {
	if s.stopped {
		return ""
	}
	text := s.held + piece
	begins := len(text) // the first place where a stop may begin that the next piece completes
	for _, stop := range s.stops {
		for n := min(len(stop)-1, len(text)); n > len(text)-begins; n-- {
			if strings.HasSuffix(text, stop[:n]) {
				begins = len(text) - n
			}
		}
	}
	if end := s.first(text); end >= 0 && end <= begins {
		s.held, s.stopped = "", true
		return text[:end]
	}
	s.held = text[begins:]
	return text[:begins]
}

// first returns where the first stop begins in a text, or -1.
func (s *stopper) first(text string) int {
	end := -1
	for _, stop := range s.stops {
		if i := strings.Index(text, stop); i >= 0 && (end < 0 || i < end) {
			end = i
		}
	}
	return end
}

// rest returns what was held back when the text ends.
func (s *stopper) rest() string {
	held := s.held
	s.held = ""
	if end := s.first(held); end >= 0 {
		s.stopped = true
		return held[:end]
	}
	return held
}
