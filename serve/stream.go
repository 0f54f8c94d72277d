package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"universal-transformer/pipeline"
)

// eventStream is the type of an answer that consists of events.
const eventStream = "text/event-stream"

// stream answers with events: the pieces of all choices, one choice after the other, then the reasons why they end.
func (s *Server) stream(ctx context.Context, w http.ResponseWriter, j *job) error {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Set("X-Accel-Buffering", "no") // nginx and others would hold events back
	p := &pieces{w: w, reply: j.reply}
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
	w     http.ResponseWriter
	reply completion
	at    int // the current choice
}

// Write sends an event for each piece of a line.
func (p *pieces) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		piece, after, ended := bytes.Cut(rest, []byte("\n"))
		if len(piece) > 0 {
			if err := p.send(choice{Text: string(piece), Index: p.at}); err != nil {
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
		text := t.Shown()
		_ = p.send(choice{Index: line, Token: &text, Steps: &t.Steps}) // Write fails too, which ends the stream
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
