// Package unpack extracts files from the archives in which data sets are published: .tar, .tar.gz, .tar.xz and .zip.
package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/textfile"
)

// Limits far above any data set. A larger archive was made to fill the disk.
const (
	maxFileSize    = 1 << 30
	maxArchiveSize = 16 << 30
	maxFiles       = 100_000
)

// Into extracts files of an archive below folder, each completely or not at all, and lists them. wanted maps the path of a file in
// the archive to its path below the folder, and reports whether to extract it. Archives (.tar) in an archive are read too. An archive
// without any such file is an error.
func Into(folder, from string, wanted func(path string) (place string, ok bool)) (written []string, err error) {
	u := unpacker{folder: folder, wanted: wanted, left: maxArchiveSize}
	f, err := textfile.Open(from)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	err = u.read(f)
	if err == nil && len(u.written) == 0 {
		err = errors.New("no file of the data set is in it")
	}
	if err != nil {
		return u.written, fmt.Errorf("%s: %w", from, err)
	}
	return u.written, nil
}

type unpacker struct {
	folder  string
	wanted  func(string) (string, bool)
	left    int64 // bytes that may still be unpacked
	written []string
}

// read determines the type of the archive by its first bytes, not by its name.
func (u *unpacker) read(f *os.File) error {
	r := bufio.NewReaderSize(f, 1<<20)
	if head, _ := r.Peek(4); bytes.Equal(head, []byte("PK\x03\x04")) {
		return u.zip(f)
	}
	plain, packed, err := archive.Decompress(r)
	switch {
	case err != nil:
		return damaged(err)
	case !packed && !strings.HasSuffix(f.Name(), ".tar"):
		return errors.New("it is neither gzip, xz nor zip, nor named .tar")
	}
	return u.tar(plain)
}

func damaged(err error) error { return fmt.Errorf("damaged or cut short: %w: get it again", err) }

func (u *unpacker) tar(r io.Reader) error {
	for files := tar.NewReader(r); ; {
		header, err := files.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return damaged(err)
		case header.Typeflag != tar.TypeReg:
			continue
		case strings.HasSuffix(header.Name, ".tar"):
			err = u.tar(files)
		default:
			err = u.file(header.Name, files)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	files, err := zip.NewReader(f, info.Size())
	if err != nil {
		return damaged(err)
	}
	for _, entry := range files.File {
		if !entry.Mode().IsRegular() {
			continue
		}
		r, err := entry.Open()
		if err == nil {
			err = errors.Join(u.file(entry.Name, r), r.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file extracts one file if it is wanted. Sizes in headers are not trusted.
func (u *unpacker) file(name string, r io.Reader) error {
	place, ok := u.wanted(filepath.ToSlash(name))
	if !ok {
		return nil
	}
	if !filepath.IsLocal(place) {
		return fmt.Errorf("%.80q leads out of the folder", name)
	}
	most := min(int64(maxFileSize), u.left)
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	switch {
	case err != nil:
		return damaged(fmt.Errorf("%.80q: %w", name, err))
	case int64(len(data)) > most:
		return fmt.Errorf("%.80q has more than %d bytes, more than any file of a data set", name, most)
	case len(u.written) == maxFiles:
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	u.left -= int64(len(data))
	path := filepath.Join(u.folder, place)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	u.written = append(u.written, path)
	return atomicfile.Write(path, data)
}
