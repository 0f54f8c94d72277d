package runlog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"

	"universal-transformer/internal/atomicfile"
)

// A Row is a line of metrics.jsonl: "step" and the measured values.
type Row map[string]any

// Step returns the row's step.
func (r Row) Step() int64 {
	step, _ := r.Number("step")
	return int64(step)
}

// Number returns the value of a key, and whether it is a number.
func (r Row) Number(key string) (float64, bool) {
	n, ok := r[key].(float64)
	return n, ok
}

// Metrics returns all rows in the order in which they were written, and none if the file does not exist. An incomplete last line, of
// a writer that was killed or is still writing, is ignored. If another line is damaged or invalid, Metrics returns the rows before it and an
// error that is ErrDamaged and names the line.
func (r *Run) Metrics() ([]Row, error) {
	path := r.path(metricsFile)
	data, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	found, err := parseMetrics(data, preceding{})
	if err != nil {
		err = damagedError{fmt.Errorf("%s:%w", path, err)}
	}
	return found.rows, err
}

// openMetrics opens metrics.jsonl for appending. It writes the first line of a new file, and removes an incomplete last line. A damaged
// file is left as it is until [Run.Truncate].
func (r *Run) openMetrics() error {
	path := r.path(metricsFile)
	data, err := read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	found, err := parseMetrics(data, preceding{})
	if err != nil {
		r.damage = fmt.Errorf("%s:%w", path, err)
	}
	for _, row := range found.rows {
		r.last = row.Step()
	}
	if r.metrics, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644); err != nil {
		return err
	}
	if r.size = found.size; r.damage != nil {
		return nil
	}
	if err := r.metrics.Truncate(r.size); err != nil {
		return err
	}
	return r.writeFirstLine()
}

// writeFirstLine writes the first line of an empty file, which names the version.
func (r *Run) writeFirstLine() error {
	if r.size > 0 {
		return nil
	}
	return r.appendLine(checked(fmt.Appendf(nil, "{%q:%q}", versionKey, Version())))
}

// AppendMetrics appends a line. values is a struct or map that encodes to a JSON object with an integer "step", which must be at most
// 2^53-1 and not below that of the last line; the key "crc32" is reserved. NaN and infinity are errors, as JSON cannot represent them.
// After an error no part of the line remains in the file.
func (r *Run) AppendMetrics(values any) error {
	if r.metrics == nil {
		return errReader
	}
	if r.damage != nil {
		return fmt.Errorf("%w: Truncate first", r.damage)
	}
	line, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	var row Row
	if err := json.Unmarshal(line, &row); err != nil {
		return fmt.Errorf(`metrics: %T does not encode to a JSON object: append a struct or a map with an integer "step"`, values)
	}
	if _, taken := row[checksumKey]; taken {
		return fmt.Errorf("metrics: the key %q is reserved for the checksum of the line: choose another", checksumKey)
	}
	step, err := row.checkedStep(0)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	if step < r.last {
		return fmt.Errorf("metrics: step %d comes after step %d: Truncate first", step, r.last)
	}
	if err := r.checkPresent(); err != nil {
		return err
	}
	if err := r.appendLine(checked(line)); err != nil {
		return err
	}
	r.last = step
	return nil
}

// appendLine writes the line in one call, and removes it again if that fails.
func (r *Run) appendLine(line []byte) error {
	if _, err := r.metrics.Write(line); err != nil {
		return errors.Join(err, r.metrics.Truncate(r.size))
	}
	r.size += int64(len(line))
	return nil
}

// MetricsSize returns the size of metrics.jsonl in bytes.
func (r *Run) MetricsSize() int64 { return r.size }

// checkPresent returns an error if the directory was removed or replaced since it was opened, so that nothing is written into a deleted
// directory, and [ErrLockLost] if its lock file was, because another process may be writing the run by then.
func (r *Run) checkPresent() error {
	if same, err := r.stillNamed(r.metrics, metricsFile); err != nil {
		return err
	} else if !same {
		return fmt.Errorf("%s was removed or replaced while it was written: nothing more can be saved in it", r.dir)
	}
	if same, err := r.stillNamed(r.lock, lockFile); err != nil {
		return err
	} else if !same {
		return fmt.Errorf("%s: %w: another process may be writing this run", r.path(lockFile), ErrLockLost)
	}
	return nil
}

// write writes a file of the run. If that fails because the lock was lost meanwhile, the error says so: the process that has it now removes
// unfinished files.
func (r *Run) write(path string, content []byte) error {
	err := atomicfile.Replace(path, func(w io.Writer) error { // of a pipe, too, which could wait for a reader
		_, err := w.Write(content)
		return err
	})
	if err != nil && r.lock != nil {
		return cmp.Or(r.checkPresent(), err)
	}
	return err
}

// stillNamed reports whether an open file is still the one of that name in the directory.
func (r *Run) stillNamed(f *os.File, name string) (bool, error) {
	here, err := f.Stat()
	if err != nil {
		return false, err
	}
	there, err := os.Stat(r.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(here, there), err
}

// Damage returns the error of the first damaged line of metrics.jsonl, nil if there is none. Nothing can be appended then until
// [Run.Truncate].
func (r *Run) Damage() error { return r.damage }

// Truncate resets the run to a step. It removes later rows of metrics, later events and later checkpoints, and the mark of the best checkpoint if
// that is one of them. Damaged checkpoints are renamed to names that end in .damaged. If metrics are damaged, the file is copied to a name
// that begins with metrics.jsonl.damaged, and only the lines before the damage remain. Training then repeats the removed steps.
func (r *Run) Truncate(afterStep int64) error { return r.TruncateTo(afterStep, math.MaxInt64) }

// TruncateTo is like Truncate, and also removes rows of metrics that are not within the first bytes of the file, as MetricsSize counts them.
func (r *Run) TruncateTo(afterStep, metricsSize int64) error {
	if r.metrics == nil {
		return errReader
	}
	data, err := read(r.path(metricsFile))
	if err != nil {
		return err
	}
	found, err := parseMetrics(data, preceding{})
	if err != nil && r.damage == nil {
		return fmt.Errorf("%s:%w", r.path(metricsFile), err)
	}
	size, last := found.head, int64(0)
	for i, row := range found.rows {
		if step := row.Step(); step <= afterStep && found.ends[i] <= metricsSize {
			size, last = found.ends[i], step
		}
	}
	if err := r.clearAfter(afterStep); err != nil {
		return err
	}
	if r.damage != nil {
		if err := r.copyDamagedMetrics(data); err != nil {
			return err
		}
	}
	if err := errors.Join(r.metrics.Truncate(size), r.truncateEvents(afterStep)); err != nil {
		return err
	}
	r.size, r.last, r.damage = size, last, nil
	return errors.Join(r.writeFirstLine(), atomicfile.Sync(r.metrics))
}

// copyDamagedMetrics copies damaged metrics to a name that is never read.
func (r *Run) copyDamagedMetrics(data []byte) error {
	to, err := asideName(r.path(metricsFile))
	if err != nil {
		return err
	}
	return atomicfile.Write(to, data)
}
