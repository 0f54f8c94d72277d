package runlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// Every line of metrics.jsonl ends with its checksum, the CRC-32 (IEEE) of the object without it, in hexadecimal:
// {"step":1,"loss":2,"crc32":"89abcdef"}.
const (
	checksumKey   = "crc32"
	checksumBegin = `,"` + checksumKey + `":"`
	checksumEnd   = `"}`
	checksumSize  = len(checksumBegin) + 2*crc32.Size + len(checksumEnd)
)

// checked returns a line: a non-empty JSON object with its checksum.
func checked(object []byte) []byte {
	bare := object[:len(object)-1] // without the closing brace
	return fmt.Appendf(bytes.Clone(bare), "%s%08x%s\n", checksumBegin, crc32.ChecksumIEEE(object), checksumEnd)
}

// checksumAt returns the offset of the checksum in a line without its newline, or -1 if the line does not end with one.
func checksumAt(line []byte) int {
	if at := len(line) - checksumSize; at >= 0 && bytes.HasPrefix(line[at:], []byte(checksumBegin)) {
		return at
	}
	return -1
}

// check reports whether a line has a checksum, and returns an error if its content does not match.
func check(line []byte) (checksummed bool, err error) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	at := checksumAt(line)
	if at < 0 {
		return false, nil
	}
	if want := checked(append(bytes.Clone(line[:at]), '}')); !bytes.Equal(line, want[:len(want)-1]) {
		return true, fmt.Errorf("damaged: its content does not match its checksum")
	}
	return true, nil
}

// maxStep is the largest step of a row. A larger one could be read as another, because a row holds numbers as float64.
const maxStep = 1<<53 - 1

// checkedStep returns the step of a row, or an error if it is not an integer from least to the largest step.
func (r Row) checkedStep(least int64) (int64, error) {
	step, ok := r.Number("step")
	if !ok || step != math.Trunc(step) || step < float64(least) || step > maxStep {
		return 0, fmt.Errorf("step %v is not an integer of at least %d and at most %d", r["step"], least, int64(maxStep))
	}
	return int64(step), nil
}

// metricLines are the intact lines at the start of metrics.jsonl, or behind an offset.
type metricLines struct {
	rows []Row
	ends []int64 // offset of the end of each row
	head int64   // bytes of the first line of the file, which is no row; 0 if a row is first
	size int64   // in bytes, including that line
}

// preceding is what is known of the lines before those that are parsed. Its zero value is for the first line of the file.
type preceding struct {
	lines     bool // there are some
	checksums bool // the last of them has a checksum, and so has every line after it
}

// parseMetrics returns the lines before the first damaged one. Errors begin with the number of that line.
func parseMetrics(data []byte, before preceding) (found metricLines, err error) {
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	at, last, number := int64(0), int64(0), 0
	for line := range bytes.Lines(data) {
		at += int64(len(line))
		number++
		var row Row
		if err := json.Unmarshal(line, &row); err != nil {
			return found, fmt.Errorf("%d: not a JSON object: %w", number, err)
		}
		has, err := check(line)
		if _, broken := row[checksumKey]; err == nil && !has && (before.checksums || broken) { // earlier versions wrote no checksums at all
			err = errors.New("damaged: it has no valid checksum")
		}
		if err != nil {
			return found, fmt.Errorf("%d: %w", number, err)
		}
		first := !before.lines
		before = preceding{lines: true, checksums: has}
		delete(row, checksumKey)
		if _, ok := row[versionKey]; ok && first && len(row) == 1 {
			found.head, found.size = at, at // the first line names the version that wrote it
			continue
		}
		if last, err = row.checkedStep(last); err != nil {
			return found, fmt.Errorf("%d: %w", number, err)
		}
		found.rows, found.ends, found.size = append(found.rows, row), append(found.ends, at), at
	}
	return found, nil
}
