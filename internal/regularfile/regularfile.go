// Package regularfile opens regular files. Folders, devices, pipes and sockets are errors at once, because reading a device may never
// end, and opening a pipe waits for somebody who writes.
package regularfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// kinds names files that are not regular.
var kinds = []struct {
	mode fs.FileMode
	name string
}{{fs.ModeDir, "folder"}, {fs.ModeDevice, "device"}, {fs.ModeNamedPipe, "pipe"}, {fs.ModeSocket, "socket"}, {fs.ModeIrregular, "special file"}}

// An Error reports a file that is not regular.
type Error struct{ Path, Kind string } // Kind is "folder", "device", "pipe", "socket" or "special file"

func (e *Error) Error() string { return fmt.Sprintf("%s is a %s: name a file", e.Path, e.Kind) }

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil { // opening reports the errors
		for _, kind := range kinds {
			if info.Mode()&kind.mode != 0 {
				return nil, &Error{path, kind.name}
			}
		}
	}
	return os.Open(path)
}

// Read returns the content of a regular file.
func Read(path string) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// Advised returns an error of [Read] with what to do about a file whose name is given, so that no other can be named. It returns nil for other
// errors.
func Advised(err error) error {
	var special *Error
	var system *fs.PathError
	switch {
	case errors.As(err, &special):
		return fmt.Errorf("%s is a %s: restore the file", special.Path, special.Kind)
	case errors.As(err, &system):
		return fmt.Errorf("%w: restore the file, or make it readable", err)
	}
	return nil
}
