// Package regularfile opens regular files. Folders, devices, pipes and sockets are errors at once, because reading a device may never
// end, and opening a pipe waits for somebody who writes.
package regularfile

import (
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
