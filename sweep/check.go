package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"universal-transformer/experiment"
	"universal-transformer/pipeline"
	"universal-transformer/runlog"
)

// Problems lists errors of cells, one for each file, run directory or folder of data at fault.
type Problems []error

func (p Problems) Error() string { return errors.Join(p...).Error() }

// Unwrap returns the errors.
func (p Problems) Unwrap() []error { return p }

// err returns the errors as one, nil if there are none.
func (p Problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// Problem returns an error if the cell has a result that cannot be read or belongs to another configuration or measure, or a run directory
// that cannot be continued as the run of the cell. The error says how to repeat the run.
func (c Cell) Problem() error {
	_, err := c.recorded()
	return err
}

// recorded is what the files of a cell say about its data.
type recorded struct {
	done    bool              // there is a result
	digests map[string]string // of the data of the result or of the newest checkpoint; nil if neither says
}

// recorded reads the result of a cell, or its run directory, if one exists. The error is that of [Cell.Problem].
func (c Cell) recorded() (recorded, error) {
	r, m, done, err := c.Done()
	switch {
	case err != nil:
	case !done:
		there, err := c.started()
		return recorded{digests: there.Data}, err
	case c.Changed(r):
		err = fmt.Errorf("%s has a result of another configuration: remove it and %s, or choose another folder", c.File(), c.Dir())
	default:
		if problem := c.Mismatch(r, m); problem != nil {
			err = fmt.Errorf("%s %w: remove it to measure its run again, or choose another folder", c.File(), problem)
		}
	}
	return recorded{done, digestsOf(r, m)}, err
}

// started reads the cell's run directory if it holds a run. The error is that of a run that cannot be continued as the run of the cell.
func (c Cell) started() (pipeline.Started, error) {
	there, err := pipeline.ReadStarted(c.Dir(), c.Run.Extensions())
	if errors.Is(err, runlog.ErrNotRun) {
		return there, runlog.CheckVacant(c.Dir())
	}
	if err == nil {
		err = c.checkSame(there.Run)
	}
	return there, err
}

// checkSame returns an error unless the run in the cell's run directory is that of the cell.
func (c Cell) checkSame(there experiment.Run) error {
	if same(c.Run, there) {
		return nil
	}
	return fmt.Errorf("%s holds a run of another configuration: remove it, or choose another folder of runs", c.Dir())
}

// Check checks the files and the data of the cells, those to train on and those to measure, before any is run. It returns [Problems]: those
// of the files of cells (see [Cell.Problem]), and if there are none, those of the data. The data of each task are read once, and none if
// all cells are finished. A cell that is finished or started with other data than those that are read is an error, because the other seeds
// would be trained or measured on them; the data of a finished cell may be missing. log receives a line while reading takes long; it may be
// nil.
func (f File) Check(ctx context.Context, cells []Cell, log func(string)) error {
	var found Problems
	unfinished := false
	files := make([]recorded, len(cells))
	for i, c := range cells {
		var err error
		if files[i], err = c.recorded(); err != nil {
			found = append(found, err)
		}
		unfinished = unfinished || !files[i].done
	}
	if len(found) > 0 || !unfinished {
		return found.err()
	}
	return f.checkData(ctx, cells, files, log)
}

// checkData checks the data of cells whose files have no problem, given what these say.
func (f File) checkData(ctx context.Context, cells []Cell, files []recorded, log func(string)) error {
	type reading struct {
		digests map[string]string
		err     error
	}
	var found Problems
	read, dirs := map[string]reading{}, map[string]bool{}
	for _, c := range cells {
		dirs[filepath.Clean(c.Dir())] = true
	}
	for i, c := range cells {
		before := files[i]
		if dir := c.Run.Training.Pretrained; !before.done && dir != "" && !dirs[filepath.Clean(dir)] {
			if _, err := pipeline.ReadRunWith(dir, c.types()); err != nil {
				found = found.with(fmt.Errorf("%s: training.pretrained: %w", c.Recipe, err))
				continue
			}
		}
		data := dataOf(c.Run)
		own, there := read[data]
		if !there {
			own.digests, own.err = f.read(ctx, c, log)
			if ctx.Err() != nil {
				return own.err
			}
			if before.done && errors.Is(own.err, fs.ErrNotExist) {
				continue // an unfinished cell with the same data reports it
			}
			read[data] = own
		}
		if own.err == nil {
			own.err = before.compare(c, own.digests)
		}
		if own.err != nil {
			found = found.with(own.err)
		}
	}
	return found.err()
}

// with adds an error, unless another cell has the same.
func (p Problems) with(err error) Problems {
	if slices.ContainsFunc(p, func(known error) bool { return known.Error() == err.Error() }) {
		return p
	}
	return append(p, err)
}

// compare returns an error if the data of a result or of a checkpoint of the cell differ from those that are read.
func (b recorded) compare(c Cell, read map[string]string) error {
	if b.done {
		if parts := differing(b.digests, read); parts != "" {
			return fmt.Errorf("%s is of other data than those that are read now (%s): restore the files, or remove it and %s, or choose another folder", c.File(), parts, c.Dir())
		}
		return nil
	}
	read = maps.Clone(read)
	delete(read, filePart) // checkpoints do not depend on what is measured
	if parts := differing(b.digests, read); parts != "" {
		return fmt.Errorf("%s was started with other data than those that are read now (%s): restore the files, or remove it, or choose another folder", c.Dir(), parts)
	}
	return nil
}

// read reads the data of a cell and returns their digests by part, not nil.
func (f File) read(ctx context.Context, c Cell, log func(string)) (map[string]string, error) {
	checked, err := pipeline.Check(ctx, c.Run, f.Measure.pipeline(), log)
	if found := new(pipeline.ProtocolError); errors.As(err, &found) {
		return nil, fmt.Errorf("%s%w", f.Measure.place(), found.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Recipe, err)
	}
	return withFile(checked.Data, checked.File), nil
}

// dataOf describes what of a run decides whether its data can be used.
func dataOf(r experiment.Run) string {
	relevant := experiment.Run{Task: r.Task, SourceEnd: r.SourceEnd}
	relevant.Training.ValidationLengths, relevant.Training.ValidationHard = r.Training.ValidationLengths, r.Training.ValidationHard
	if kind, ok := r.Model.Value.(experiment.UniversalKind); ok {
		u := kind.Step()
		relevant.Model.Value = experiment.Tagger{Universal: experiment.Universal{Positions: u.Positions, Counting: u.Counting}}
	}
	return string(relevant.JSON())
}
