package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// best is best.json.
type best struct {
	Step *int64 `json:"step"`
}

// MarkBest says that the checkpoint of a step is the best so far. It is kept until another one is marked.
// Marking it again, as after a resume, changes nothing.
func (r *Run) MarkBest(step int64) error {
	if r.lock == nil {
		return errReader
	}
	if _, err := os.Stat(r.checkpointPath(step)); err != nil {
		return fmt.Errorf("cannot mark step %d as best: %w", step, err)
	}
	return r.WriteJSON(bestFile, best{Step: &step})
}

// Best is the checkpoint that was marked as best. If none was, or it is gone, it is ErrNoCheckpoint; if it is
// damaged, an error that names it.
func (r *Run) Best() (*Checkpoint, error) {
	step, marked, err := r.bestStep()
	if err != nil {
		return nil, err
	}
	if !marked {
		return nil, fmt.Errorf("%s: %w is marked as best", r.dir, ErrNoCheckpoint)
	}
	return r.Load(step)
}

func (r *Run) bestStep() (step int64, marked bool, err error) {
	var b best
	err = r.ReadJSON(bestFile, &b)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err == nil && b.Step == nil {
		err = fmt.Errorf(`%s: key "step" is missing`, r.path(bestFile))
	}
	if err != nil {
		return 0, false, err
	}
	return *b.Step, true, nil
}
