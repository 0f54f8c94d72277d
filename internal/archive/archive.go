// Package archive reads files by name from a folder or an archive, without unpacking the archive to disk.
package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ulikunitz/xz"
	"universal-transformer/internal/textfile"
)

// Limits far above any data set. A larger archive was made to fill the memory.
const (
	maxFileSize = 1 << 30 // bytes of a file, which is held in memory
	maxUnpacked = 8 << 30 // total bytes of an archive's content
)

// An Archive is a folder, or the requested files of an archive.
type Archive struct {
	path  string
	files map[string][]byte // by requested name; nil for a folder
}

// Open opens a folder, or reads the named files of an archive. The content of the archive determines its type: .tar.gz, .tgz, .tar.xz
// or .tar. An empty path means the current folder.
func Open(path string, names ...string) (*Archive, error) {
	if path == "" {
		return &Archive{}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &Archive{path: path}, nil
	}
	raw, err := textfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	unpacked, packed, err := Decompress(bufio.NewReaderSize(raw, 1<<20))
	if err == nil && !packed && !strings.HasSuffix(path, ".tar") {
		err = errors.New("it is neither a folder nor an archive (.tar.gz, .tar.xz, .tar)")
	}
	a := &Archive{path: path, files: map[string][]byte{}}
	if err == nil {
		err = a.read(io.LimitReader(unpacked, maxUnpacked), names)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Decompress decompresses gzip or xz, as recognized by the first bytes, and returns other data unchanged; packed reports whether they
// were compressed.
func Decompress(r *bufio.Reader) (unpacked io.Reader, packed bool, err error) {
	head, _ := r.Peek(6)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		unpacked, err = gzip.NewReader(r)
	case bytes.Equal(head, []byte{0xfd, '7', 'z', 'X', 'Z', 0}):
		unpacked, err = xz.NewReader(r)
	default:
		return r, false, nil
	}
	return unpacked, true, err
}

// read keeps the requested files. Paths only identify files, so none can escape. Sizes in headers are not trusted.
func (a *Archive) read(r io.Reader, names []string) error {
	for t := tar.NewReader(r); ; {
		header, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("damaged or cut short: %w", err)
		}
		at := slices.IndexFunc(names, func(name string) bool { return sameName(header.Name, name) })
		if at < 0 || header.Typeflag != tar.TypeReg {
			continue
		}
		if _, twice := a.files[names[at]]; twice {
			return fmt.Errorf("it contains %s twice: give more of its path", names[at])
		}
		if a.files[names[at]], err = io.ReadAll(io.LimitReader(t, maxFileSize+1)); err != nil {
			return fmt.Errorf("damaged or cut short: %s: %w", header.Name, err)
		}
		if len(a.files[names[at]]) > maxFileSize {
			return fmt.Errorf("%s has more than %d bytes: unpack the archive and name the folder", header.Name, maxFileSize)
		}
	}
}

// sameName reports whether a path ends in the name of a file, possibly compressed.
func sameName(path, name string) bool {
	path = "/" + strings.TrimPrefix(path, "./")
	return strings.HasSuffix(path, "/"+name) || strings.HasSuffix(path, "/"+name+".gz")
}

// Open opens a file or, if it does not exist, the file with the additional extension .gz. The caller must close the result.
func (a *Archive) Open(name string) (io.ReadCloser, error) {
	if a.files != nil {
		data, there := a.files[name]
		if !there {
			return nil, fmt.Errorf("%s has no file %s: %w", a.path, name, fs.ErrNotExist)
		}
		return decompressed(bytes.NewReader(data), closer(func() error { return nil }), name)
	}
	path := a.Path(name)
	f, err := textfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		if f, zipped := textfile.Open(path + ".gz"); zipped == nil {
			return decompressed(f, f, path+".gz")
		}
	}
	if err != nil {
		return nil, err
	}
	return decompressed(f, f, path)
}

// Path returns the path of a file for messages.
func (a *Archive) Path(name string) string {
	if a.path == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(a.path, name)
}

// decompressed returns a file's content without compression.
func decompressed(r io.Reader, c io.Closer, name string) (io.ReadCloser, error) {
	unpacked, _, err := Decompress(bufio.NewReaderSize(r, 64<<10))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), c.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{unpacked, c}, nil
}

type closer func() error

func (c closer) Close() error { return c() }
