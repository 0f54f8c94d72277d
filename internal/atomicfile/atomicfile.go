// Package atomicfile writes files atomically: a file has either its old or its new content, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Temporary files are named .NAME.NUMBER.tmp and are in the folder of the final file.
const temporarySuffix = ".tmp"

// Sync flushes a file, or the names in a directory, to disk. It is a variable so that tests can observe calls.
var Sync = (*os.File).Sync

// Unfinished returns the name of the file that a temporary file was to become, whose process was killed while writing it. ok is false for
// every other name, also for one that only resembles that of a temporary file.
func Unfinished(name string) (file string, ok bool) {
	rest, hidden := strings.CutPrefix(name, ".")
	rest, temporary := strings.CutSuffix(rest, temporarySuffix)
	at := strings.LastIndexByte(rest, '.')
	if !hidden || !temporary || at < 1 || at == len(rest)-1 || strings.Trim(rest[at+1:], "0123456789") != "" {
		return "", false
	}
	return rest[:at], true
}

// Write replaces the content of the file at path. After an error the old content is unchanged. If path is not a regular file, such as
// a terminal, Write writes to it directly.
func Write(path string, content []byte) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return os.WriteFile(path, content, 0o644)
	}
	return Replace(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// Replace calls write to fill a new file, syncs it to disk, and renames it to path. After an error the old file is unchanged and the
// new one is removed. When Replace returns, the name is on disk too.
func Replace(path string, write func(io.Writer) error) (err error) {
	f, err := create(path)
	if err != nil {
		return err
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
	return syncDir(filepath.Dir(path))
}

// create creates the temporary file that is to become the file at path.
func create(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name a file", path)
	}
	return createBeside(path)
}

// createBeside creates a temporary file in the folder of path.
func createBeside(path string) (*os.File, error) {
	dir, name := filepath.Split(path)
	f, err := os.CreateTemp(filepath.Clean(dir), "."+name+".*"+temporarySuffix)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be written: %w", path, cause(err))
	}
	return f, nil
}

// Check returns the error that [Write] would have because of the path: there is a folder, or its own folder is missing or cannot be written. Long work
// that ends in a file checks it before.
func Check(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	return closeRemoved(create(path))
}

// CheckNew is like [Check], for a file whose folder will be made with all folders above it. It makes none. Another goroutine or process may make
// them meanwhile.
func CheckNew(path string) error {
	folder := filepath.Dir(path)
	missing := ""
	for folder != missing {
		if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) { // a link to nothing is in the way
			break
		}
		missing, folder = folder, filepath.Dir(folder)
	}
	if missing == "" {
		return Check(path)
	}
	return closeRemoved(createBeside(missing))
}

// closeRemoved closes and removes a temporary file that was only to show that it can be created.
func closeRemoved(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Cause returns the error of writing a temporary file as one about the file that it was to become.
func Cause(path string, err error) error {
	return fmt.Errorf("%s cannot be written: %w", path, cause(err))
}

// cause returns an error without the name of the temporary file, which no longer exists.
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

// syncDir flushes a directory's names to disk. If the file system does not support it, it is assumed to be unnecessary.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := Sync(d); err != nil && !unsupported(err, runtime.GOOS) {
		return err
	}
	return nil
}

// unsupported reports whether the error of flushing a directory means that the file system or the operating system cannot do it. Windows
// denies access, because it flushes only handles that may write, and os.Open opens a directory for reading.
func unsupported(err error, goos string) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) || goos == "windows" && errors.Is(err, fs.ErrPermission)
}

// Sweep removes the temporary files of the files that ours reports, which a killed process left in a directory.
func Sweep(dir string, ours func(file string) bool) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if file, ok := Unfinished(e.Name()); ok && ours(file) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
