package viewer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// document is the JSON form: the name of the format, followed by the trace.
type document struct {
	Format string `json:"format"`
	*Trace
}

// WriteJSON writes t as one line of JSON, with exact numbers. Bytes of tokens that are not valid UTF-8 become U+FFFD.
func WriteJSON(w io.Writer, t *Trace) error {
	if err := t.Validate(); err != nil {
		return err
	}
	text, err := json.Marshal(document{Format, t})
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// ReadJSON reads the output of [WriteJSON]. It rejects other formats, unknown fields, data after the trace, and numbers or shapes
// that no model can produce.
func ReadJSON(r io.Reader) (*Trace, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if head.Format != Format {
		return nil, fmt.Errorf("trace: format %q, this program reads %q", head.Format, Format)
	}
	read := document{Trace: new(Trace)}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&read); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("trace: data follows the trace")
	}
	if err := read.Trace.Validate(); err != nil {
		return nil, err
	}
	return read.Trace, nil
}
