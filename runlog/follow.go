package runlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// NewMetrics is like Metrics, for the rows behind an offset. It also returns the offset behind the last of them. The error is ErrDamaged
// too if there are not so many bytes any more, or no valid line begins there, as after a resume, which removes rows. Only the new rows are
// compared by their steps.
func (r *Run) NewMetrics(offset int64) (rows []Row, next int64, err error) {
	path := r.path(metricsFile)
	from := max(0, offset-int64(checksumSize)-1) // the end of the line before
	data, err := readFrom(path, from)
	if errors.Is(err, fs.ErrNotExist) && offset == 0 {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	if info, err := os.Stat(path); err == nil && info.Size() < offset {
		return nil, 0, damagedError{fmt.Errorf("%s has become shorter", path)}
	}
	line := data[:min(offset-from, int64(len(data)))]
	has := checksumAt(bytes.TrimSuffix(line, []byte("\n"))) >= 0
	found, err := parseMetrics(data[len(line):], preceding{lines: offset > 0, checksums: has})
	if err != nil && offset > 0 {
		err = fmt.Errorf(" after byte %d, line %w", offset, err)
	}
	if err != nil {
		err = damagedError{fmt.Errorf("%s:%w", path, err)}
	}
	return found.rows, offset + found.size, err
}

// AsDamaged returns an error that is also ErrDamaged, with the same text.
func AsDamaged(err error) error { return damagedError{err} }

// damagedError is an error that is ErrDamaged.
type damagedError struct{ error }

func (damagedError) Is(target error) bool { return target == ErrDamaged }

// Unwrap returns the error.
func (e damagedError) Unwrap() error { return e.error }

// readFrom returns the content of a regular file behind an offset; nothing if the file is shorter.
func readFrom(path string, offset int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}
