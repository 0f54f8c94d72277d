package sweep

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"universal-transformer/experiment"
	"universal-transformer/pipeline"
)

// Check reads the data of the unfinished cells, those to train on and those to measure, and returns the first error. The data of each task are
// read once. log receives a line while that takes long; it may be nil.
func (f File) Check(ctx context.Context, cells []Cell, log func(string)) error {
	checked, dirs := map[string]bool{}, map[string]bool{}
	for _, c := range cells {
		dirs[filepath.Clean(c.Dir())] = true
	}
	for _, c := range cells {
		if _, _, done, err := c.Done(); err != nil || done {
			continue
		}
		if dir := c.Run.Training.Pretrained; dir != "" && !dirs[filepath.Clean(dir)] {
			if _, err := pipeline.ReadRun(dir); err != nil {
				return fmt.Errorf("%s: training.pretrained: %w", c.Recipe, err)
			}
		}
		data := dataOf(c.Run)
		if checked[data] {
			continue
		}
		checked[data] = true
		err := pipeline.Check(ctx, c.Run, f.Measure.pipeline(), log)
		if found := new(pipeline.ProtocolError); errors.As(err, &found) {
			return fmt.Errorf("%s%w", f.Measure.place(), found.Err)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.Recipe, err)
		}
	}
	return nil
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
