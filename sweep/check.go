package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"universal-transformer/experiment"
	"universal-transformer/pipeline"
)

// Check reads the data of the cells, those to train on and those to measure, and returns the first error. The data of each task are read once, and
// none if all cells are finished. A finished cell with other data than those that are read is an error, because the other seeds would be trained or
// measured on them; its data may be missing. log receives a line while reading takes long; it may be nil.
func (f File) Check(ctx context.Context, cells []Cell, log func(string)) error {
	read, dirs, unfinished := map[string]map[string]string{}, map[string]bool{}, false
	results := make([]recorded, len(cells))
	for i, c := range cells {
		dirs[filepath.Clean(c.Dir())] = true
		results[i] = c.recorded()
		unfinished = unfinished || !results[i].done && results[i].err == nil
	}
	if !unfinished {
		return nil
	}
	for i, c := range cells {
		done := results[i].done
		if results[i].err != nil {
			continue // reported when the cell is run
		}
		if dir := c.Run.Training.Pretrained; !done && dir != "" && !dirs[filepath.Clean(dir)] {
			if _, err := pipeline.ReadRunWith(dir, c.types()); err != nil {
				return fmt.Errorf("%s: training.pretrained: %w", c.Recipe, err)
			}
		}
		data := dataOf(c.Run)
		if read[data] == nil {
			digests, err := f.read(ctx, c, log)
			if done && errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			read[data] = digests
		}
		if parts := differing(results[i].digests, read[data]); done && parts != "" {
			return fmt.Errorf("%s is of other data than those that are read now (%s): restore the files, or remove it and %s, or choose another folder", c.File(), parts, c.Dir())
		}
	}
	return nil
}

// recorded is what Check needs of the result of a cell.
type recorded struct {
	done    bool
	digests map[string]string // of its data
	err     error             // the result cannot be used
}

// recorded reads the result of a cell if it exists.
func (c Cell) recorded() recorded {
	r, m, done, err := c.Done()
	return recorded{done, digestsOf(r, m), err}
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
