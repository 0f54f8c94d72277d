// Package atomicfile writes files of which there is never a part: under its name stands what was there before, or all of what is new.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Temporary files are named .NAME.NUMBER.tmp and stand beside the file they become.
const temporarySuffix = ".tmp"

// Sync brings a file, or the names in a directory, to the disk. It is a variable so that tests can see it done.
var Sync = (*os.File).Sync

// Temporary tells whether a file of this name was being written when its process was killed.
func Temporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.HasSuffix(name, temporarySuffix)
}

// Write puts content at path, all of it or, after an error, none: what was at path before is still there. What is no file, such as
// a terminal, is written to.
func Write(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return os.WriteFile(path, content, 0o644)
	}
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace lets write fill a new file, brings it to the disk and only then gives it its name. After an error the
// old file is as it was and the new one is gone. The name is on the disk too when Replace returns.
func Replace(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file", path)
	}
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+name+".*"+temporarySuffix)
	if err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, cause(err))
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err = errors.Join(write(f), f.Chmod(0o644), Sync(f)); err != nil {
		f.Close()
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	if err = f.Close(); err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, cause(err))
	}
	return syncDir(filepath.Clean(dir))
}

// cause is an error without the name of the temporary file, which is gone.
func cause(err error) error {
	var place *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &place):
		return place.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// syncDir brings a directory's names to the disk. File systems that cannot are taken to need no such thing.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := Sync(d); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// Sweep clears away what a killed process left in a directory.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if Temporary(e.Name()) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
