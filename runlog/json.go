package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"universal-transformer/internal/strictjson"
)

const versionKey = "version"

// Config decodes config.json into v. An unknown key is an error that suggests the nearest one. Errors about the content are ErrVersion if
// another version wrote it, and otherwise ErrDamaged.
func (r *Run) Config(v any) error { return readStamped(r.path(configFile), v) }

// WriteConfig replaces the configuration of a run that continues with another one.
func (r *Run) WriteConfig(config any) error { return r.WriteJSON(configFile, config) }

// DecodeConfig decodes a configuration, written by hand or by Create, like strictjson.Decode, and ignores the key "version".
func DecodeConfig(data []byte, v any) error { return strictjson.Decode(withoutVersion(data), v) }

// WriteJSON writes v, which must encode to a JSON object, to a file in the run directory, such as "vocabulary.json".
func (r *Run) WriteJSON(name string, v any) error {
	if r.lock == nil {
		return errReader
	}
	content, err := withVersion(v)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return r.write(r.path(name), content)
}

// WriteFile writes a file of any format to the run directory, such as "tokenizer.json".
func (r *Run) WriteFile(name string, content []byte) error {
	if r.lock == nil {
		return errReader
	}
	return r.write(r.path(name), content)
}

// ReadFile reads a file of the run directory. The error is fs.ErrNotExist if there is none.
func (r *Run) ReadFile(name string) ([]byte, error) { return read(r.path(name)) }

// ReadJSON strictly decodes a file written by WriteJSON. The error is fs.ErrNotExist if there is none, ErrVersion if another version wrote content that
// this one cannot read, and ErrDamaged if its content is another.
func (r *Run) ReadJSON(name string, v any) error { return readStamped(r.path(name), v) }

func readStamped(path string, v any) error {
	data, err := read(path)
	if err != nil {
		return err
	}
	if err := DecodeConfig(data, v); err != nil {
		if !strictjson.Valid(data) {
			return AsDamaged(fmt.Errorf("%s: %w: %w", path, err, ErrNotJSON))
		}
		err = fmt.Errorf("%s: %w", path, err)
		if key := (*strictjson.UnknownKeyError)(nil); filepath.Base(path) == configFile || errors.As(err, &key) {
			return unreadable(data, err)
		}
		return AsDamaged(err)
	}
	return nil
}

// ErrNotJSON is the error for a file of a run directory that is no JSON; its text is the remedy.
var ErrNotJSON = errors.New("restore the file")

// withVersion returns v as indented JSON, with "version" first.
func withVersion(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if !bytes.HasPrefix(data, []byte("{")) || json.Unmarshal(data, &members) != nil {
		return nil, fmt.Errorf("%T does not encode to a JSON object", v)
	}
	if _, taken := members[versionKey]; taken {
		return nil, fmt.Errorf("the key %q is reserved for the version that writes the file", versionKey)
	}
	all := fmt.Appendf(nil, "{%q:%q", versionKey, Version())
	if len(members) > 0 {
		all = append(all, ',')
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, append(all, data[1:]...), "", "  "); err != nil {
		return nil, err
	}
	return append(indented.Bytes(), '\n'), nil
}

// withoutVersion replaces the member "version" of an object by blanks, so that all other bytes keep their line and column. Data that
// are not a JSON object keep all members, and are rejected when they are decoded. A byte order mark is dropped.
func withoutVersion(data []byte) []byte {
	data = strictjson.WithoutMark(data)
	members, _, err := strictjson.Members(data)
	at := slices.IndexFunc(members, func(m strictjson.Member) bool { return m.Name == versionKey })
	if err != nil || at < 0 || !json.Valid(data) {
		return data
	}
	begin, end := members[at].Begin, members[at].End
	blanked := bytes.Clone(data)
	if after := bytes.TrimLeft(data[end:], " \t\r\n"); bytes.HasPrefix(after, []byte(",")) {
		end = len(data) - len(after) + 1 // with the comma after it
	} else if before := bytes.TrimRight(data[:begin], " \t\r\n"); bytes.HasSuffix(before, []byte(",")) {
		begin = len(before) - 1 // the last member: with the comma before it
	}
	for i := begin; i < end; i++ {
		if blanked[i] != '\n' {
			blanked[i] = ' '
		}
	}
	return blanked
}
