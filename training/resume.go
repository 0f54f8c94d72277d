package training

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/gomlx/gomlx/ml/model"
	"universal-transformer/engine"
	"universal-transformer/internal/batch"
	"universal-transformer/internal/capacity"
	"universal-transformer/internal/parallel"
	"universal-transformer/runlog"
)

// prepare builds what Run needs and restores the checkpoint of rank 0.
func (t *Trainer) prepare() error {
	if t.group = t.Group; t.group == nil {
		t.group = parallel.Local(1)[0]
	}
	if err := t.group.Agree(t.start()); err != nil {
		return err
	}
	c, err := t.shareCheckpoint(t.From)
	t.From = nil // allows it to be freed after it is restored
	if err != nil {
		return t.group.Agree(err)
	}
	if c == nil {
		if err := t.group.Agree(t.rewind()); err != nil {
			return err
		}
		return t.onRankZero(func() error {
			if err := t.begin(); err != nil {
				return err
			}
			return t.truncate(0)
		})
	}
	if err := t.group.Agree(t.resumeFrom(c)); err != nil {
		return err
	}
	return t.shareState()
}

// rewind moves the stream back to the beginning after an earlier Run.
func (t *Trainer) rewind() error {
	if t.Stream.Position() == (batch.Position{}) {
		return nil
	}
	return t.Stream.Seek(batch.Position{})
}

// start validates the configuration and builds the model.
func (t *Trainer) start() error {
	if err := t.Config.Validate(); err != nil {
		return err
	}
	if err := engine.CheckTraining(t.Backend); err != nil {
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
	t.step, t.state, t.interrupted, t.saved = 0, state{}, false, -1 // of an earlier Run
	t.gradientBuffer, t.gradientTotal, t.compared, t.othersCPU = nil, nil, false, 0
	t.window, t.eventsFailed = speed{}, false
	if !t.Config.ComputeHalted && t.Config.Supervision == nil { // readouts of every step need all positions
		t.state.CapacityPlan = capacity.NewPlanner(t.Model)
		if t.plansFree && t.state.CapacityPlan != nil {
			t.state.CapacityPlan.CompileCost = 0
		}
	}
	t.build()
	return nil
}

// resumeFrom restores the run from a checkpoint, and reports what has changed since.
func (t *Trainer) resumeFrom(c *runlog.Checkpoint) error {
	if err := t.restore(c); err != nil {
		return err
	}
	if t.step > t.Config.Steps {
		return fmt.Errorf("the checkpoint of update %d is beyond training.steps, %d", c.Step, t.Config.Steps)
	}
	if t.group.Rank() != 0 {
		return nil
	}
	t.saved = c.Step
	was, now := c.Meta[DataKey(validationPart)], t.Seals.Data[validationPart]
	changed := was != "" && now != "" && was != now
	if changed {
		t.state.forgetValidations()
	}
	t.notifyResumed(c)
	if was := c.Meta[EngineKey]; was != "" && was != t.Seals.Engine {
		t.notify(fmt.Sprintf("that checkpoint was computed by %s, this is %s: the result may differ from that of an uninterrupted run", was, t.Seals.Engine))
	}
	if err := t.begin(); err != nil {
		return err
	}
	if changed {
		t.notify("the validation data have changed since that checkpoint: the best checkpoint is chosen anew, from the next validation on")
	}
	if err := t.restoreBestMark(); err != nil {
		return err
	}
	if err := t.truncate(c.Step); err != nil {
		return err
	}
	if had, has := t.state.Metrics, t.Log.MetricsSize(); had != 0 && has != had {
		t.notify(fmt.Sprintf("metrics.jsonl has %d bytes up to that update, but had %d when it was saved: lines are missing or have been added", has, had))
	}
	return nil
}

// notifyResumed says that training goes on after a checkpoint, or that nothing is left to train.
func (t *Trainer) notifyResumed(c *runlog.Checkpoint) {
	switch {
	case t.state.Stopped != "" || t.step == t.Config.Steps && c.Step > 0 && !t.state.ValidationDue:
		t.notify(t.ended())
	case c.Step > 0:
		t.notify(fmt.Sprintf("resuming from the checkpoint of update %d", c.Step))
	}
}

// ended says why there is nothing left to train, and what trains further.
func (t *Trainer) ended() string {
	if t.state.Stopped == "" {
		return fmt.Sprintf("training has already finished, with all %d updates of training.steps: set training.steps to a larger number to train further", t.step)
	}
	stop := t.Config.Stop
	value := map[string]string{"accuracy": fmt.Sprint(stop.Accuracy), "perfect": fmt.Sprint(stop.Perfect), "patience": fmt.Sprint(stop.Patience)}[t.state.Stopped]
	return fmt.Sprintf("training has already finished: training.stop.%s=%s ended it at update %d of %d; set training.stop.%s=0, or a larger number, to train further",
		t.state.Stopped, value, t.step, t.Config.Steps, t.state.Stopped)
}

// validationPart is the part of the data that validations measure.
const validationPart = "validation"

// forgetValidations removes what validations on other data have found: neither numbers of correct sequences nor entropies can be compared with
// those of the present data, and an end that they led to no longer applies. The best checkpoint stays marked until the next validation.
func (s *state) forgetValidations() {
	s.BestStep, s.BestNats, s.BestSmoothed, s.BestCorrect, s.BestMeasure = 0, 0, 0, 0, 0
	s.MaxCorrect, s.LowestSmoothed = extreme{}, extreme{}
	s.Waited, s.Perfect, s.Stopped = 0, 0, ""
}

// restoreBestMark marks the best checkpoint if the mark is missing, as after a kill between the two writes, or damaged. A best checkpoint that
// is gone, because a later one replaced it, is not marked: training will reach that one again.
func (t *Trainer) restoreBestMark() error {
	step, marked, err := t.Log.Marked()
	switch {
	case t.state.BestStep == 0 || err == nil && marked && step == t.state.BestStep:
		return nil
	case errors.Is(err, runlog.ErrDamaged):
		t.notify(fmt.Sprintf("%v: it is written anew, and marks update %d", err, t.state.BestStep))
	case err != nil:
		return err
	}
	if err := t.Log.MarkBest(t.state.BestStep); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// begin calls Begin, if there is one.
func (t *Trainer) begin() error {
	if t.Begin == nil {
		return nil
	}
	return t.Begin()
}

// truncate removes checkpoints and metrics of later steps from the run directory, and reports damaged metrics.
func (t *Trainer) truncate(step int64) error {
	if damage := t.Log.Damage(); damage != nil {
		t.notify(fmt.Sprintf("%v: the file is set aside, and the lines before that one are kept", damage))
	}
	if t.state.ValidationDue { // which a killed process may have made, but not saved
		return t.Log.TruncateTo(step, t.state.Metrics)
	}
	return t.Log.Truncate(step)
}
