package vocab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// file is a vocabulary as JSON: {"symbols": ["0", "1"], "unknown": true}.
type file struct {
	Symbols []string `json:"symbols"`           // in the order of their ids, from 2
	Unknown bool     `json:"unknown,omitempty"` // whether "<unknown>" follows them
}

// MarshalJSON writes {"symbols": [...], "unknown": true}.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	f := file{Symbols: v.symbols, Unknown: v.HasUnknown()}
	if f.Symbols == nil {
		f.Symbols = []string{}
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON writes and holds it to the rules of New.
func (v *Vocabulary) UnmarshalJSON(data []byte) error {
	if !utf8.Valid(data) {
		return fmt.Errorf("vocabulary: not valid UTF-8")
	}
	var f file
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&f); err != nil {
		return fmt.Errorf("vocabulary: %w", err)
	}
	if f.Symbols == nil {
		return fmt.Errorf(`vocabulary: key "symbols" is missing`)
	}
	var opts []Option
	if f.Unknown {
		opts = append(opts, WithUnknown())
	}
	made, err := New(f.Symbols, opts...)
	if err != nil {
		return err
	}
	*v = *made
	return nil
}
