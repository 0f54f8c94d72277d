package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// failure is an error that a client sees, in the form of the OpenAI API.
type failure struct {
	status             int
	param, code, allow string
	message            string
}

func (f failure) Error() string { return f.message }

// invalid returns a failure that concerns a field of a request.
func invalid(param, format string, args ...any) failure {
	return failure{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

// failureOf turns any error into one that clients see. Errors of libraries may continue with a stack trace.
func failureOf(err error) failure {
	var f failure
	if errors.As(err, &f) {
		return f
	}
	if errors.Is(err, context.Canceled) {
		return failure{status: statusClientClosed, message: "the client has closed the request"}
	}
	message, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return failure{status: http.StatusInternalServerError, message: message}
}

// statusClientClosed is the status in the metrics of requests whose clients have closed the connection or do not read the answer; nginx
// uses the same number.
const statusClientClosed = 499

// errorJSON is the body of a failure.
type errorJSON struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

func (f failure) json() (e errorJSON) {
	e.Error.Message, e.Error.Type = f.message, "invalid_request_error"
	if f.status >= 500 || f.status == http.StatusTooManyRequests {
		e.Error.Type = "server_error"
	}
	if f.param != "" {
		e.Error.Param = &f.param
	}
	if f.code != "" {
		e.Error.Code = &f.code
	}
	return e
}

// response records the status of an answer.
type response struct {
	http.ResponseWriter
	status int // that was sent, 0 before
	failed int // status of what went wrong after that, or 0
}

// outcome returns the status that is counted.
func (r *response) outcome() int { return cmp.Or(r.failed, r.status) }

// Unwrap lets http.ResponseController find the writer that sets deadlines.
func (r *response) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// FlushError is for http.ResponseController.
func (r *response) FlushError() error {
	err := http.NewResponseController(r.ResponseWriter).Flush()
	if !errors.Is(err, errors.ErrUnsupported) {
		r.sent(err)
	}
	return err
}

// sent records an error of sending: the client has gone or does not read.
func (r *response) sent(err error) {
	if err != nil {
		r.failed = cmp.Or(r.failed, statusClientClosed)
	}
}

func (r *response) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
		r.ResponseWriter.WriteHeader(status)
	}
}

func (r *response) Write(p []byte) (int, error) {
	if r.status == 0 {
		r.WriteHeader(http.StatusOK)
	}
	n, err := r.ResponseWriter.Write(p)
	r.sent(err)
	return n, err
}

// fail answers with an error. In a stream that has begun, the error is an event; another answer that has begun is only counted as failed.
func (r *response) fail(f failure) {
	if r.status != 0 {
		r.failed = cmp.Or(r.failed, f.status)
		if r.Header().Get("Content-Type") == eventStream {
			_ = writeEvent(r, f.json())
		}
		return
	}
	switch f.status {
	case http.StatusTooManyRequests:
		r.Header().Set("Retry-After", "1")
	case http.StatusUnsupportedMediaType:
		r.Header().Set("Accept-Encoding", "identity")
	case http.StatusUnauthorized:
		r.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusMethodNotAllowed:
		r.Header().Set("Allow", f.allow)
	}
	writeJSON(r, f.status, f.json())
}

// encode returns an answer as a line of JSON, in which <, > and & are escaped. A value that JSON cannot represent, such as a NaN of damaged
// weights, is an error of the server.
func encode(value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, failure{status: http.StatusInternalServerError, message: fmt.Sprintf("the answer cannot be written: %v", err)}
	}
	return append(data, '\n'), nil
}

// writeFailure answers with an error.
func writeFailure(w http.ResponseWriter, err error) {
	f := failureOf(err)
	writeJSON(w, f.status, f.json())
}

// writeJSON answers with JSON.
func writeJSON(w http.ResponseWriter, status int, value any) {
	data, err := encode(value)
	if err != nil {
		f := failureOf(err)
		status = f.status
		data, _ = encode(f.json()) // texts can always be written
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
