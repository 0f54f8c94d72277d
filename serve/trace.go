package serve

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"

	"universal-transformer/halting"
	"universal-transformer/pipeline"
	"universal-transformer/viewer"
)

// traceRequest is the body of /v1/trace.
type traceRequest struct {
	Model  *string         `json:"model"`
	Input  json.RawMessage `json:"input"`  // a string, or an array of one string
	Exit   *exitJSON       `json:"exit"`   // when positions end; missing: as trained
	Format string          `json:"format"` // "trace", or "view": what the page draws
}

// exitJSON is an exit of a model, one of the rules of /v1/models with a setting.
type exitJSON struct {
	Rule    string   `json:"rule"`
	Setting *decimal `json:"setting"`
}

// maxExitSteps is the largest number of steps of an exit: a graph contains every step, and compiling it cannot be interrupted.
const maxExitSteps = 100

// exit returns the exit of a request.
func (r traceRequest) exit() (halting.Exit, error) {
	if r.Exit == nil {
		return halting.Exit{}, nil
	}
	switch {
	case r.Exit.Rule == "":
		return halting.Exit{}, invalid("exit", "exit.rule is missing: /v1/models lists the rules of each model")
	case r.Exit.Setting == nil:
		return halting.Exit{}, invalid("exit", "exit.setting is missing: give a number of steps or a threshold, as /v1/models lists")
	}
	setting := float64(*r.Exit.Setting)
	if steps := r.Exit.Rule == "fixed" || r.Exit.Rule == "limit"; steps && setting > maxExitSteps {
		return halting.Exit{}, invalid("exit", "exit: setting is %v: it must be at most %d steps", setting, maxExitSteps)
	}
	if math.IsInf(setting, 0) {
		return halting.Exit{}, invalid("exit", "exit: setting is too large: give a smaller number")
	}
	e, err := pipeline.NewDepthExit(r.Exit.Rule, setting)
	if err != nil {
		return halting.Exit{}, invalid("exit", "exit: %v", err)
	}
	return e.Exit, nil
}

// read returns the text of a request and when positions end.
func (r traceRequest) read() (text string, exit halting.Exit, err error) {
	input, err := readTexts("input", r.Input)
	if err != nil {
		return "", exit, err
	}
	if len(input) != 1 {
		return "", exit, invalid("input", "input has %d texts: a trace shows one", len(input))
	}
	if r.Format != "" && r.Format != "trace" && r.Format != "view" {
		return "", exit, invalid("format", "format is %q: choose trace or view", shortened(r.Format))
	}
	exit, err = r.exit()
	return input[0], exit, err
}

func (s *Server) trace(ctx context.Context, _ http.ResponseWriter, body []byte) ([]byte, error) {
	var r traceRequest
	if err := parse(body, &r); err != nil {
		return nil, err
	}
	input, exit, err := r.read()
	if err != nil {
		return nil, err
	}
	e, m, err := s.model(r.Model)
	if err != nil {
		return nil, err
	}
	defer m.users.Done()
	in, err := s.input(m, input)
	if err == nil {
		err = m.CheckTrace(in)
	}
	if err != nil {
		return nil, invalid("input", "input: %v", failureOf(err))
	}
	if err := m.CheckExit(exit); err != nil {
		return nil, invalid("exit", "%v", failureOf(err))
	}
	if err := s.startTrace(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.tracing }()
	e.read(len(in.Labels))
	t, err := m.TraceWith(ctx, input, exit)
	var size *pipeline.TraceSizeError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &size):
		return nil, invalid("input", "input: %v", size)
	case err != nil:
		return nil, err
	}
	if r.Format != "view" {
		return encode(t)
	}
	view, err := viewer.NewView(t)
	if err != nil {
		return nil, err
	}
	return encode(view)
}

// startTrace waits until no other trace is being computed: one takes much more memory than other answers. The caller receives from s.tracing
// when it is done.
func (s *Server) startTrace(ctx context.Context) error {
	select {
	case s.tracing <- struct{}{}:
		return nil
	case <-ctx.Done():
		if ctx.Err() == context.DeadlineExceeded {
			return s.late("other traces are being computed, try again later")
		}
		return ctx.Err()
	}
}
