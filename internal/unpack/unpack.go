// Package unpack extracts files from the archives in which data sets are published: .tar, .tar.gz, .tar.xz and .zip.
package unpack

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"context"
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

// Limits far above any data set. A larger archive was made to fill the disk, or to keep its reader busy.
const (
	maxFileSize    = 1 << 30
	maxArchiveSize = 16 << 30 // of the files
	maxUnpacked    = 32 << 30 // with what is not extracted
	maxFiles       = 100_000
	maxDepth       = 3 // of archives in archives
)

// An Archive is a file that is unpacked.
type Archive struct {
	Path string
	Name string // in errors, such as the address it is from; its ending tells that it is a .tar

	// Wanted maps the path of a file in the archive to its path below the folder, and reports whether to extract it.
	Wanted func(path string) (place string, ok bool)

	// Check checks the unpacked files, which are in a temporary folder, before they are moved. It may be nil.
	Check func(staging string) error
}

// Into extracts files of the archive below folder and lists them. It replaces no file before all are unpacked, Check accepts them, and none
// of their places is a folder; only if the system then refuses to rename one of them are those before it, which are listed, in their
// places. Archives (.tar) in an archive are read too. An archive without any such file is an error. No content is held in memory. When ctx
// ends, nothing is left.
func (a Archive) Into(ctx context.Context, folder string) (written []string, err error) {
	f, err := textfile.Open(a.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	u := unpacker{ctx: ctx, name: a.Name, wanted: a.Wanted, left: maxArchiveSize, known: map[string]struct{}{}}
	fill := func(staging string) error {
		u.folder = staging
		err := u.read(f)
		if err == nil && len(u.places) == 0 {
			err = errors.New("no file of the data set is in it: name the archive of this data set, or get it again")
		}
		if err == nil && a.Check != nil {
			err = a.Check(staging)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
		return nil
	}
	err = Stage(ctx, folder, fill, func(string) (err error) {
		written, err = u.moveTo(folder)
		return err
	})
	return written, err
}

type unpacker struct {
	ctx    context.Context
	name   string // of the archive
	folder string // of the files until all are there
	wanted func(string) (string, bool)
	left   int64               // bytes that may still be unpacked
	places []string            // of the files below folder
	known  map[string]struct{} // places
	depth  int                 // archives around the one being read
}

// moveTo moves all files to their final places, or none if one of these cannot hold a file.
func (u *unpacker) moveTo(folder string) (written []string, err error) {
	if err := u.makePlaces(folder); err != nil {
		return nil, err
	}
	for _, place := range u.places {
		path := filepath.Join(folder, place)
		if err := os.Rename(filepath.Join(u.folder, place), path); err != nil {
			return written, atomicfile.Cause(path, err)
		}
		written = append(written, path)
	}
	return written, nil
}

// makePlaces makes the folders of all files, and returns an error if the place of one is a folder. After an error no new folder is left.
func (u *unpacker) makePlaces(folder string) (err error) {
	var made []string
	defer func() {
		if err != nil {
			removeEmpty(made)
		}
	}()
	for _, place := range u.places {
		path := filepath.Join(folder, place)
		more, err := makeFolder(filepath.Dir(path))
		made = append(more, made...) // the innermost first
		if err != nil {
			return err
		}
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a folder: remove it, or choose another folder for the data set", path)
		}
	}
	return nil
}

// read determines the type of the archive by its first bytes, not by its name.
func (u *unpacker) read(f *os.File) error {
	r := bufio.NewReaderSize(&reader{ctx: u.ctx, r: f}, 1<<20)
	if head, _ := r.Peek(4); bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		return u.zip(f)
	}
	plain, packed, err := archive.Decompress(r)
	switch {
	case err != nil:
		return damaged(err)
	case !packed && !strings.HasSuffix(u.name, ".tar"):
		return errors.New("it is neither gzip, xz nor zip, nor named .tar: name an archive of one of these kinds")
	}
	return u.tar(archive.Limit(plain, maxUnpacked))
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
			err = u.nested(files)
		default:
			err = u.file(header.Name, files)
		}
		if err != nil {
			return err
		}
	}
}

// nested reads an archive in an archive.
func (u *unpacker) nested(r io.Reader) error {
	if u.depth++; u.depth > maxDepth {
		return fmt.Errorf("archives are nested more than %d deep: unpack them yourself", maxDepth)
	}
	defer func() { u.depth-- }()
	return u.tar(r)
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
		if err := u.ctx.Err(); err != nil {
			return err
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
	if len(u.places) == maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	limit := min(int64(maxFileSize), u.left)
	n, err := u.write(place, io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return fmt.Errorf("%.80q: %w", name, err)
	case n > limit:
		return fmt.Errorf("%.80q has more than %d bytes, more than any file of a data set", name, limit)
	}
	u.left -= n
	if _, twice := u.known[place]; !twice {
		u.known[place] = struct{}{}
		u.places = append(u.places, place)
	}
	return nil
}

// write writes a file that is not in its final place yet.
func (u *unpacker) write(place string, r io.Reader) (n int64, err error) {
	path := filepath.Join(u.folder, place)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return 0, atomicfile.Cause(place, err)
	}
	f, err := os.Create(path)
	if err != nil {
		return 0, atomicfile.Cause(place, err)
	}
	source := &reader{ctx: u.ctx, r: r}
	n, err = io.Copy(f, source)
	if err == nil {
		err = atomicfile.Sync(f)
	}
	err = errors.Join(err, f.Close())
	switch {
	case source.err != nil:
		return n, damaged(source.err)
	case err != nil:
		return n, atomicfile.Cause(place, err)
	}
	return n, nil
}

// A reader remembers the error of reading, which is the archive's fault, and not the disk's. It ends when ctx does.
type reader struct {
	ctx context.Context
	r   io.Reader
	err error
}

func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.r.Read(p)
	if err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}
