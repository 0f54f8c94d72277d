package training

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/parallel"
	"universal-transformer/runlog"
)

// prepare builds what Run needs and loads the newest checkpoint of rank 0.
func (t *Trainer) prepare() error {
	if t.group = t.Group; t.group == nil {
		t.group = parallel.Local(1)[0]
	}
	if err := t.group.Agree(t.start()); err != nil {
		return err
	}
	var c *runlog.Checkpoint
	err := t.onRankZero(func() (err error) {
		c, err = t.latest()
		return err
	})
	if err != nil {
		return err
	}
	if c, err = t.shareCheckpoint(c); err == nil && c != nil {
		err = t.resumeFrom(c)
	}
	return t.group.Agree(err)
}

// start validates the configuration and builds the model.
func (t *Trainer) start() error {
	if err := t.Config.Validate(); err != nil {
		return err
	}
	if err := t.Config.CheckRanks(t.group.Size()); err != nil {
		return err
	}
	if n := t.Backend.NumDevices(); n > 1 && !t.alone() { // sums of gradients are added up in the memory of the host
		return fmt.Errorf("%d ranks with %d devices each: give each rank one device", t.group.Size(), n)
	}
	if err := t.Model.Validate(); err != nil {
		return err
	}
	t.Store = model.NewStore()
	t.interrupted, t.gradientTotal = false, nil // of an earlier Run
	if !t.Config.ComputeHalted {
		t.state.CapacityPlan = capacity.NewPlanner(t.Model)
		if t.plansFree && t.state.CapacityPlan != nil {
			t.state.CapacityPlan.CompileCost = 0
		}
	}
	t.build()
	return nil
}

// latest returns the checkpoint to continue from, nil for a new run.
func (t *Trainer) latest() (*runlog.Checkpoint, error) {
	c, refused, err := t.Log.Latest()
	if errors.Is(err, runlog.ErrNoCheckpoint) {
		if err := Fresh(t.Log, err); err != nil {
			return nil, err
		}
		return nil, t.Log.Truncate(0)
	}
	for _, r := range refused {
		t.notify(r.String() + ": it is set aside")
	}
	return c, err
}

// Fresh returns nil if training may begin in a run directory that has no usable checkpoint, for the reason given by none. It returns an
// error if there were checkpoints that have been damaged or removed: beginning again would overwrite what is left of the run.
func Fresh(log *runlog.Run, none error) error {
	if !errors.Is(none, runlog.ErrDamaged) {
		step, marked, err := log.Marked()
		if err != nil || !marked {
			return err
		}
		none = fmt.Errorf("%w, but there was one: step %d is marked as best", none, step)
	}
	return fmt.Errorf("%w; nothing is changed: restore a checkpoint, or train again elsewhere: ut train --config %s --out DIRECTORY",
		none, filepath.Join(log.Dir(), "config.json"))
}

// resumeFrom takes the run back to a checkpoint, and notes what has changed since.
func (t *Trainer) resumeFrom(c *runlog.Checkpoint) error {
	if c.Step > 0 {
		t.notify(fmt.Sprintf("resuming from the checkpoint of step %d", c.Step))
	}
	if err := t.restore(c); err != nil {
		return err
	}
	if t.step > t.Config.Steps {
		return fmt.Errorf("the checkpoint of step %d is beyond the %d steps that training.steps asks for", c.Step, t.Config.Steps)
	}
	if t.group.Rank() != 0 {
		return nil
	}
	if was := c.Meta[EngineKey]; was != "" && was != t.Seals.Engine {
		t.notify(fmt.Sprintf("that checkpoint was computed by %s, this is %s: the rest may differ from a run without interruption", was, t.Seals.Engine))
	}
	if err := t.markAgain(); err != nil {
		return err
	}
	if err := t.Log.Truncate(c.Step); err != nil {
		return err
	}
	if had, has := t.state.Metrics, t.Log.MetricsSize(); had != 0 && has != had {
		t.notify(fmt.Sprintf("metrics.jsonl has %d bytes up to that step, but had %d when it was saved: lines are missing or have been added", has, had))
	}
	return nil
}

// markAgain marks the best checkpoint if the mark is missing, as after a kill between the two writes, or damaged. A best checkpoint that
// is gone, because a later one replaced it, is not marked: training will reach that one again.
func (t *Trainer) markAgain() error {
	step, marked, err := t.Log.Marked()
	switch {
	case t.state.BestStep == 0 || err == nil && marked && step == t.state.BestStep:
		return nil
	case errors.Is(err, runlog.ErrDamaged):
		t.notify(fmt.Sprintf("%v: it is written anew, and marks step %d", err, t.state.BestStep))
	case err != nil:
		return err
	}
	if err := t.Log.MarkBest(t.state.BestStep); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
