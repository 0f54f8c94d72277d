package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"universal-transformer/internal/atomicfile"
	"universal-transformer/internal/safetensors"
)

// A Checkpoint holds everything needed to continue from a step: tensors, and other state as text.
type Checkpoint struct {
	Step    int64
	Meta    map[string]string // the keys "step", "version" and "sha256" are reserved
	Tensors []safetensors.Tensor
}

// Refused describes a checkpoint that cannot be used.
type Refused struct{ Path, Reason string }

func (r Refused) String() string { return r.Path + ": " + r.Reason }

// Errors of checkpoints, for errors.Is. Other errors, such as a file without read permission, say nothing about the content of a
// checkpoint.
var (
	ErrNoCheckpoint = errors.New("no checkpoint") // there is no checkpoint, or none is usable
	ErrDamaged      = errors.New("damaged")       // the content differs from what was written
)

const (
	checkpointPrefix = "step-"
	checkpointSuffix = ".safetensors"
	damagedSuffix    = ".damaged" // suffix of damaged files that were renamed
)

func checkpointName(step int64) string {
	return fmt.Sprintf("%s%09d%s", checkpointPrefix, step, checkpointSuffix)
}

// CheckpointPath returns the path of the checkpoint of a step, which need not exist.
func (r *Run) CheckpointPath(step int64) string {
	return r.path(checkpointDir, checkpointName(step))
}

// SaveCheckpoint writes c as the checkpoint of a step, and syncs it and the metrics written so far to disk. Unless keep is 0, it then
// removes the oldest checkpoints, except the best one, so that keep of them remain, including the new one. After an error, such as a
// full disk, all earlier checkpoints still exist. c.Step is ignored.
func (r *Run) SaveCheckpoint(step int64, c *Checkpoint, keep int) error {
	if err := r.save(step, c, keep); err != nil {
		return err
	}
	return r.prune(step, keep)
}

// SaveBest is like SaveCheckpoint, and marks the checkpoint as the best one before it removes others.
func (r *Run) SaveBest(step int64, c *Checkpoint, keep int) error {
	if err := r.save(step, c, keep); err != nil {
		return err
	}
	if err := r.MarkBest(step); err != nil {
		return err
	}
	return r.prune(step, keep)
}

// save writes a checkpoint, after checking how many are to be kept.
func (r *Run) save(step int64, c *Checkpoint, keep int) error {
	if r.lock == nil {
		return errReader
	}
	if step < 0 || keep < 0 {
		return fmt.Errorf("checkpoint of update %d, keeping %d: neither must be negative", step, keep)
	}
	content, err := seal(step, c)
	if err != nil {
		return fmt.Errorf("checkpoint of update %d: %w", step, err)
	}
	if err := errors.Join(r.checkPresent(), atomicfile.Sync(r.metrics)); err != nil {
		return err
	}
	if err := os.Mkdir(r.path(checkpointDir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) { // it may have been removed meanwhile
		return err
	}
	if err := r.write(r.CheckpointPath(step), content); err != nil {
		left := "there is no earlier one"
		if steps, problem := r.Steps(); problem == nil && len(steps) > 0 {
			left = fmt.Sprintf("the newest is that of update %d", steps[len(steps)-1])
		}
		return fmt.Errorf("checkpoint of update %d was not saved, %s: %w", step, left, err)
	}
	return nil
}

// prune removes old checkpoints before step. Later ones, which a resume skipped because they were damaged, are not counted.
func (r *Run) prune(step int64, keep int) error {
	if keep == 0 {
		return nil
	}
	steps, err := r.Steps()
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s int64) bool { return s > step })
	best, hasBest, err := r.Marked()
	if err != nil {
		return err
	}
	for i, s := range steps {
		if i < len(steps)-keep && !(hasBest && s == best) {
			if err := os.Remove(r.CheckpointPath(s)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Steps lists the steps of all checkpoints in increasing order, without reading them. Files with other names are ignored.
func (r *Run) Steps() ([]int64, error) {
	entries, err := os.ReadDir(r.path(checkpointDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var steps []int64
	for _, e := range entries {
		step, ok := stepOf(e.Name())
		if ok && e.Type()&fs.ModeSymlink != 0 {
			_, err := os.Stat(r.CheckpointPath(step))
			ok = !errors.Is(err, fs.ErrNotExist) // a link to nothing, such as to a disk that is not mounted, is no checkpoint
		}
		if ok {
			steps = append(steps, step)
		}
	}
	slices.Sort(steps)
	return steps, nil
}

// IsCheckpoint reports whether the name of a file in a folder of checkpoints is that of a checkpoint.
func IsCheckpoint(name string) bool {
	_, ok := stepOf(name)
	return ok
}

// stepOf returns the step of a checkpoint's file name.
func stepOf(name string) (step int64, ok bool) {
	digits := strings.TrimSuffix(strings.TrimPrefix(name, checkpointPrefix), checkpointSuffix)
	step, _ = strconv.ParseInt(digits, 10, 64)
	return step, step >= 0 && name == checkpointName(step)
}

// Load reads the checkpoint of a step. The error is ErrNoCheckpoint if there is none, and ErrDamaged, naming the file, if its content
// differs from what was written.
func (r *Run) Load(step int64) (*Checkpoint, error) {
	path := r.CheckpointPath(step)
	data, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w of update %d", r.dir, ErrNoCheckpoint, step)
	}
	if err != nil {
		return nil, err
	}
	c, err := unseal(data)
	if err == nil && c.Step != step {
		err = fmt.Errorf("it is the checkpoint of update %d", c.Step)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	return c, nil
}

// Latest returns the newest intact checkpoint, and the damaged ones that are newer, newest first. The error is ErrNoCheckpoint if there is
// none, also ErrDamaged if all are damaged, and a *MissingError if there was one that is marked as best. A checkpoint that cannot be read
// for another reason is an error as well.
func (r *Run) Latest() (*Checkpoint, []Refused, error) {
	steps, err := r.Steps()
	if err != nil {
		return nil, nil, err
	}
	var refused []Refused
	for _, step := range slices.Backward(steps) {
		c, err := r.Load(step)
		switch path := r.CheckpointPath(step); {
		case err == nil:
			return c, refused, nil
		case errors.Is(err, ErrDamaged):
			refused = append(refused, Refused{Path: path, Reason: strings.TrimPrefix(err.Error(), path+": ")})
		case !errors.Is(err, ErrNoCheckpoint): // otherwise its writer has just removed it
			return nil, nil, err
		}
	}
	if len(refused) > 0 {
		return nil, refused, fmt.Errorf("%s: %w can be used, all %d are %w; the newest is %s", r.dir, ErrNoCheckpoint, len(refused), ErrDamaged, refused[0])
	}
	switch step, marked, err := r.Marked(); {
	case errors.Is(err, ErrDamaged): // there was one
		return nil, nil, fmt.Errorf("%s: %w can be used: %w", r.dir, ErrNoCheckpoint, err)
	case err != nil:
		return nil, nil, err
	case marked:
		return nil, nil, &MissingError{r.dir, step}
	}
	return nil, nil, fmt.Errorf("%s: %w has been saved yet", r.dir, ErrNoCheckpoint)
}

// clearAfter removes the checkpoints of later steps, and the mark of the best checkpoint if it is one of them. It renames damaged
// ones instead. If a checkpoint cannot be read, nothing changes.
func (r *Run) clearAfter(step int64) error {
	steps, err := r.Steps()
	if err != nil {
		return err
	}
	steps = slices.DeleteFunc(steps, func(s int64) bool { return s <= step })
	aside := map[int64]bool{}
	for _, s := range steps {
		if _, err := r.Load(s); errors.Is(err, ErrDamaged) {
			aside[s] = true
		} else if err != nil {
			return err
		}
	}
	best, hasBest, err := r.Marked()
	if err == nil && hasBest && best > step {
		err = os.Remove(r.path(bestFile))
	}
	if err != nil {
		return err
	}
	for _, s := range steps {
		if aside[s] {
			err = errors.Join(err, setAside(r.CheckpointPath(s)))
		} else {
			err = errors.Join(err, os.Remove(r.CheckpointPath(s)))
		}
	}
	return err
}

// setAside renames a damaged file to an unused name that is never read.
func setAside(path string) error {
	to, err := asideName(path)
	if err != nil {
		return err
	}
	return os.Rename(path, to)
}

// asideName returns an unused name for a damaged file.
func asideName(path string) (string, error) {
	to := path + damagedSuffix
	for i := 2; ; i++ {
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			return to, nil
		} else if err != nil {
			return "", err
		}
		to = fmt.Sprint(path, damagedSuffix, "-", i)
	}
}
