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

// Limits far above any data set. A larger archive was made to keep its reader busy.
const (
	maxFileSize = 4 << 30 // bytes of a file
	maxUnpacked = 8 << 30 // total bytes of an archive's content
)

// An Archive is a folder, or an archive file whose files are read as streams: whoever opens one decompresses the archive up to that file,
// and no content is held in memory.
type Archive struct {
	path    string
	entries map[string]int // number of the entry by requested name, from 0; nil for a folder
}

// Open opens a folder, or finds the named files of an archive. The content of the archive determines its type: .tar.gz, .tgz, .tar.xz
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
	a := &Archive{path: path, entries: map[string]int{}}
	files, raw, err := a.open()
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	if err := a.find(files, names); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// ErrFormat is the error of a file that is no archive, for errors.Is.
var ErrFormat = errors.New("it is neither a folder nor an archive (.tar.gz, .tar.xz, .tar)")

// open opens the archive at its first entry.
func (a *Archive) open() (files *tar.Reader, raw io.Closer, err error) {
	f, err := textfile.Open(a.path)
	if err != nil {
		return nil, nil, err
	}
	unpacked, packed, err := Decompress(bufio.NewReaderSize(f, 1<<20))
	if err == nil && !packed && !strings.HasSuffix(a.path, ".tar") {
		err = ErrFormat
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", a.path, err)
	}
	return tar.NewReader(Limit(unpacked, maxUnpacked)), f, nil
}

// Limit returns a reader of at most most bytes; more are an error.
func Limit(r io.Reader, limit int64) io.Reader { return &limited{r, limit, limit} }

type limited struct {
	r           io.Reader
	left, limit int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("it has more than %d bytes, more than any data set", l.limit)
	}
	return n, err
}

// xzMagic begins every file of xz.
const xzMagic = "\xfd7zXZ\x00"

// Decompress decompresses gzip or xz, as recognized by the first bytes, and returns other data unchanged; packed reports whether they
// were compressed.
func Decompress(r *bufio.Reader) (unpacked io.Reader, packed bool, err error) {
	head, _ := r.Peek(6)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		unpacked, err = gzip.NewReader(r)
	case string(head) == xzMagic:
		unpacked, err = xz.NewReader(r)
	default:
		return r, false, nil
	}
	return unpacked, true, err
}

// find finds the entries of the requested files. Paths only identify files, so none can escape.
func (a *Archive) find(files *tar.Reader, names []string) error {
	for at := 0; ; at++ {
		header, err := files.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("damaged or cut short: %w", err)
		}
		i := slices.IndexFunc(names, func(name string) bool { return sameName(header.Name, name) })
		if i < 0 || header.Typeflag != tar.TypeReg {
			continue
		}
		if _, twice := a.entries[names[i]]; twice {
			return fmt.Errorf("it contains %s twice: give more of its path", names[i])
		}
		a.entries[names[i]] = at
	}
}

// sameName reports whether a path ends in the name of a file, possibly compressed.
func sameName(path, name string) bool {
	path = "/" + strings.TrimPrefix(path, "./")
	return strings.HasSuffix(path, "/"+name) || strings.HasSuffix(path, "/"+name+".gz")
}

// Open opens a file or, if it does not exist, the file with the additional extension .gz. The caller must close the result.
func (a *Archive) Open(name string) (io.ReadCloser, error) {
	if a.entries != nil {
		return a.openEntry(name)
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

// openEntry opens a file of an archive.
func (a *Archive) openEntry(name string) (io.ReadCloser, error) {
	entry, ok := a.entries[name]
	if !ok {
		return nil, fmt.Errorf("%s has no file %s: %w", a.path, name, fs.ErrNotExist)
	}
	files, raw, err := a.open()
	if err != nil {
		return nil, err
	}
	var header *tar.Header
	for at := 0; err == nil && at <= entry; at++ {
		header, err = files.Next()
	}
	if err == nil && !sameName(header.Name, name) {
		err = errors.New("the archive has been replaced meanwhile")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %s: %w", a.path, name, err), raw.Close())
	}
	return decompressed(files, raw, name)
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
	unpacked, err := decompress(bufio.NewReaderSize(r, 64<<10), name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), c.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{Limit(unpacked, maxFileSize), c}, nil
}
