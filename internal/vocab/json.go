package vocab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// file is a vocabulary as JSON: {"tokens": ["0", "1"], "unknown": true}.
type file struct {
	Tokens  []string `json:"tokens"`            // in the order of their ids, from 2
	Unknown bool     `json:"unknown,omitempty"` // whether "<unknown>" follows them
}

// MarshalJSON writes {"tokens": [...], "unknown": true}.
func (v *Vocabulary) MarshalJSON() ([]byte, error) {
	f := file{Tokens: v.tokens, Unknown: v.HasUnknown()}
	if f.Tokens == nil {
		f.Tokens = []string{}
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads the output of MarshalJSON and applies the checks of New.
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
	if f.Tokens == nil {
		return fmt.Errorf(`vocabulary: key "tokens" is missing`)
	}
	var opts []Option
	if f.Unknown {
		opts = append(opts, WithUnknown())
	}
	made, err := New(f.Tokens, opts...)
	if err != nil {
		return err
	}
	*v = *made
	return nil
}
