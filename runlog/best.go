package runlog

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
)

// best is the content of best.json. Earlier versions wrote no checksum.
type best struct {
	Step     *int64 `json:"step"`
	Checksum string `json:"crc32,omitempty"`
}

// markChecksum returns the checksum of a mark. It prevents that a changed digit names another checkpoint.
func markChecksum(step int64) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(fmt.Appendf(nil, "best step %d", step)))
}

// MarkBest marks the checkpoint of a step as the best. It is kept until another one is marked. Marking the same step again, as after
// a resume, changes nothing.
func (r *Run) MarkBest(step int64) error {
	if r.lock == nil {
		return errReader
	}
	if err := r.checkPresent(); err != nil {
		return err
	}
	if _, err := os.Stat(r.CheckpointPath(step)); err != nil {
		return fmt.Errorf("cannot mark update %d as best: %w", step, err)
	}
	return r.WriteJSON(bestFile, best{Step: &step, Checksum: markChecksum(step)})
}

// ErrNotMarked means that no checkpoint is marked as best. It wraps ErrNoCheckpoint.
var ErrNotMarked = fmt.Errorf("%w is marked as best", ErrNoCheckpoint)

// Best returns the checkpoint that is marked as best. The error is ErrNotMarked if there is no mark, ErrNoCheckpoint if the checkpoint is
// missing, and ErrDamaged if it or the mark is damaged.
func (r *Run) Best() (*Checkpoint, error) {
	step, marked, err := r.Marked()
	if err != nil {
		return nil, err
	}
	if !marked {
		return nil, fmt.Errorf("%s: %w", r.dir, ErrNotMarked)
	}
	c, err := r.Load(step)
	if errors.Is(err, ErrNoCheckpoint) {
		return nil, fmt.Errorf("%s marks update %d as best: %w", r.path(bestFile), step, err)
	}
	return c, err
}

// Marked returns the step that is marked as best, if any. The error is ErrDamaged if the mark does not match its checksum.
func (r *Run) Marked() (step int64, marked bool, err error) {
	data, err := read(r.path(bestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	var b best
	if err = DecodeConfig(data, &b); err == nil && b.Step == nil {
		err = errors.New(`key "step" is missing`)
	}
	if err == nil && b.Checksum != "" && b.Checksum != markChecksum(*b.Step) {
		err = errors.New("its content does not match its checksum")
	}
	if err != nil {
		return 0, false, fmt.Errorf("%s: %w: %w", r.path(bestFile), ErrDamaged, err)
	}
	return *b.Step, true, nil
}

// A MissingError means that a run has no checkpoint, although it had one: it is marked as best. It is ErrNoCheckpoint.
type MissingError struct {
	Dir  string // of the run
	Step int64
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: the checkpoint of update %d is missing: restore it", e.Dir, e.Step)
}

// Unwrap returns ErrNoCheckpoint.
func (e *MissingError) Unwrap() error { return ErrNoCheckpoint }
