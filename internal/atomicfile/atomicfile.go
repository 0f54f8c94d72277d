// Package atomicfile writes files atomically: a file has either its old or its new content, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
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

// Write replaces the content of the file at path, like [Replace]. If path is not a regular file, such as a terminal, Write writes to it
// directly.
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
// new one is removed. When Replace returns, the name is on disk too. The permissions are those of the old file; a file that did not exist
// has 0644 without the umask. If path is a symbolic link to a file, that file is replaced; a link to nothing is replaced itself.
func Replace(path string, write func(io.Writer) error) (err error) {
	path = linked(path)
	f, err := create(path)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err = errors.Join(keepMode(f, path), write(f), Sync(f)); err != nil {
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

// linked returns the file that the symbolic link at path leads to, or path if there is no link or no such file.
func linked(path string) string {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path
	}
	if file, err := filepath.EvalSymlinks(path); err == nil {
		return file
	}
	return path
}

// keepMode gives a temporary file the permissions of the file at path, if that exists.
func keepMode(f *os.File, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	return f.Chmod(info.Mode().Perm())
}

// create creates the temporary file that is to become the file at path.
func create(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder: name a file", path)
	}
	return Temporary(path)
}

// Temporary creates a temporary file that is to become the file at path, in its folder.
func Temporary(path string) (*os.File, error) {
	dir, name := filepath.Split(path)
	for {
		temporary := fmt.Sprintf(".%s.%d%s", name, rand.Uint64(), temporarySuffix)
		f, err := os.OpenFile(filepath.Join(dir, temporary), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
		switch {
		case err == nil:
			return f, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, Cause(path, err)
		}
	}
}

// Check returns the error that [Write] would have because of the path: there is a folder, or its own folder is missing or cannot be
// written. Long work that ends in a file checks it before.
func Check(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	return closeRemoved(create(linked(path)))
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
	return closeRemoved(Temporary(missing))
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
