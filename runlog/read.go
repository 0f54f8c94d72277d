package runlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"universal-transformer/internal/regularfile"
)

// ErrVersion means that another version of the program wrote a file in a form that this one cannot read. Its message names both.
var ErrVersion = errors.New("written by another version")

// read returns the content of a file of a run. A folder, device or pipe in its place is ErrDamaged.
func read(path string) ([]byte, error) {
	data, err := regularfile.Read(path)
	return data, ofKind(err)
}

// open opens a file of a run, like read.
func open(path string) (*os.File, error) {
	f, err := regularfile.Open(path)
	return f, ofKind(err)
}

// ofKind returns err, and ErrDamaged for a file that is not regular.
func ofKind(err error) error {
	if wrong := (*regularfile.Error)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s: %w: it is a %s: %w", wrong.Path, ErrDamaged, wrong.Kind, ErrNotJSON)
	}
	return err
}

// Unreadable returns an error about the content of a file of JSON that is ErrVersion if the file names another version than this one, and otherwise
// ErrDamaged.
func (r *Run) Unreadable(name string, err error) error {
	data, problem := read(r.path(name))
	if problem != nil {
		return AsDamaged(err)
	}
	return unreadable(data, err)
}

func unreadable(data []byte, err error) error {
	var stamp struct {
		Version string `json:"version"`
	}
	if json.Unmarshal(data, &stamp) != nil || stamp.Version == "" || stamp.Version == Version() {
		return AsDamaged(err)
	}
	return fmt.Errorf("%w: the file is %w, %s, and this is %s: use that version", err, ErrVersion, stamp.Version, Version())
}
