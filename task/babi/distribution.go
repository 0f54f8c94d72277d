package babi

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"universal-transformer/internal/archive"
	"universal-transformer/internal/textfile"
	"universal-transformer/task"
)

// Sets are the parts of the distribution that are used: English, with 1,000 or 10,000 training questions, with or without a given
// validation split.
var Sets = []string{"en", "en-10k", "en-valid", "en-valid-10k"}

// Tasks is the number of tasks.
const Tasks = 20

// Limits, far above any file of the distribution. A larger file is not bAbI, or was made to exhaust memory.
const (
	largestFile    = 64 << 20
	largestArchive = 1 << 30 // unpacked, for all files that are kept
)

// ErrNone means that a path does not exist, or that the folder or intact archive at the path contains no file of the distribution.
var ErrNone = errors.New("no files of bAbI found, such as en-10k/qa1_single-supporting-fact_train.txt")

// file identifies a file of the distribution by its folder and name.
type file struct {
	set  string // of Sets
	task int    // 1 to Tasks
	part string // "train", "valid" or "test"
}

func (f file) String() string { return fmt.Sprintf("%s/qa%d_%s.txt", f.set, f.task, f.part) }

// A Distribution holds the official files, in a folder or an archive. It is immutable and may be shared.
type Distribution struct {
	path  string
	found map[file]content
}

// content is the path of a file or, in an archive, its content.
type content struct {
	name string
	data []byte // nil: read the file
}

// Archive is the published file name of the distribution. A folder may contain the archive, also as .tar.xz.
const Archive = "tasks_1-20_v1-2.tar.gz"

// Open finds the files of the official distribution in a folder (tasks_1-20_v1-2, its parent, or one that contains the Archive) or in
// an archive (.tar.gz, .tgz, .tar.xz, .tar). Nothing is unpacked to disk. Missing files are reported when they are read.
func Open(path string) (*Distribution, error) {
	d, err := open(path)
	if err != nil || len(d.found) > 0 {
		return d, err
	}
	for _, name := range []string{Archive, strings.TrimSuffix(Archive, ".gz") + ".xz"} {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return open(filepath.Join(path, name))
		}
	}
	return nil, fmt.Errorf("%s: %w", path, ErrNone)
}

// missing is an error about data that are not there.
func missing(format string, args ...any) error {
	return &task.MissingDataError{Set: "babi", Err: fmt.Errorf(format, args...)}
}

func open(path string) (*Distribution, error) {
	info, err := os.Stat(path)
	if err == nil && info.Mode()&os.ModeDevice != 0 {
		return nil, fmt.Errorf("%s is a device: name a folder or an archive", path)
	}
	if err != nil {
		return nil, missing("%w: name the folder tasks_1-20_v1-2 or its archive", err)
	}
	d := &Distribution{path: path, found: map[file]content{}}
	if info.IsDir() {
		err = d.readFolder()
	} else {
		err = d.readArchive()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

var fileName = regexp.MustCompile(`(?:^|/)(en|en-10k|en-valid|en-valid-10k)/qa(\d{1,2})_(?:[a-z0-9-]+_)?(train|valid|test)\.txt$`)

// identify identifies a file by its path; ok is false if it is not part of the distribution.
func identify(path string) (f file, ok bool) {
	m := fileName.FindStringSubmatch(path)
	if m == nil {
		return f, false
	}
	n, err := strconv.Atoi(m[2])
	return file{set: m[1], task: n, part: m[3]}, err == nil && n >= 1 && n <= Tasks
}

func (d *Distribution) add(f file, c content) error {
	if other, twice := d.found[f]; twice {
		return fmt.Errorf("%s and %s are both %s: remove one", other.name, c.name, f)
	}
	d.found[f] = c
	return nil
}

// deepest is the maximum depth at which folders are searched: parent/tasks_1-20_v1-2/en/file.
const deepest = 4

func (d *Distribution) readFolder() error {
	root := d.path + string(filepath.Separator) // without it, WalkDir does not follow a link
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(d.path, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if strings.Count(filepath.ToSlash(below), "/") >= deepest {
				return fs.SkipDir
			}
			return nil
		}
		absolute, err := filepath.Abs(path) // the folder itself may be en-10k
		if err != nil {
			return err
		}
		if f, ok := identify(filepath.ToSlash(absolute)); ok {
			return d.add(f, content{name: path})
		}
		return nil
	})
}

func (d *Distribution) readArchive() error {
	raw, err := textfile.Open(d.path)
	if err != nil {
		return err
	}
	defer raw.Close()
	unpacked, packed, err := archive.Decompress(bufio.NewReaderSize(raw, 1<<20)) // archive readers ask for single bytes
	if err == nil && !packed && !strings.HasSuffix(d.path, ".tar") {
		err = errors.New("neither gzip nor xz, nor named .tar")
	}
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w: get it again", err)
	}
	return d.readTar(&io.LimitedReader{R: unpacked, N: largestArchive}, largestFile, largestArchive)
}

// readTar reads the distribution's files into memory. Paths are only used to identify files, so none can escape. Sizes in headers are
// not trusted: the holes of sparse files take few bytes in an archive and many in memory.
func (d *Distribution) readTar(r *io.LimitedReader, maxFileSize, limit int64) error {
	for entries := tar.NewReader(r); ; {
		header, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return d.damaged(r, err)
		}
		f, ok := identify(header.Name)
		if !ok || header.Typeflag != tar.TypeReg {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(entries, min(maxFileSize, limit)+1))
		switch n := int64(len(data)); {
		case err != nil:
			return d.damaged(r, fmt.Errorf("%s: %w", header.Name, err))
		case n > maxFileSize:
			return fmt.Errorf("%s has more than %d bytes, more than any file of bAbI", header.Name, maxFileSize)
		case n > limit:
			return fmt.Errorf("its files have more bytes than all of bAbI, at %s", header.Name)
		default:
			limit -= n
		}
		if err := d.add(f, content{name: header.Name, data: data}); err != nil {
			return err
		}
	}
}

func (d *Distribution) damaged(r *io.LimitedReader, err error) error {
	if r.N <= 0 {
		return fmt.Errorf("it unpacks to more than %d bytes: this is not bAbI", int64(largestArchive))
	}
	return fmt.Errorf("damaged or cut short: %w: get it again", err)
}

// Path returns the path of the distribution.
func (d *Distribution) Path() string { return d.path }

// Has reports whether a file is present.
func (d *Distribution) Has(set string, task int, part string) bool {
	_, ok := d.found[file{set, task, part}]
	return ok
}

// Questions reads one file. The error names a missing file, or the file and its first invalid line.
func (d *Distribution) Questions(set string, task int, part string) ([]Question, error) {
	f := file{set, task, part}
	c, ok := d.found[f]
	if !ok {
		return nil, d.missing(f)
	}
	if c.data != nil {
		return number(task)(Parse(filepath.Join(d.path, c.name), bytes.NewReader(c.data)))
	}
	return number(task)(parseFile(c.name))
}

func (d *Distribution) missing(f file) error {
	return missing("%s: %s is missing: get the whole distribution, or leave out task %d", d.path, f, f.task)
}

func parseFile(name string) ([]Question, error) { return parser{}.file(name) }

func (p parser) file(name string) ([]Question, error) {
	r, err := textfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return p.parse(name, r)
}

// number sets the task of its questions.
func number(task int) func([]Question, error) ([]Question, error) {
	return func(questions []Question, err error) ([]Question, error) {
		for i := range questions {
			questions[i].Task = task
		}
		return questions, err
	}
}
